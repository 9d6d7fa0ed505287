"""Exact bounds of every cell from N and conditionals (Theorem 2.1), exact or rounded: reachable sums, knapsack (6)-(8)."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Flags, Ints
from genverify.model.errors import ConfigError, DataError, refuse_unknown

# Numbers and labels of a printed table, read exactly and checked.

Numbers = Sequence[Fraction]
LONGEST = 16  # characters, more than a printed count or fraction has: bounds the integers that are computed with
LARGEST_N = 10**9  # reachable sums are bits of one integer of N bits: about 125 MB
WHOLE = re.compile(r"[+-]?\d+")  # `1.0` is not written as a whole number
NUMBER = re.compile(r"[+-]?(\d+\s*/\s*\d+|\d+\.?\d*|\.\d+)")  # no exponents: 1e999999999 would fill the memory


def read_number(text: str) -> Fraction:
    """
    A whole number, a fraction or a decimal, exactly.

    >>> read_number("3/20") == read_number("0.15") == read_number(" .150 ")
    True
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise ValueError(f"{text[:LONGEST]}... is too long for a number here (at most {LONGEST} characters)")
    if not NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number: write a count (15), a fraction (3/20) or a decimal (0.15)")
    try:
        return Fraction("".join(text.split()))
    except ZeroDivisionError:
        raise ValueError(f"{text} has the denominator 0") from None


def check_labels(rows: Sequence[str], columns: Sequence[str]) -> None:
    """At least one row and one column, and no label twice."""
    if not rows or not columns:
        raise DataError(f"an empty table ({len(rows)} rows, {len(columns)} columns of numbers): nothing to bound")
    for what, labels in (("row", rows), ("column", columns)):
        twice = next((label for label, times in Counter(labels).items() if times > 1), None)
        if twice is not None:
            raise DataError(f"{what} label {twice!r} is duplicated; give each {what} its own label, or add them up")


def check_N(N: int) -> None:
    """A number of records for which the sums, a bit each, fit into memory."""
    if not 1 <= N <= LARGEST_N:
        raise DataError(f"N = {N}: give a number of records from 1 to {LARGEST_N:,}")


def check_not_negative(rows: Sequence[str], columns: Sequence[str], counts: npt.NDArray[np.int64]) -> None:
    if (counts < 0).any():
        row, column = np.argwhere(counts < 0)[0]
        raise DataError(f"row {rows[row]!r}, column {columns[column]!r}: the count {counts[row, column]} is negative")


# A table of conditional frequencies as its reduced counts (section 2.1).

LARGEST = 2**53  # floating-point numbers hold whole numbers up to here


