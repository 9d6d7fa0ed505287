"""The knapsack formulation (6)-(8): every multiplier that each row can take, all rows at once and without a solver."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genverify.core.errors import DataError
from genverify.papers.cellbounds.reachable import Steps, add, flags_of, full_from, leave_one_out


@dataclass(frozen=True)
class Limits:
    """Prior knowledge of a row's multiplier: at least `low`, at most `high` (None: no limit)."""

    low: int = 0
    high: int | None = None


FREE = Limits()


@dataclass(frozen=True)
class Multipliers:
    """
    The values that nu_i can take: all from `low` to `full` (none where full < low), and those in `more`, all greater.

    The values need not be consecutive.

    >>> Multipliers(0, 2, (4,)).values
    (0, 1, 2, 4)
    """

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
    def consecutive(self) -> bool:
        count = max(self.full - self.low + 1, 0) + len(self.more)
        return self.greatest - self.least + 1 == count

    @property
    def unique(self) -> bool:
        return self.least == self.greatest


@dataclass(frozen=True)
class _Kind:
    """Rows that nothing distinguishes: the same reduced sum and the same room above their lower limit."""

    r: int
    room: int | None
    rows: int

    def steps(self, rows: int) -> list[Steps]:
        """What that many of these rows can contribute together."""
        if rows == 0:
            return [Steps(0, self.r, 1)]
        return [Steps(0, self.r, None if self.room is None else rows * self.room + 1)]


def solve_knapsack(r: Sequence[int], target: int, limits: Sequence[Limits] | None = None) -> list[Multipliers]:
    """
    The multipliers nu_i >= 0 that occur among the solutions of sum r_i nu_i = target, for every row i (r_i > 0).

    >>> [row.values for row in solve_knapsack([20, 10, 25, 35], 40)]
    [(0, 1, 2), (0, 2, 4), (0,), (0,)]
    """
    limits = limits or [FREE] * len(r)
    left = target - sum(r_i * own.low for r_i, own in zip(r, limits, strict=True))
    rooms = [None if own.high is None else own.high - own.low for own in limits]
    if left < 0 or any(room is not None and room < 0 for room in rooms):
        raise _unreachable(target)
    kinds = _kinds(r, rooms)
    others = leave_one_out(kinds, lambda sums, kind: add(sums, kind.steps(kind.rows), left))
    found = {}
    for kind, sums in zip(kinds, others, strict=True):
        found[kind.r, kind.room] = _multipliers(kind, add(sums, kind.steps(kind.rows - 1), left), left)
    if (not r and left > 0) or any(one is None for one in found.values()):
        raise _unreachable(target)
    return [_raised(found[r_i, room], own.low) for r_i, room, own in zip(r, rooms, limits, strict=True)]


def _unreachable(target: int) -> DataError:
    return DataError(
        f"no table has these conditionals and this N: the remainder N - R = {target} is no sum of multiples of the reduced "
        "row sums within the stated limits. Check N, the fractions, and what is given as known beforehand."
    )


def _kinds(r: Sequence[int], rooms: Sequence[int | None]) -> list[_Kind]:
    """Distinct rows with how many there are, small reduced sums first, so that the sums are soon without gaps."""
    counted: dict[tuple[int, int | None], int] = {}
    for key in zip(r, rooms, strict=True):
        counted[key] = counted.get(key, 0) + 1
    kinds = [_Kind(r_i, room, rows) for (r_i, room), rows in counted.items()]
    return sorted(kinds, key=lambda kind: (kind.room is not None, kind.r, kind.room or 0))


def _multipliers(kind: _Kind, others: int, target: int) -> Multipliers | None:
    """The nu for which target - r nu is a sum of the others; None where there is none."""
    most = target // kind.r
    most = most if kind.room is None else min(most, kind.room)
    end = full_from(others, target)
    full = min((target - end) // kind.r, most)
    open_ = np.arange(max(full, -1) + 1, most + 1, dtype=np.int64)
    reached = flags_of(others, end)[target - kind.r * open_] if len(open_) else open_.astype(bool)
    more = tuple(open_[reached].tolist())
    return Multipliers(0, full, more) if full >= 0 or more else None


def _raised(found: Multipliers | None, low: int) -> Multipliers:
    assert found is not None
    return Multipliers(low, max(found.full, -1) + low, tuple(value + low for value in found.more)) if low else found
