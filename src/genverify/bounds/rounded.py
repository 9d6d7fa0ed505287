"""
Exact bounds from conditionals that were rounded: over all tables of N records whose frequencies round to the printed ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genverify.bounds.exact import CellBounds, add, check_labels, check_N, flags_of, leave_one_out, runs_of
from genverify.model.arrays import Flags, Ints
from genverify.model.errors import ConfigError, DataError, nearest

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
    """
    Rounding to a number of decimals by a rule.

    >>> [bool(Rounding(2).fits(33, n, m)) for n, m in ((3, 1), (4, 1), (200, 65), (200, 67))]
    [True, False, True, True]
    """

    decimals: int
    rule: str = "nearest"

    def __post_init__(self) -> None:
        if not 0 <= self.decimals <= MOST_DECIMALS:
            raise ConfigError(f"decimals = {self.decimals}: give a whole number from 0 to {MOST_DECIMALS}")
        if self.rule not in RULES:
            raise ConfigError(f"unknown rounding rule {self.rule!r}: {nearest(self.rule, list(RULES))}")

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
        every = np.ones(printed.shape, dtype=bool)
        even = printed % 2 == 0
        return {
            "nearest": (every, every),
            "half_up": (every, ~every),
            "half_even": (even, even),
            "either": (~every, ~every),
        }[self.rule]

    def counts(self, printed: Ints, totals: Ints) -> tuple[Ints, Ints]:
        """The least and the greatest count of each cell (column) at each total (row); none fits where least > greatest."""
        low, high = self.ends(printed)
        with_low, with_high = self.closed(printed)
        n = totals[:, None]
        least = (n * low - with_low) // self.one + 1
        greatest = (n * high - ~with_high) // self.one
        return np.maximum(least, 0), np.minimum(greatest, n)

    def fits(self, printed: int, total: int, count: int) -> bool:
        """Whether count / total can be printed so."""
        least, greatest = self.counts(np.array([printed]), np.array([total]))
        return bool(least[0, 0] <= count <= greatest[0, 0])

    def printed(self, counts: Ints) -> Ints:
        """The printed values of the conditionals of counts (no row empty); `either` rounds down, `nearest` half up."""
        totals = counts.sum(axis=1, keepdims=True)
        down, rest = np.divmod(counts * (self.one // 2), totals)
        if self.rule == "either":
            return down
        tie_up = down % 2 == 1 if self.rule == "half_even" else np.ones_like(down, dtype=bool)
        up: Ints = down + ((2 * rest > totals) | ((2 * rest == totals) & tie_up))
        return up


# Exact bounds from conditionals that were rounded: over all tables of N records whose conditionals round to the printed
# ones.
#
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
        raise _unreachable(N)
    sets.sort(key=lambda part: part.above >= 0)
    left_out = leave_one_out(sets, lambda sums, part: part.added(sums, len(part.rows), spare))
    for part, others in zip(sets, left_out, strict=True):
        totals = part.reached(part.added(others, len(part.rows) - 1, spare), spare)
        if len(totals) == 0:
            raise _unreachable(N)
        yield part.rows, totals


def _unreachable(N: int) -> DataError:
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
            before, sums = sums, add(sums, runs_of(self.above, limit), limit)
            if before == sums:
                break
        return sums

    def reached(self, others: int, spare: int) -> Ints:
        """The totals that leave the others a sum they can reach."""
        both = flags_of(self.above, spare + 1) & flags_of(others, spare + 1)[::-1]
        return self.least + np.flatnonzero(both)


def _possible_sums(rounding: Rounding, printed: Ints, N: int) -> int:
    """
    The totals n from 1 to N of a row for which whole counts round to the printed values, as a set (see `sums`).

    >>> from genverify.bounds.exact import members
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

    def least(n: Ints) -> Ints:
        fewest, most = rounding.counts(values, n)
        result: Ints = np.maximum(fewest, n[:, None] - ((most @ times)[:, None] - most)).min(axis=0)
        return result

    def greatest(n: Ints) -> Ints:
        fewest, most = rounding.counts(values, n)
        result: Ints = np.minimum(most, n[:, None] - ((fewest @ times)[:, None] - fewest)).max(axis=0)
        return result

    lower = _scan(totals, least, lambda best, n: floor * n >= best * rounding.one)
    upper = _scan(totals[::-1], lambda n: -greatest(n), lambda best, n: ceiling * n <= -best * rounding.one)
    return lower[index], -upper[index]


def _scan(totals: Ints, least: Callable[[Ints], Ints], settled: Callable[[Ints, int], Flags]) -> Ints:
    """The minimum over the totals, taken in growing chunks, until the next total cannot change any cell's."""
    best, done, size = least(totals[:FIRST_CHUNK]), FIRST_CHUNK, FIRST_CHUNK
    while done < len(totals) and not settled(best, int(totals[done])).all():
        size *= 4
        best, done = np.minimum(best, least(totals[done : done + size])), done + size
    return best