@dataclass(frozen=True)
class Conditionals:
    """P(column | row), exact: r_ij, the least whole numbers in the right proportions in each row; all 0 in an empty row."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    reduced: Ints

    @cached_property
    def sums(self) -> Ints:
        """r_i, the reduced sum of each row."""
        return np.asarray(self.reduced.sum(axis=1))

    @property
    def total(self) -> int:
        """R, the reduced total."""
        return int(self.sums.sum())

    def remainder(self, N: int) -> int:
        """N - R, which the rows share in multiples of their reduced sums; an error where N is too small."""
        check_N(N)
        if self.total > N:
            raise DataError(
                f"N = {N} is too small: the fractions alone need {self.total} records (the reduced sums of the "
                f"{len(self.rows)} rows added up). Check --total; if the values are rounded, say so with --decimals."
            )
        return N - self.total


def conditionals_of_counts(rows: Sequence[str], columns: Sequence[str], counts: Ints) -> Conditionals:
    """The conditionals of a table of counts: each row divided by its greatest common divisor."""
    check_labels(rows, columns)
    check_not_negative(rows, columns, counts)
    divisors = np.maximum(np.gcd.reduce(counts, axis=1), 1)
    return Conditionals(tuple(rows), tuple(columns), counts // divisors[:, None])


def conditionals_of_fractions(rows: Sequence[str], columns: Sequence[str], fractions: Sequence[Numbers]) -> Conditionals:
    """The conditionals of exact fractions: each row times its least common denominator."""
    check_labels(rows, columns)
    reduced = [_reduced(row, columns, values) for row, values in zip(rows, fractions, strict=True)]
    return Conditionals(tuple(rows), tuple(columns), np.array(reduced, dtype=np.int64))


def _reduced(row: str, columns: Sequence[str], values: Numbers) -> list[int]:
    for column, value in zip(columns, values, strict=True):
        if value < 0:
            raise DataError(f"row {row!r}, column {column!r}: {value} is negative")
    total = sum(values)
    if total != 1:
        raise DataError(
            f"row {row!r}: the fractions sum to {total} (about {float(total):.6g}), not to 1. Correct the row, or say "
            "with --decimals how the values were rounded"
        )
    denominator = lcm(*(value.denominator for value in values))
    if denominator > LARGEST:
        raise DataError(f"row {row!r}: the common denominator {denominator} is above {LARGEST}; give simpler fractions")
    reduced = [int(value * denominator) for value in values]
    return [count // gcd(*reduced) for count in reduced]


def aggregate(table: Ints, names: Sequence[str], given: Sequence[str], response: Sequence[str]) -> Ints:
    """A multi-way table of counts as a two-way one, rows = given, columns = response; other variables are summed out."""
    for name in [*given, *response]:
        if name not in names:
            raise DataError(f"no variable {name!r}; the table has {', '.join(names)}")
    rest = [*given, *response]
    if len(set(rest)) != len(rest):
        raise DataError(f"a variable is named twice among {', '.join(rest)}")
    out = tuple(axis for axis, name in enumerate(names) if name not in rest)
    order = [name for name in names if name in rest]
    summed: Ints = table.sum(axis=out).transpose([order.index(name) for name in rest])
    rows = int(np.prod(summed.shape[: len(given)], dtype=np.int64))
    return summed.reshape(rows, -1)


# Which sums can be reached: sets of whole numbers from 0 as the bits of one Python integer.
#
# A negative integer has infinitely many leading ones, so it stands for a set that holds everything from some number on.

T = TypeVar("T")
ZERO_ALONE = 1  # a set of sums as bits: only the sum 0


@dataclass(frozen=True)
class Steps:
    """The numbers start, start + step, ...: `terms` of them (None: without end)."""

    start: int
    step: int
    terms: int | None


def add(sums: int, choices: Iterable[Steps], limit: int) -> int:
    """Every sum of a number of the set and one of the choices (ordered by their start), up to the limit."""
    result = 0
    for choice in choices:
        if choice.start >= _full_from(result, limit):
            break
        result |= _extend(sums, choice.step, choice.terms, limit) << choice.start
    return result if result < 0 else result & ((2 << limit) - 1)


def _full_from(sums: int, limit: int) -> int:
    """The number from which the set holds everything; limit + 1 where that is not known."""
    return min((~sums).bit_length(), limit + 1) if sums < 0 else limit + 1


def _extend(sums: int, step: int, terms: int | None, limit: int) -> int:
    """The set plus 0, step, 2 step, ...: each turn doubles how many steps are covered."""
    end = _full_from(sums, limit)
    mask = (1 << end) - 1
    low = sums & mask
    most = end // step + 1
    wanted = most if terms is None else min(terms, most)
    covered = 1
    while covered < wanted:
        more = min(covered, wanted - covered)
        low |= (low << more * step) & mask
        covered += more
    if sums < 0:
        return low | -1 << end
    return _saturate(low, step) if terms is None else low


def _saturate(sums: int, step: int) -> int:
    """A set that is closed under +step and holds `step` numbers in a row holds everything after them."""
    # Bit i of `run` says that i, i + 1, ..., i + length - 1 are all in the set; shifted by `more` and intersected, it says
    # so of length + more numbers. The lowest such i is run & -run, and minus a power of two has all bits from there on.
    run, length = sums, 1
    while run and length < step:
        more = min(length, step - length)
        run &= run >> more
        length += more
    return sums | -(run & -run) if run else sums


def _leave_one_out(items: Sequence[T], combine: Callable[[int, T], int], sums: int = ZERO_ALONE) -> list[int]:
    """For each item, the sums of all the others: by halves, so that `combine` is called n log n times, not n squared."""
    if len(items) <= 1:
        return [sums] * len(items)
    half = len(items) // 2
    left, right = items[:half], items[half:]
    with_left = with_right = sums
    for item in left:
        with_left = combine(with_left, item)
    for item in right:
        with_right = combine(with_right, item)
    return _leave_one_out(left, combine, with_right) + _leave_one_out(right, combine, with_left)


def _flags_of(sums: int, length: int) -> Flags:
    """Of this number of types, whether each is in the set."""
    low = sums & ((1 << length) - 1)
    packed = np.frombuffer(low.to_bytes(length // 8 + 1, "little"), dtype=np.uint8)
    return np.asarray(np.unpackbits(packed, bitorder="little")[:length].astype(bool))


def members(sums: int, largest: int) -> list[int]:
    """The numbers of the set up to the largest."""
    return np.flatnonzero(_flags_of(sums, largest + 1)).tolist()


def _runs_of(sums: int, limit: int) -> Iterator[Steps]:
    """A set as runs of numbers in a row; the last one without end where the set has none."""
    end = _full_from(sums, limit)
    text = bin((sums & ((1 << end) - 1)) | 1 << end)[:2:-1]
    for match in re.finditer("1+", text):
        yield Steps(match.start(), 1, match.end() - match.start())
    if sums < 0:
        yield Steps(end, 1, None)


# The knapsack formulation (6)-(8): every multiplier that each row can take, all rows at once and without a solver.


@dataclass(frozen=True)
class Limits:
    """Prior knowledge of a row's multiplier: at least `low`, at most `high` (None: no limit)."""

    low: int = 0
    high: int | None = None


