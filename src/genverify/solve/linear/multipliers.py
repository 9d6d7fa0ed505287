"""Linear programs over cells, kept warm, and whole multipliers of rows out of a solver's floating-point ones."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from genverify.model.arrays import Floats, Ints
from genverify.model.linear import EXACT, LinearSystem, as_floats, is_open
from genverify.solve.solvers.base import Answer, Infeasible, Limit, Optimal, Stopped
from genverify.solve.solvers.highs import DEVEX, DUAL, MODEL, PRIMAL, dual_ray, open_highs, pass_model

# The weights of a system of sums as sparse matrices, kept with it as its own properties are.

FEW_MOVED = 0.02  # of the cells: where more moved, all rows are recounted


def matrix_of(sums: LinearSystem) -> csr_array:
    """A line per row."""
    kept: dict[str, Any] = vars(sums)
    if "matrix" not in kept:
        kept["matrix"] = csr_array((sums.weights, sums.columns, sums.start), shape=(len(sums.rows), len(sums.cells)))
    matrix: csr_array = kept["matrix"]
    return matrix


def by_cell(sums: LinearSystem) -> csc_array:
    """A column for each cell."""
    kept: dict[str, Any] = vars(sums)
    if "by_cell" not in kept:
        kept["by_cell"] = matrix_of(sums).tocsc()
    matrix: csc_array = kept["by_cell"]
    return matrix


def fits_as(sums: LinearSystem, x: Ints, known: Ints) -> bool:
    """Whether these counts fit, as others do that were recounted; where they differ in few cells, only those are."""
    moved = np.flatnonzero(x != known)
    if len(moved) > FEW_MOVED * len(x):
        return sums.fits(x)
    if not ((x[moved] >= sums.lo[moved]) & (x[moved] <= sums.hi[moved])).all():
        return False
    step = x[moved] - known[moved]
    if float(np.abs(step).astype(np.float64).sum()) * largest_weight(sums) > EXACT:  # 64 bits may not hold what changes
        return sums.fits(x)
    changed = by_cell(sums)[:, moved] @ step
    return not changed.any() or sums.fits(x)


# Whole multipliers of rows out of a solver's floating-point ones.

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 60, 120, 840)
MORE = np.arange(1, 3_000)  # looked through where none of these fits
LAST = (10**6, 10**8)  # whatever the multipliers are, their rounding then costs next to nothing
FRACTION = 20_000  # the largest denominator of one multiplier
LARGEST = 10**10  # bounds the numbers of a proof
CLOSE = 1e-5  # above a solver's error; a wrong guess fails the test in integers that follows


@dataclass(frozen=True)
class Ends:
    """The ends of every cell at one place of a search."""

    lo: Ints
    hi: Ints

    def held(self, cell: int, sign: int, value: int, fixed: bool = False) -> "Ends":
        """The same with sign x[cell] at least the value, or at it."""
        lo, hi = self.lo.copy(), self.hi.copy()
        if sign > 0 or fixed:
            lo[cell] = sign * value
        if sign < 0 or fixed:
            hi[cell] = sign * value
        return Ends(lo, hi)


def exact_leaf(sums: LinearSystem, ends: Ends, y: Floats | None, c: dict[int, int], b: int) -> dict[str, Any] | None:
    """
    A leaf that shows c x <= b between these ends: the multipliers y rounded over a small denominator. Whatever rounding
    leaves over is taken at the ends of the cells, so every rounding is valid, and only the bound is to be tested.
    """
    if y is None:
        return None
    for d in _denominators(y):
        Y = np.rint(y * d)
        if not np.abs(Y).max(initial=0) <= LARGEST:
            return None
        Y = Y.astype(np.int64)
        if bound(sums, ends, Y, {cell: d * own for cell, own in c.items()}) < d * (b + 1):
            used = np.flatnonzero(Y).tolist()
            leaf: dict[str, Any] = {"y": {sums.rows[row]: int(Y[row]) for row in used}}
            return leaf if d == 1 else {**leaf, "d": d}
    return None


def _denominators(y: Floats) -> Iterator[int]:
    """Denominators to try: the smallest that makes all multipliers whole, the usual ones, large ones."""
    left, sizes = MORE, np.unique(np.round(np.abs(y), 9)).tolist()
    for own in sizes:
        left = left[np.abs(own * left - np.rint(own * left)) < CLOSE]
    yield from left[:1].tolist()
    yield from DENOMINATORS
    common = _common(sizes)  # where a cell has no end, only exact multipliers show anything
    yield from (common,) if common is not None else ()
    yield from LAST


def _common(sizes: Iterable[float]) -> int | None:
    """The common denominator of numbers as fractions; none where it is large."""
    common = 1
    for own in sizes:
        common = lcm(common, Fraction(own).limit_denominator(FRACTION).denominator)
        if common > LAST[1]:
            return None
    return common


def whole_multiple(z: Floats) -> Ints | None:
    """The least multiple of numbers that is whole; none where it is large."""
    common = _common(np.unique(np.round(z, 9)).tolist())
    if common is None or np.abs(z).max(initial=0) * common > LARGEST:
        return None
    found: Ints = np.rint(z * common).astype(np.int64)
    return found


def farkas_leaf(sums: LinearSystem, ends: Ends, y: Floats | None) -> dict[str, Any] | None:
    """A leaf that shows that no counts fit, from multipliers without a scale."""
    if y is None:
        return None
    sizes = np.abs(y)[np.abs(y) > 1e-9]
    for scale in (1.0, *(1.0 / size for size in np.unique(np.round(sizes, 9))[:5].tolist())) if len(sizes) else ():
        leaf = exact_leaf(sums, ends, y * scale, {}, -1)
        if leaf is not None:
            return leaf
    return None


def bound(sums: LinearSystem, ends: Ends, Y: Ints, c: dict[int, int]) -> float:
    """The most that c x can be by the multipliers Y, in whole numbers (inf where that is out of reach or an end is open)."""
    if not small_enough(sums, Y):
        return inf
    w = -weighed(sums, Y)
    for cell, own in c.items():
        w[cell] += own
    reach = np.where(w > 0, ends.hi, np.where(w < 0, ends.lo, 0))
    sides = np.where(Y > 0, sums.most, np.where(Y < 0, sums.least, 0))
    if is_open(reach).any() or is_open(sides).any():
        return inf
    size = float((np.abs(w) * np.abs(reach).astype(np.float64)).sum() + (np.abs(Y) * np.abs(sides).astype(np.float64)).sum())
    return int((w * reach).sum() + (Y * sides).sum()) if size < 2**62 else inf


def small_enough(sums: LinearSystem, Y: Ints) -> bool:
    """Whether 64 bits hold what multipliers make of every cell."""
    return float(np.abs(Y).astype(np.float64).sum()) * largest_weight(sums) < 2**62


def largest_weight(sums: LinearSystem) -> float:
    return float(np.abs(sums.weights).max(initial=1))


def weighed(sums: LinearSystem, Y: Ints) -> Ints:
    """Y A: what multipliers of rows make of every cell."""
    used = np.flatnonzero(Y)
    total: Ints = matrix_of(sums)[used].T @ Y[used]
    return total


# A linear program over cells between ends, kept warm in HiGHS: another objective, or other ends, again and again.


def endless() -> float:
    """The seconds left where nothing limits them."""
    return inf


class CellProgram:
    """
    Maximise c x over lo <= x <= hi and least <= A x <= most. After another objective the last point still fits: primal
    simplex from there. After other ends it may not: dual simplex. `rows`: the rows of A that say all the others say;
    the program has these alone, and multipliers of 0 for the rest.
    """

    def __init__(
        self, A: csr_array, least: Ints, most: Ints, left: Callable[[], float] = endless, rows: Ints | None = None
    ) -> None:
        self.rows = np.arange(A.shape[0]) if rows is None else rows
        self.A = (A if rows is None else A[rows]).tocsc().astype(np.float64)
        self._size, self._left = A.shape[0], left
        self._highs = open_highs(presolve="off", simplex_iteration_limit=200_000, simplex_primal_edge_weight_strategy=DEVEX)
        pass_model(self._highs, self.A, as_floats(least[self.rows]), as_floats(most[self.rows]))
        self._lo, self._hi = np.zeros(A.shape[1]), np.full(A.shape[1], np.inf)
        self._costs = np.zeros(A.shape[1])
        self._moved = True

    def maximise(self, objective: Floats, seconds: float = inf) -> Answer:
        """The best point, unless it takes more than so many seconds of the clock, or than there are left."""
        changed = np.flatnonzero(objective != self._costs).astype(np.int32)
        if len(changed):
            self._highs.changeColsCost(len(changed), changed, objective[changed].astype(np.float64))
            self._costs = objective.copy()
        self._highs.setOptionValue("simplex_strategy", DUAL if self._moved else PRIMAL)
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(min(self._left(), seconds), 0.01))
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == MODEL.kOptimal:
            self._moved = False
            solution = self._highs.getSolution()
            return Optimal(
                self._highs.getInfo().objective_function_value, np.array(solution.col_value), self.of_all(solution.row_dual)
            )
        self._moved = True
        if status == MODEL.kInfeasible:
            ray = dual_ray(self._highs)
            return Infeasible(None if ray is None else self.of_all(ray))
        return Stopped(Limit.WORK)

    def of_all(self, y: Floats) -> Floats:
        """Multipliers of every row of A."""
        found = np.zeros(self._size)
        found[self.rows] = y
        return found

    def basis(self) -> Ints | None:
        """The cells that the last vertex leaves between their ends, one for each row; none where rows are slack."""
        cells = np.array(self._highs.getBasicVariables()[1], dtype=np.int64)
        return cells if (cells >= 0).all() else None

    def start_at(self, other: "CellProgram") -> None:
        """Begin the next solve where another program of the same rows came out."""
        self._highs.setBasis(other._highs.getBasis())
        self._moved = True

    def set_ends(self, lo: Ints, hi: Ints) -> None:
        """Other ends of the cells."""
        changed = np.flatnonzero((lo != self._lo) | (as_floats(hi) != self._hi)).astype(np.int32)
        if len(changed):
            self._lo, self._hi = lo.astype(np.float64), as_floats(hi)
            self._highs.changeColsBounds(len(changed), changed, self._lo[changed], self._hi[changed])
            self._moved = True
