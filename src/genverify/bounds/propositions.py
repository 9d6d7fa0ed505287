"""
The results of sections 3.1 and 3.2, each as a function of the reduced sums r (all positive) and the remainder N - R.

They explain bounds; the exact method does not need them. A function says what its result says and nothing more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from genverify.papers.cellbounds.knapsack import solve_knapsack
from genverify.papers.cellbounds.reachable import ZERO_ALONE, Steps, add


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


def proposition_3_2a(r_ij: int, count: int) -> int | None:
    """The multiplier of a row of which one nonzero count is known; None where the count is no multiple of r_ij."""
    return count // r_ij - 1 if r_ij > 0 and count >= r_ij and count % r_ij == 0 else None


def proposition_3_2b(r: Sequence[int], remainder: int) -> set[int]:
    """Rows with r_i > N - R stay at 0."""
    return {i for i, r_i in enumerate(r) if r_i > remainder}


def proposition_3_2c(r: Sequence[int], remainder: int) -> set[int]:
    """Rows with N - R - r_min < r_i < N - R stay at 0: what they leave over fits no row."""
    least = min(r, default=0)
    return {i for i, r_i in enumerate(r) if remainder - least < r_i < remainder}


def proposition_3_2d(r: Sequence[int], remainder: int) -> set[int]:
    """Rows with r_i < N - R beside which no second one fits (itself included), or only so that too little is left over."""
    least = min(r, default=0)

    def too_much(r_i: int) -> bool:
        pairs = (r_i + other for other in set(r))
        return all(pair > remainder or remainder - least < pair < remainder for pair in pairs)

    kept = {r_i for r_i in set(r) if r_i < remainder and too_much(r_i)}
    return {i for i, r_i in enumerate(r) if r_i in kept}


def corollary_3_3(r: Sequence[int], remainder: int) -> set[int]:
    """Where no row was reduced, N = R and the whole table is disclosed."""
    return set(range(len(r))) if remainder == 0 else set()


def theorem_3_4(r: Sequence[int], upper: Mapping[int, int]) -> Facts:
    """A row whose r_i is divisible by another row's r starts at 0 and ends at nu+ r / r_i, where that row's nu+ is known."""
    first = {r_i: i for i, r_i in reversed(list(enumerate(r)))}
    lower: dict[int, int] = {}
    greatest: dict[int, int] = {}
    for r_i, rows in _places(r).items():
        divisors = [first[other] for other in first if r_i % other == 0 and (other != r_i or len(rows) > 1)]
        known = [(upper[k] * r[k] // r_i) for k in divisors if k in upper]
        for i in rows if divisors else ():
            lower[i] = 0
            greatest |= {i: known[0]} if known else {}
    return Facts(lower, greatest)


def _places(r: Sequence[int]) -> dict[int, list[int]]:
    """The rows of each reduced sum."""
    places: dict[int, list[int]] = {}
    for i, r_i in enumerate(r):
        places.setdefault(r_i, []).append(i)
    return places


def corollary_3_5(r: Sequence[int], remainder: int) -> Facts:
    """With a reduced sum of 1, every greatest multiplier is (N - R) / r_i rounded down, and the other rows start at 0."""
    ones = [i for i, r_i in enumerate(r) if r_i == 1]
    if not ones:
        return Facts()
    lower = {i: 0 for i in range(len(r)) if any(row != i for row in ones[:2])}
    return Facts(lower, {i: remainder // r_i for i, r_i in enumerate(r)})


def precedes(r: Sequence[int], fewer: Sequence[int], rows: Sequence[int]) -> bool:
    """
    Whether L precedes K: L is part of K, and every r_k is a sum of nonnegative multiples of reduced sums of L.

    >>> precedes([2, 21, 29], [0, 1], [0, 1, 2])
    True
    """
    reached = _sums({r[i] for i in fewer}, max((r[k] for k in rows), default=0))
    return set(fewer) <= set(rows) and all(reached >> r[k] & 1 for k in rows)


def smallest_preceding(r: Sequence[int], rows: Sequence[int], keep: int | None = None) -> list[int]:
    """The rows of K without those whose r is a sum of multiples of smaller ones that stay; `keep` always stays."""
    limit = max((r[k] for k in rows), default=0)
    reached, kept = ZERO_ALONE, []
    for k in sorted(rows, key=lambda k: (r[k], k != keep, k)):
        if k == keep or not reached >> r[k] & 1:
            kept.append(k)
            reached = add(reached, [Steps(0, r[k], None)], limit)
    return sorted(kept)


def proposition_3_6(r: Sequence[int], remainder: int, i: int) -> int:
    """The greatest nu_i, from the smaller knapsack over an L that precedes all rows and holds i."""
    rows = smallest_preceding(r, range(len(r)), keep=i)
    return solve_knapsack([r[k] for k in rows], remainder)[rows.index(i)].greatest


def proposition_3_7(r: Sequence[int], remainder: int, i: int) -> int:
    """The least nu_i, from the smaller knapsack over row i and an L that precedes all other rows."""
    rows = [i, *smallest_preceding(r, [k for k in range(len(r)) if k != i])]
    return solve_knapsack([r[k] for k in rows], remainder)[0].least


def corollary_3_9(r: Sequence[int]) -> set[int]:
    """Rows whose r_i is a sum of multiples of other rows' sums: they take every value from 0 to their greatest."""
    limit = max(r, default=0)
    found: set[int] = set()
    reached = ZERO_ALONE
    for r_i, rows in sorted(_places(r).items()):
        if reached >> r_i & 1 or len(rows) > 1:
            found.update(rows)
        reached = add(reached, [Steps(0, r_i, None)], limit)
    return found


def _sums(steps: set[int], limit: int) -> int:
    reached = ZERO_ALONE
    for step in sorted(steps):
        reached = add(reached, [Steps(0, step, None)], limit)
    return reached
