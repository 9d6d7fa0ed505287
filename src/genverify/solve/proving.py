"""What all proofs of bounds share: integer multipliers out of a solver's floating-point ones, and branch and prove."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, lcm
from typing import Any

import numpy as np

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.linear import EXACT, LinearSystem, is_open
from genverify.solve.program import INTEGRAL, by_column, matrix_of
from genverify.solve.solvers.base import Answer, Infeasible, Stopped

# The ends of columns at one node of a search, and rows that a side of a fork adds.


@dataclass(frozen=True)
class Ends:
    """The ends of every column at one node of a search."""

    lo: Ints
    hi: Ints

    def held(self, column: int, sign: int, value: int, fixed: bool = False) -> "Ends":
        """The same with sign x[column] at least the value, or at it."""
        lo, hi = self.lo.copy(), self.hi.copy()
        if sign > 0 or fixed:
            lo[column] = sign * value
        if sign < 0 or fixed:
            hi[column] = sign * value
        return Ends(lo, hi)


@dataclass(frozen=True)
class Branch:
    """A row that a side of a fork adds: the sum of some columns is at most hi, or at least lo."""

    inside: Flags
    lo: int | None
    hi: int | None

    @property
    def range(self) -> tuple[float, float]:
        return (-inf if self.lo is None else self.lo, inf if self.hi is None else self.hi)


FEW_MOVED = 0.02  # of the columns: where more moved, all rows are recounted


def fits_as(system: LinearSystem, x: Ints, known: Ints) -> bool:
    """Whether these counts fit, as others do that were recounted; where they differ in few columns, only those are."""
    moved = np.flatnonzero(x != known)
    if len(moved) > FEW_MOVED * len(x):
        return system.fits(x)
    if not ((x[moved] >= system.lo[moved]) & (x[moved] <= system.hi[moved])).all():
        return False
    step = x[moved] - known[moved]
    if float(np.abs(step).astype(np.float64).sum()) * system.largest > EXACT:  # 64 bits may not hold what changes
        return system.fits(x)
    changed = by_column(system)[:, moved] @ step
    return not changed.any() or system.fits(x)


# Integer multipliers of rows out of a solver's floating-point ones.

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 60, 120, 840)
MORE = np.arange(1, 3_000)  # looked through where 1 does not do
LAST = (10**6, 10**8)  # whatever the multipliers are, their rounding then costs next to nothing
FRACTION = 20_000  # the largest denominator of one multiplier
LARGEST = 10**10  # bounds the numbers of a proof
CLOSE = 1e-5  # above a solver's error; a wrong guess fails the test in integers that follows


def rationalise(y: Floats, last: Sequence[int] = ()) -> Iterator[tuple[int, Ints]]:
    """
    Integers Y and a denominator d with Y / d near y, again and again: the smallest d that makes all of y whole first, then
    the usual ones, the one that they have together as fractions, and the `last`.

    >>> [(d, Y.tolist()) for d, Y in rationalise(np.array([2 / 13, -1 / 26, 3.0]))][0]
    (26, [4, -1, 78])
    """
    finite = bool(np.abs(y).max(initial=0) <= LARGEST)  # and not: not a number
    for d in _denominators(y, last) if finite else ():
        Y = np.rint(y * d)
        if not np.abs(Y).max(initial=0) <= LARGEST:
            return
        yield d, Y.astype(np.int64)


def _denominators(y: Floats, last: Sequence[int]) -> Iterator[int]:
    if np.abs(y - np.rint(y)).max(initial=0) < CLOSE:
        yield 1
    left, sizes = MORE, np.unique(np.round(np.abs(y), 9)).tolist()
    for size in sizes:
        left = left[np.abs(size * left - np.rint(size * left)) < CLOSE]
    yield from left[:1].tolist()
    yield from DENOMINATORS
    common = _common(sizes)  # where a column has no end, only exact multipliers show anything
    yield from (common,) if common is not None else ()
    yield from last


def _common(sizes: Iterable[float]) -> int | None:
    common = 1
    for size in sizes:
        common = lcm(common, Fraction(size).limit_denominator(FRACTION).denominator)
        if common > LAST[1]:
            return None
    return common


def whole_multiple(z: Floats) -> Ints | None:
    """The least multiple of numbers that is whole; none where it is large."""
    common = _common(np.unique(np.round(z, 9)).tolist())
    if common is None or np.abs(z).max(initial=0) * common > LARGEST:
        return None
    multiple: Ints = np.rint(z * common).astype(np.int64)
    return multiple


def farkas_scales(y: Floats) -> Iterator[float]:
    """Multipliers that show a contradiction have no scale: with a small one at 1 the others are often integers."""
    sizes = np.abs(y)[np.abs(y) > 1e-9]
    if len(sizes) and sizes.max() <= LARGEST:
        yield 1.0 / float(sizes.min())
        yield from (1.0 / size for size in np.unique(np.round(sizes, 9))[1:5].tolist())
        yield 1.0


def weighed(system: LinearSystem, Y: Ints) -> Ints | None:
    """Y A: what multipliers of rows make of every column; none where 64 bits might not hold it."""
    if float(np.abs(Y).astype(np.float64).sum()) * system.largest >= 2**62:
        return None
    used = np.flatnonzero(Y)
    total: Ints = matrix_of(system)[used].T @ Y[used]
    return total


def bound(system: LinearSystem, Y: Ints, ends: Ends, w: Ints) -> float:
    """
    The most that multipliers Y of rows and w of columns can add up to, in integers; inf where that is out of reach, or an
    end is open.
    """
    reach = np.where(w > 0, ends.hi, np.where(w < 0, ends.lo, 0))
    sides = np.where(Y > 0, system.most, np.where(Y < 0, system.least, 0))
    if is_open(reach).any() or is_open(sides).any():
        return inf
    size = float((np.abs(w) * np.abs(reach).astype(np.float64)).sum() + (np.abs(Y) * np.abs(sides).astype(np.float64)).sum())
    return int((w * reach).sum() + (Y * sides).sum()) if size < 2**62 else inf


def _bound_of_rows(system: LinearSystem, Y: Ints, branches: Sequence[Branch]) -> int:
    """The same of rows and branches alone, few of which are used: in Python's integers."""
    rows, total = len(system.least), 0
    for row in np.flatnonzero(Y).tolist():
        branch = branches[row - rows] if row >= rows else None
        low, high = (system.least[row], system.most[row]) if branch is None else (branch.lo, branch.hi)
        total += int(Y[row]) * int((high if Y[row] > 0 else low) or 0)
    return total


