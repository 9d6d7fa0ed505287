"""The results of sections 3.1 and 3.2 as functions, which of them bound a row, and redesign of a table by merging."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from genverify.bounds import exact
from genverify.model.arrays import Ints
from genverify.model.errors import DataError

# The results of sections 3.1 and 3.2, each as a function of the reduced sums r (all positive) and the remainder N - R.
#
# They explain bounds; the exact method does not need them. A function says what its result says and nothing more.


@dataclass(frozen=True)
class Facts:
    """Least and greatest multipliers that a result gives, by the place of the row."""

    lower: Mapping[int, int] = field(default_factory=dict)
    upper: Mapping[int, int] = field(default_factory=dict)


def proposition_3_1(r: Sequence[int], remainder: int) -> Facts:
    """A row whose r_i divides N - R can take all of it; every other row can then stay at 0."""
    dividing = [i for i, r_i in enumerate(r) if remainder % r_i == 0]
    lower = {i: 0 for i in range(len(r)) if any(row != i for row in dividing[:2])}
    return Facts(lower, {i: remainder // r[i] for i in dividing})


def proposition_3_2b(r: Sequence[int], remainder: int) -> set[int]:
    """Rows with r_i > N - R stay at 0."""
    return {i for i, r_i in enumerate(r) if r_i > remainder}


def proposition_3_2c(r: Sequence[int], remainder: int) -> set[int]:
    """Rows with N - R - r_min < r_i < N - R stay at 0: what they leave over fits no row."""
    least = min(r, default=0)
    return {i for i, r_i in enumerate(r) if remainder - least < r_i < remainder}


def proposition_3_2d(r: Sequence[int], remainder: int) -> set[int]:
    """Rows with r_i < N - R beside which no second one fits (itself included), or only so that too little is left over."""
    least, known = min(r, default=0), set(r)
    pairs = {r_i: [r_i + other for other in known] for r_i in known if r_i < remainder}
    too_much = {r_i for r_i, sums in pairs.items()
                if all(pair > remainder or remainder - least < pair < remainder for pair in sums)}  # fmt: skip
    return {i for i, r_i in enumerate(r) if r_i in too_much}


def theorem_3_4(r: Sequence[int], upper: Mapping[int, int]) -> Facts:
    """A row whose r_i is divisible by another row's r starts at 0 and ends at nu+ r / r_i, where that row's nu+ is known."""
    lower, greatest, of = dict[int, int](), dict[int, int](), _rows_of(r)
    for r_i, rows in of.items():
        divisors = [of[other][0] for other in of if r_i % other == 0 and (other != r_i or len(rows) > 1)]
        known = [(upper[k] * r[k] // r_i) for k in divisors if k in upper]
        lower |= dict.fromkeys(rows, 0) if divisors else {}
        greatest |= dict.fromkeys(rows, known[0]) if known else {}
    return Facts(lower, greatest)


def _rows_of(r: Sequence[int]) -> dict[int, list[int]]:
    indices: dict[int, list[int]] = {}
    for i, r_i in enumerate(r):
        indices.setdefault(r_i, []).append(i)
    return indices


def corollary_3_5(r: Sequence[int], remainder: int) -> Facts:
    """With a reduced sum of 1, every greatest multiplier is (N - R) / r_i rounded down, and the other rows start at 0."""
    ones = [i for i, r_i in enumerate(r) if r_i == 1]
    if not ones:
        return Facts()
    lower = {i: 0 for i in range(len(r)) if any(row != i for row in ones[:2])}
    return Facts(lower, {i: remainder // r_i for i, r_i in enumerate(r)})


def corollary_3_9(r: Sequence[int]) -> set[int]:
    """Rows whose r_i is a sum of multiples of other rows' sums: they take every value from 0 to their greatest."""
    limit = max(r, default=0)
    result: set[int] = set()
    reached = exact.ZERO_ALONE
    for r_i, rows in sorted(_rows_of(r).items()):
        if reached >> r_i & 1 or len(rows) > 1:
            result.update(rows)
        reached = exact.add(reached, [exact.Steps(0, r_i, None)], limit)
    return result


# Why a row has its bounds: which results of the paper give its least and greatest multiplier, and what discloses it.

KNAPSACK = "(6)-(8)"
LAST_ROW = "all other rows are disclosed"
EMPTY_ROW = "empty row"


@dataclass(frozen=True)
class RowExplanation:
    """A row's multipliers and what gives them; `disclosed_by` is empty where the row is not disclosed."""

    row: str
    r: int
    multipliers: exact.Multipliers
    least_by: tuple[str, ...]
    greatest_by: tuple[str, ...]
    disclosed_by: tuple[str, ...]


def explain_rows(table: exact.Conditionals, N: int, priors: Sequence[exact.Prior] = ()) -> list[RowExplanation]:
    """Every row with the results that apply to it; with prior bounds the knapsack decides, or one known cell (3.2 (a))."""
    result = exact.row_multipliers(table, N, priors)
    filled = {row: index for index, row in enumerate(np.flatnonzero(table.sums).tolist())}
    reasons = _Reasons(table.sums[list(filled)].tolist(), table.remainder(N), [result[row] for row in filled])
    limited = any(limits != exact.FREE for limits in exact.prior_limits(table, priors))
    known = {prior.row for prior in priors if len(prior.columns) == 1 and prior.lower == prior.upper}
    explained = []
    for row, label in enumerate(table.rows):
        by: tuple[tuple[str, ...], ...] = ((EMPTY_ROW,),) * 3
        if row in filled and limited:
            prior = ("3.2 (a)",) if label in known else (f"{KNAPSACK} with prior bounds",)
            by = prior, prior, prior if result[row].unique else ()
        elif row in filled:
            by = tuple(reason(filled[row]) for reason in (reasons.least, reasons.greatest, reasons.disclosed))
        explained.append(RowExplanation(label, int(table.sums[row]), result[row], *by))
    return explained


