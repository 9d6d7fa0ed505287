"""A linear program over cells between ends, kept warm in HiGHS: another objective, or other ends, again and again."""

from collections.abc import Callable
from math import inf

import numpy as np
from scipy.sparse import csr_array

from genverify.core.arraytypes import Floats, Ints
from genverify.core.sums import as_floats
from genverify.solve.solvers.base import Answer, Infeasible, Limit, Optimal, Stopped
from genverify.solve.solvers.highs import DEVEX, DUAL, MODEL, PRIMAL, dual_ray, open_highs, pass_model


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