def exact_multipliers(
    system: LinearSystem, ends: Ends | None, y: Floats, c: Ints, b: int, branches: Sequence[Branch] = ()
) -> tuple[int, Ints] | None:
    """
    Integer multipliers Y over a denominator d that show c x <= b: what rounding leaves over is taken at the ends of the
    columns, so every rounding is valid, and only the bound is to be tested.

    Without `ends` the columns count records, from 0 on and without an upper end, and row 0 holds each of them once: where Y
    leaves some column short, that is added there, and Y stays close to y, so that few rows are used.
    """
    rows = len(system.least)
    for d, Y in rationalise(y, () if ends is None else LAST):
        made = weighed(system, Y[:rows])
        if made is None or (ends is None and np.abs(y * d - Y).max(initial=0) > CLOSE * d):
            continue
        w = d * c - made
        if ends is not None:
            total = bound(system, Y, ends, w)
        else:
            for row, branch in enumerate(branches, rows):
                if (branch.hi is None and Y[row] > 0) or (branch.lo is None and Y[row] < 0):
                    Y[row] = 0  # a row with one side takes the sign that the side allows
                w -= Y[row] * branch.inside
            Y[0] += max(int(w.max(initial=0)), 0)
            total = _bound_of_rows(system, Y, branches)
        if total < d * (b + 1):
            return d, Y
    return None


def exact_leaf(system: LinearSystem, ends: Ends, y: Floats | None, c: Ints, b: int) -> dict[str, Any] | None:
    """A leaf of a proof that c x <= b between these ends."""
    multipliers = None if y is None else exact_multipliers(system, ends, y, c, b)
    if multipliers is None:
        return None
    d, Y = multipliers
    leaf: dict[str, Any] = {"y": {system.rows[row]: int(Y[row]) for row in np.flatnonzero(Y).tolist()}}
    return leaf if d == 1 else {**leaf, "d": d}


def farkas_leaf(system: LinearSystem, ends: Ends, y: Floats | None) -> dict[str, Any] | None:
    """A leaf that shows that nothing fits, from multipliers without a scale."""
    nothing = np.zeros(len(system.lo), dtype=np.int64)
    leaves = (exact_leaf(system, ends, y * scale, nothing, -1) for scale in farkas_scales(y)) if y is not None else iter(())
    return next((leaf for leaf in leaves if leaf is not None), None)


# Branch and prove: a bound of the linear program, or two sides of a fork, each proved in the same way.


class PointFound(Exception):
    """A point beyond the bound that was to be proved."""

    def __init__(self, z: Ints) -> None:
        self.z = z


class LimitStruck(Exception):
    """A limit of work that ended a proof."""

    def __init__(self, limit: str) -> None:
        self.limit = limit


class BranchAndProve(ABC):
    """
    A proof that c x <= b, depth first. Where to fork, how a side is solved and how a proof is written is left to those who
    know what the columns are; the search ends early with PointFound or LimitStruck.
    """

    b: int

    def node(self, depth: int = 0) -> Any:
        """The proof of the current node (None: true, but without an exact proof)."""
        answer = self.relaxed(depth)
        if isinstance(answer, Infeasible):
            return self.leaf(answer.y, empty=True)
        if isinstance(answer, Stopped):
            raise LimitStruck(answer.limit.value)
        if floor(answer.value + INTEGRAL) <= self.b:
            return self.leaf(answer.y, empty=False)
        self.look(answer.z, depth)
        return self.split(answer.z, depth)

    def split(self, z: Floats, depth: int) -> Any:
        """Both sides of a fork: at most t, at least t + 1; the side that is nearer to the point first."""
        part, value = self.choose(z)
        at = floor(value)
        sides: list[tuple[int | None, int | None]] = [(None, at), (at + 1, None)]
        up_first = value - at > 0.5
        proofs = [self.side(part, lo, hi, depth + 1) for lo, hi in (reversed(sides) if up_first else sides)]
        below, above = reversed(proofs) if up_first else proofs
        return self.fork(part, at, below, above) if below and above else None

    @abstractmethod
    def relaxed(self, depth: int) -> Answer:
        """The linear program of the current node, within the limits."""

    @abstractmethod
    def leaf(self, y: Floats | None, empty: bool) -> Any:
        """The proof by multipliers, if it is exact; `empty`: that nothing fits."""

    @abstractmethod
    def look(self, z: Floats, depth: int) -> None:
        """Look for a point beyond the bound, here or near the point of the linear program."""

    @abstractmethod
    def choose(self, z: Floats) -> tuple[Any, float]:
        """What to fork on, and its fractional value."""

    @abstractmethod
    def side(self, part: Any, lo: int | None, hi: int | None, depth: int) -> Any:
        """The proof of one side."""

    @abstractmethod
    def fork(self, part: Any, at: int, below: Any, above: Any) -> Any:
        """Two proofs as one."""