FREE = Limits()


@dataclass(frozen=True)
class Multipliers:
    """The values that nu_i can take: all from `low` to `full` (none where full < low), and those in `more`, all greater."""

    low: int
    full: int
    more: tuple[int, ...]

    @property
    def values(self) -> tuple[int, ...]:
        return (*range(self.low, self.full + 1), *self.more)

    @property
    def least(self) -> int:
        return self.low if self.full >= self.low else self.more[0]

    @property
    def greatest(self) -> int:
        return self.more[-1] if self.more else self.full

    @property
    def unique(self) -> bool:
        return self.least == self.greatest

    def raised(self, low: int) -> "Multipliers":
        return Multipliers(low, max(self.full, -1) + low, tuple(value + low for value in self.more)) if low else self


def _steps(r: int, room: int | None, rows: int) -> list[Steps]:
    """What that many rows of this reduced sum, with this room above their lower limit, can contribute together."""
    return [Steps(0, r, None if rows and room is None else rows * (room or 0) + 1)]


def solve_knapsack(r: Sequence[int], target: int, limits: Sequence[Limits] | None = None) -> list[Multipliers]:
    """The multipliers nu_i >= 0 that occur among the solutions of sum r_i nu_i = target, for every row i (r_i > 0)."""
    limits = limits or [FREE] * len(r)
    left = target - sum(r_i * limit.low for r_i, limit in zip(r, limits, strict=True))
    rooms = [None if limit.high is None else limit.high - limit.low for limit in limits]
    if left < 0 or any(room is not None and room < 0 for room in rooms):
        raise _unreachable(target)
    # distinct rows with how many there are, small reduced sums first, so that the sums are soon without gaps
    kinds = [(r_i, room, rows) for (r_i, room), rows in Counter(zip(r, rooms, strict=True)).items()]
    kinds.sort(key=lambda kind: (kind[1] is not None, kind[0], kind[1] or 0))
    others = _leave_one_out(kinds, lambda sums, kind: add(sums, _steps(*kind), left))
    result: dict[tuple[int, int | None], Multipliers] = {}
    for (r_i, room, rows), sums in zip(kinds, others, strict=True):
        solved = _multipliers(r_i, room, add(sums, _steps(r_i, room, rows - 1), left), left)
        if solved is None:
            raise _unreachable(target)
        result[r_i, room] = solved
    if not r and left > 0:
        raise _unreachable(target)
    return [result[r_i, room].raised(limit.low) for r_i, room, limit in zip(r, rooms, limits, strict=True)]