class _Reasons:
    def __init__(self, r: Sequence[int], remainder: int, multipliers: Sequence[exact.Multipliers]) -> None:
        self.multipliers, self.remainder = multipliers, remainder
        self.simple = proposition_3_1(r, remainder)
        parts = {"3.2 (b)": proposition_3_2b, "3.2 (c)": proposition_3_2c, "3.2 (d)": proposition_3_2d}
        self.parts = {name: part(r, remainder) for name, part in parts.items()}
        self.divided = theorem_3_4(r, {i: row.greatest for i, row in enumerate(multipliers)})
        self.ones: Facts = corollary_3_5(r, remainder)
        self.summed = corollary_3_9(r)
        self.open = [i for i, row in enumerate(multipliers) if row.greatest > 0]

    def least(self, i: int) -> tuple[str, ...]:
        named = {"3.1": self.simple.lower, "3.4": self.divided.lower, "3.5": self.ones.lower}
        by = tuple(name for name, rows in named.items() if i in rows)
        return by or (("3.9",) if i in self.summed else ("3.7",))

    def greatest(self, i: int) -> tuple[str, ...]:
        by = tuple(name for name, rows in self.parts.items() if i in rows)[:1]
        for name, facts in (("3.1", self.simple), ("3.4", self.divided), ("3.5", self.ones)):
            if i in facts.upper and (not by or name == "3.5"):
                by += (name,)
        return by or ("3.6",)

    def disclosed(self, i: int) -> tuple[str, ...]:
        if not self.multipliers[i].unique:
            return ()
        if self.remainder == 0:
            return ("3.3",)
        if self.multipliers[i].greatest == 0:
            return self.greatest(i)
        return (LAST_ROW,) if self.open == [i] else (KNAPSACK,)


# Redesign of a table (sections 1.1, 3.1 and 4.1): merge rows or columns until its conditionals disclose no row.
#
# Designs are searched by the number of merges, all with one merge before those with two. Of each number the most promising
# are followed (fewest disclosed cells, then most cells left): as long as none had to be dropped, the first design that
# discloses nothing has the fewest merges that any can have; the result says whether that was so.
#
# Two columns at least are kept: with one, the conditionals are all 1 and say nothing.

Parts = tuple[tuple[int, ...], ...]
FOLLOWED = 200  # designs of each number of merges: bounds time; the result says where more had to be dropped
LEAST = 2  # columns: with one, the conditionals are all 1 and say nothing


@dataclass(frozen=True)
class Design:
    """Which rows and which columns stand together."""

    rows: Parts
    columns: Parts

    def counts(self, counts: Ints) -> Ints:
        merged: Ints = np.stack([counts[list(part)].sum(axis=0) for part in self.rows])
        return np.stack([merged[:, list(part)].sum(axis=1) for part in self.columns], axis=1)

    def merges(self, rows: int, columns: int) -> int:
        return rows - len(self.rows) + columns - len(self.columns)

    @property
    def cells(self) -> int:
        return len(self.rows) * len(self.columns)


@dataclass(frozen=True)
class Redesign:
    """A design, how many cells it discloses, and whether no design with as few merges discloses fewer."""

    design: Design
    disclosed: int
    fewest: bool


def disclosed_cells(counts: Ints, small: int | None) -> int:
    """Nonzero cells of disclosed rows; with `small`, only those whose count is at most that."""
    rows, columns = (list(map(str, range(size))) for size in counts.shape)
    cells = counts[exact.exact_bounds(exact.conditionals_of_counts(rows, columns, counts), int(counts.sum())).disclosed]
    return int(((cells > 0) & (cells <= (small or cells.max(initial=0)))).sum())


def redesign(counts: Ints, small: int | None = None, ordered: bool = False, followed: int = FOLLOWED) -> Iterator[Redesign]:
    """The best design for every number of merges, until one discloses nothing; `ordered`: only neighbours merge."""
    if not counts.sum():
        raise DataError("a table without records has nothing to disclose: check its counts")
    rows, columns = (tuple((index,) for index in range(size)) for size in counts.shape)
    level, fewest = [Design(rows, columns)], True
    while level:
        scored = sorted(((disclosed_cells(one.counts(counts), small), -one.cells, index) for index, one in enumerate(level)))
        disclosed, _, index = scored[0]
        yield Redesign(level[index], disclosed, fewest)
        if not disclosed:
            return
        fewest = fewest and len(scored) <= followed
        rest = [level[index] for _, _, index in scored[:followed]]
        level = list(dict.fromkeys(after for one in rest for after in _merged(one, ordered)))


def _merged(design: Design, ordered: bool) -> Iterator[Design]:
    yield from (Design(rows, design.columns) for rows in _joined(design.rows, ordered))
    if len(design.columns) > LEAST:
        yield from (Design(design.rows, columns) for columns in _joined(design.columns, ordered))


def _joined(parts: Parts, ordered: bool) -> Iterator[Parts]:
    for first, second in combinations(range(len(parts)), 2):
        if not ordered or second == first + 1:
            rest = [part for index, part in enumerate(parts) if index not in (first, second)]
            yield tuple(sorted([*rest, tuple(sorted(parts[first] + parts[second]))]))


def named(parts: Parts, labels: Sequence[str]) -> str:
    """The merged groups in words; the groups of one are left out."""
    return "; ".join(" + ".join(labels[index] for index in part) for part in parts if len(part) > 1)
