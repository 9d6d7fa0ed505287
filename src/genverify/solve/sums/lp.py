"""A linear program over cells between ends, kept warm in HiGHS: another objective, or other ends, again and again."""

import highspy
import numpy as np
from scipy.sparse import csr_array

from genverify.core.arraytypes import Floats, Ints
from genverify.solve.solvers.base import Answer, Infeasible, Limit, Optimal, Stopped
from genverify.solve.solvers.highs import DEVEX, DUAL, MODEL, PRIMAL, dual_ray, model_of, open_highs


class CellProgram:
    """
    Maximise c x over lo <= x <= hi and least <= A x <= most. After another objective the last point still fits: primal
    simplex from there. After other ends it may not: dual simplex.
    """

    def __init__(self, A: csr_array, least: Ints, most: Ints, seconds: float) -> None:
        self._highs = open_highs(
            presolve="off", simplex_iteration_limit=200_000, time_limit=seconds, simplex_primal_edge_weight_strategy=DEVEX
        )
        self._highs.passModel(model_of(A.tocsc(), least, most))
        self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        self._lo, self._hi = np.zeros(A.shape[1]), np.full(A.shape[1], np.inf)
        self._costs = np.zeros(A.shape[1])
        self._moved = True

    def maximise(self, objective: Floats) -> Answer:
        changed = np.flatnonzero(objective != self._costs).astype(np.int32)
        if len(changed):
            self._highs.changeColsCost(len(changed), changed, objective[changed].astype(np.float64))
            self._costs = objective.copy()
        self._highs.setOptionValue("simplex_strategy", DUAL if self._moved else PRIMAL)
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == MODEL.kOptimal:
            self._moved = False
            solution = self._highs.getSolution()
            z, y = np.array(solution.col_value), np.array(solution.row_dual)
            return Optimal(self._highs.getInfo().objective_function_value, z, y)
        self._moved = True
        if status == MODEL.kInfeasible:
            return Infeasible(dual_ray(self._highs))
        return Stopped(Limit.WORK)

    def set_ends(self, lo: Ints, hi: Ints) -> None:
        """Other ends of the cells."""
        changed = np.flatnonzero((lo != self._lo) | (hi != self._hi)).astype(np.int32)
        if len(changed):
            self._lo, self._hi = lo.astype(np.float64), hi.astype(np.float64)
            self._highs.changeColsBounds(len(changed), changed, self._lo[changed], self._hi[changed])
            self._moved = True