def _unreachable(target: int) -> DataError:
    return DataError(
        f"no table has these conditionals and this N: the remainder N - R = {target} is not a sum of multiples of the "
        "reduced row sums within the stated limits. Check N, the fractions, and what is given as known beforehand."
    )


def _multipliers(r: int, room: int | None, others: int, target: int) -> Multipliers | None:
    """The nu for which target - r nu is a sum of the others; None where there is none."""
    most = target // r
    most = most if room is None else min(most, room)
    end = _full_from(others, target)
    full = min((target - end) // r, most)
    open_ = np.arange(max(full, -1) + 1, most + 1, dtype=np.int64)
    reached = _flags_of(others, end)[target - r * open_] if len(open_) else open_.astype(bool)
    more = tuple(open_[reached].tolist())
    return Multipliers(0, full, more) if full >= 0 or more else None


@dataclass(frozen=True)
class Prior:
    """What is known beforehand: lower <= the sum of these cells of a row <= upper (None: not known)."""

    row: str
    columns: tuple[str, ...]
    lower: int | None = None
    upper: int | None = None


@dataclass(frozen=True)
class CellBounds:
    """The tightest bounds of every cell and row total; a row is disclosed where all its cells have one count."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    lower: Ints
    upper: Ints
    least_totals: Ints
    greatest_totals: Ints

    @cached_property
    def disclosed(self) -> Flags:
        return np.asarray((self.lower == self.upper).all(axis=1))


def exact_bounds(table: Conditionals, N: int, priors: Iterable[Prior] = ()) -> CellBounds:
    """The interval [r_ij (nu_i- + 1), r_ij (nu_i+ + 1)] of every cell."""
    result = row_multipliers(table, N, priors)
    least = np.array([row.least + 1 for row in result], dtype=np.int64)
    greatest = np.array([row.greatest + 1 for row in result], dtype=np.int64)
    lower, upper = table.reduced * least[:, None], table.reduced * greatest[:, None]
    return CellBounds(table.rows, table.columns, lower, upper, table.sums * least, table.sums * greatest)


def row_multipliers(table: Conditionals, N: int, priors: Iterable[Prior] = ()) -> list[Multipliers]:
    """The multipliers nu_i that each row can take, in the order of the rows; an empty row has the multiplier 0."""
    limits, filled = prior_limits(table, priors), np.flatnonzero(table.sums).tolist()
    solved = solve_knapsack(table.sums[filled].tolist(), table.remainder(N), [limits[row] for row in filled])
    known = dict(zip(filled, solved, strict=True))
    return [known.get(row, Multipliers(0, 0, ())) for row in range(len(table.rows))]


def prior_limits(table: Conditionals, priors: Iterable[Prior]) -> list[Limits]:
    """Prior bounds l, u on sums of cells as limits of the multiplier: l / sum r_ij - 1 to u / sum r_ij - 1, rounded."""
    limits = [Limits()] * len(table.rows)
    for prior in priors:
        row = _position(table.rows, prior.row, "row")
        columns = [_position(table.columns, name, "column") for name in prior.columns]
        reduced = int(table.reduced[row, columns].sum())
        if reduced == 0:
            if (prior.lower or 0) > 0 or (prior.upper is not None and prior.upper < 0):
                raise DataError(f"row {prior.row!r}: {' + '.join(prior.columns)} is 0 by its fractions, not {_words(prior)}")
            continue
        low = 0 if prior.lower is None else max(0, -(-prior.lower // reduced) - 1)
        high = None if prior.upper is None else prior.upper // reduced - 1
        highs = [end for end in (limits[row].high, high) if end is not None]
        limits[row] = both = Limits(max(limits[row].low, low), min(highs, default=None))
        if both.high is not None and both.high < both.low:
            raise DataError(
                f"row {prior.row!r}: no multiple of the fractions has {' + '.join(prior.columns)} {_words(prior)}"
            )
    return limits


def _position(labels: Sequence[str], label: str, what: str) -> int:
    refuse_unknown(label, labels, f"no {what} {label!r}")
    return labels.index(label)


def _words(prior: Prior) -> str:
    limits = [("at least", prior.lower), ("at most", prior.upper)]
    return " and ".join(f"{word} {value}" for word, value in limits if value is not None)


# Which whole numbers round to a printed value: everything in integers, in halves of the last decimal.
#
# A printed value P (in units of the last of d decimals) stands for a range of fractions around it. Rules:
# nearest    at most half a unit away, ties either way: whoever rounded half up, half even or half down is covered
# half_up    a tie went up
# half_even  a tie went to the even last digit
# either     up or down to a neighbouring value (consistent rounding, which preserves row sums): less than a unit away

RULES = ("nearest", "half_up", "half_even", "either")
MOST_DECIMALS = 9  # 2 * 10**9 * N stays below 2**63


@dataclass(frozen=True)
class Rounding:
    """Rounding to a number of decimals by a rule."""

    decimals: int
    rule: str = "nearest"

    def __post_init__(self) -> None:
        if not 0 <= self.decimals <= MOST_DECIMALS:
            raise ConfigError(f"decimals = {self.decimals}: give a whole number from 0 to {MOST_DECIMALS}")
        refuse_unknown(self.rule, RULES, f"unknown rounding rule {self.rule!r}", ConfigError)

    @property
    def one(self) -> int:
        """The printed value of 1, in halves of the last decimal."""
        return 2 * int(10**self.decimals)

    def ends(self, printed: Ints) -> tuple[Ints, Ints]:
        """Where the range of fractions of each printed value begins and ends, in halves of the last decimal."""
        away = 2 if self.rule == "either" else 1
        return 2 * printed - away, 2 * printed + away

    def closed(self, printed: Ints) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Whether each range holds its own beginning and its own end."""
        every, even = np.ones(printed.shape, dtype=bool), printed % 2 == 0
        ends = {"nearest": (every, every), "half_up": (every, ~every), "half_even": (even, even)}
        return ends.get(self.rule, (~every, ~every))

    def counts(self, printed: Ints, totals: Ints) -> tuple[Ints, Ints]:
        """The least and the greatest count of each cell (column) at each total (row); none fits where least > greatest."""
        low, high = self.ends(printed)
        with_low, with_high = self.closed(printed)
        n = totals[:, None]
        least = (n * low - with_low) // self.one + 1
        greatest = (n * high - ~with_high) // self.one
        return np.maximum(least, 0), np.minimum(greatest, n)

    def printed(self, counts: Ints) -> Ints:
        """The printed values of the conditionals of counts (no row empty); `either` rounds down, `nearest` half up."""
        totals = counts.sum(axis=1, keepdims=True)
        down, rest = np.divmod(counts * (self.one // 2), totals)
        if self.rule == "either":
            return down
        tie_up = down % 2 == 1 if self.rule == "half_even" else np.ones_like(down, dtype=bool)
        return np.asarray(down + ((2 * rest > totals) | ((2 * rest == totals) & tie_up)))


# For each row, the totals n for which whole counts exist that round to the printed values; then the totals must add up to
# N.

CELLS_AT_ONCE = 2_000_000  # bounds memory: totals times cells, 16 MB for each array
FIRST_CHUNK = 64  # totals at first; every later chunk is four times as long


@dataclass(frozen=True)
class RoundedConditionals:
    """P(column | row) as printed, in units of the last decimal (0.364 is 364 with three); `empty` rows have none."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    printed: Ints
    empty: Flags
    rounding: Rounding


def rounded_of_counts(rows: Sequence[str], columns: Sequence[str], counts: Ints, rounding: Rounding) -> RoundedConditionals:
    """The conditionals of a table of counts as they would be printed."""
    check_labels(rows, columns)
    empty = counts.sum(axis=1) == 0
    printed = np.zeros_like(counts)
    printed[~empty] = rounding.printed(counts[~empty])
    return RoundedConditionals(tuple(rows), tuple(columns), printed, empty, rounding)


def bound_rounded(table: RoundedConditionals, N: int) -> CellBounds:
    """The least and the greatest count of every cell, and of every row total."""
    lower, upper = np.zeros_like(table.printed), np.zeros_like(table.printed)
    least, greatest = np.zeros(len(table.rows), dtype=np.int64), np.zeros(len(table.rows), dtype=np.int64)
    for rows, totals in _feasible(table, N):
        order = np.argsort(table.printed[rows], axis=1, kind="stable")
        low, high = _cell_ranges(table.rounding, table.printed[rows[0], order[0]], totals)
        for row, indices in zip(rows, order, strict=True):
            lower[row, indices], upper[row, indices] = low, high
        least[rows], greatest[rows] = totals[0], totals[-1]
    return CellBounds(table.rows, table.columns, lower, upper, least, greatest)


def rounded_totals(table: RoundedConditionals, N: int) -> list[Ints]:
    """Every value that the total of each row can take, given that all rows add up to N."""
    result = [np.zeros(1, dtype=np.int64)] * len(table.rows)
    for rows, totals in _feasible(table, N):
        for row in rows:
            result[row] = totals
    return result


def _feasible(table: RoundedConditionals, N: int) -> Iterator[tuple[list[int], Ints]]:
    """The rows with the same printed values (in any order), and the totals that each of them can take."""
    check_N(N)
    kinds: dict[bytes, list[int]] = {}
    for row in np.flatnonzero(~table.empty):
        kinds.setdefault(np.sort(table.printed[row]).tobytes(), []).append(int(row))
    sets = [_Totals.of(table, rows, N) for rows in kinds.values()]
    spare = N - sum(part.least * len(part.rows) for part in sets)
    if spare < 0:
        raise DataError(f"N = {N} is too small: the printed conditionals alone need {N - spare} records. Check --total.")
    if not sets and N > 0:
        raise _no_rounded_table(N)
    sets.sort(key=lambda part: part.above >= 0)
    left_out = _leave_one_out(sets, lambda sums, part: part.added(sums, len(part.rows), spare))
    for part, others in zip(sets, left_out, strict=True):
        totals = part.reached(part.added(others, len(part.rows) - 1, spare), spare)
        if len(totals) == 0:
            raise _no_rounded_table(N)
        yield part.rows, totals


def _no_rounded_table(N: int) -> DataError:
    return DataError(
        f"no table of N = {N} records has conditionals that round to these: no choice of possible row totals adds up to N. "
        "Check N, the number of decimals and the rounding rule."
    )


@dataclass(frozen=True)
class _Totals:
    """What rows with the same printed values (in any order) can total: `least`, and `above` it the set of sums."""

    rows: list[int]
    least: int
    above: int

    @classmethod
    def of(cls, table: RoundedConditionals, rows: list[int], N: int) -> "_Totals":
        possible = _possible_sums(table.rounding, table.printed[rows[0]], N)
        if possible == 0:
            raise DataError(
                f"row {table.rows[rows[0]]!r}: no counts with a total up to {N} round to these values. Check the row (do "
                "its values sum to about 1?), the number of decimals, and the rounding rule (`either`: consistent rounding)."
            )
        least = (possible & -possible).bit_length() - 1
        return cls(rows, least, possible >> least)

    def added(self, sums: int, rows: int, limit: int) -> int:
        """The sums with that many of these rows added."""
        for _ in range(rows):
            before, sums = sums, add(sums, _runs_of(self.above, limit), limit)
            if before == sums:
                break
        return sums

    def reached(self, others: int, spare: int) -> Ints:
        """The totals that leave the others a sum they can reach."""
        both = _flags_of(self.above, spare + 1) & _flags_of(others, spare + 1)[::-1]
        return self.least + np.flatnonzero(both)


def _possible_sums(rounding: Rounding, printed: Ints, N: int) -> int:
    """
    The totals n from 1 to N of a row for which whole counts round to the printed values, as a set (see `sums`).

    >>> members(_possible_sums(Rounding(1), np.array([3, 7]), 12), 12)
    [3, 4, 6, 7, 8, 9, 10, 11, 12]
    """
    enough = _enough(rounding, printed)
    last = N if enough is None else min(enough, N)
    step = max(1, CELLS_AT_ONCE // len(printed))
    values, times = np.unique(printed, return_counts=True)
    result = 0
    for first in range(1, last + 1, step):
        totals = np.arange(first, min(first + step, last + 1), dtype=np.int64)
        least, greatest = rounding.counts(values, totals)
        fits = (least <= greatest).all(axis=1) & (least @ times <= totals) & (totals <= greatest @ times)
        result |= int.from_bytes(np.packbits(fits, bitorder="little").tobytes(), "little") << first
    # totals are the bits of an integer; from `enough` on all are possible, which -1 shifted says: ones without end
    return result if enough is None or enough > N else result | -1 << (last + 1)


def _enough(rounding: Rounding, printed: Ints) -> int | None:
    """A total from which every total is possible (least counts < low n + 1, greatest > high n - 1), or None."""
    low, high = rounding.ends(printed)
    one, some = rounding.one, low >= 0
    room_below, room_above = one - int(low[some].sum()), int(high.sum()) - one
    if room_below <= 0 or room_above <= 0:
        return None
    return max(one // 2 + 1, -(-one * int(some.sum()) // room_below), -(-one * len(printed) // room_above))


def _cell_ranges(rounding: Rounding, printed: Ints, totals: Ints) -> tuple[Ints, Ints]:
    """The range of each cell over the possible totals: from both ends inwards, until no further total can matter."""
    # With total n a cell is at least what rounding allows, and at least n less the most of all others. Neither grows evenly
    # with n, so every total must be looked at; but both lie above the line floor * n (ceiling * n above the greatest), and
    # once the line has passed the best value so far, no further total can change it. That ends the scan after few totals.
    values, index, times = np.unique(printed, return_inverse=True, return_counts=True)
    low, high = rounding.ends(values)
    low, high = np.maximum(low, 0), np.minimum(high, rounding.one)
    floor = np.maximum(low, rounding.one - (high @ times - high))
    ceiling = np.minimum(high, rounding.one - (low @ times - low))

    def least(n: Ints, upper: bool) -> Ints:
        """The least count of each cell, or the greatest with its sign changed: the least of what is the other way round."""
        fewest, most = rounding.counts(values, n)
        fewest, most, n = (-most, -fewest, -n) if upper else (fewest, most, n)
        return np.asarray(np.maximum(fewest, n[:, None] - ((most @ times)[:, None] - most)).min(axis=0))

    lower = _scan(totals, lambda n: least(n, False), lambda best, n: floor * n >= best * rounding.one)
    upper = _scan(totals[::-1], lambda n: least(n, True), lambda best, n: ceiling * n <= -best * rounding.one)
    return lower[index], -upper[index]


def _scan(totals: Ints, least: Callable[[Ints], Ints], settled: Callable[[Ints, int], Flags]) -> Ints:
    """The minimum over the totals, taken in growing chunks, until the next total cannot change any cell's."""
    best, done, size = least(totals[:FIRST_CHUNK]), FIRST_CHUNK, FIRST_CHUNK
    while done < len(totals) and not settled(best, int(totals[done])).all():
        size *= 4
        best, done = np.minimum(best, least(totals[done : done + size])), done + size
    return best
