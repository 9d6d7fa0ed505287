"""Linear programs that see few columns: a working set of classes, the others priced with one sparse product."""

from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Floats, Ints
from genverify.solve.program import Program
from genverify.solve.solvers.base import Answer, Infeasible, LinearProgram, Optimal, Solver

FEW_CLASSES = 1500
FIRST = 300
AT_ONCE = 100
WORTH = 1e-7


class WorkingSet:
    """
    The linear program of all classes, solved over some of them. After each solve the row multipliers price the others: where
    no class is worth more than the multipliers say, the answer is that of the whole program; else the best ones join.

    Nothing rests on it: a proof is tested on every class in integers, a point is recounted.
    """

    def __init__(self, program: Program, solver: Solver) -> None:
        self._program, self._solver = program, solver
        self._known = np.zeros(program.classes, dtype=bool)
        self._order: list[Ints] = []
        self._branches: list[tuple[npt.NDArray[Any], float, float]] = []
        self._inner: LinearProgram | None = None

    def include(self, classes: Ints) -> None:
        """Let classes join the working set."""
        fresh = np.unique(classes[~self._known[classes]])
        if not len(fresh):
            return
        self._known[fresh] = True
        self._order.append(fresh)
        if self._inner is not None:
            columns = self._program.columns[fresh].toarray().T
            self._inner.add_columns(np.vstack([columns, *(row[None, fresh] for row, _, _ in self._branches)]))

    def include_some(self) -> None:
        """Let some classes join, spread over all of them."""
        self.include(np.arange(0, self._program.classes, max(1, self._program.classes // FIRST)))

    def maximise(self, objective: npt.NDArray[Any]) -> Answer:
        if self._inner is None:
            self._start()
        assert self._inner is not None
        while True:
            chosen = np.concatenate(self._order)
            answer = self._inner.maximise(objective[chosen])
            if not isinstance(answer, Optimal | Infeasible) or len(chosen) == self._program.classes:
                return self._widened(answer, chosen)
            best = self._priced(answer, objective)
            if not len(best):
                return self._widened(answer, chosen)
            self.include(best)

    def _start(self) -> None:
        if not self._order:
            self.include_some()
        chosen = np.concatenate(self._order)
        A = self._program.columns[chosen].toarray().T
        self._inner = self._solver.linear_program(A, self._program.lo, self._program.hi)
        for row, lo, hi in self._branches:
            self._inner.push_row(row[chosen], lo, hi)

    def _priced(self, answer: Optimal | Infeasible, objective: npt.NDArray[Any]) -> Ints:
        """The classes outside that are worth most by the multipliers of an answer; all of them where it has none."""
        if answer.y is None:
            return np.flatnonzero(~self._known)
        rows = len(self._program.rows)
        worth = -(self._program.columns @ answer.y[:rows])
        for (row, _, _), w in zip(self._branches, answer.y[rows:], strict=True):
            worth -= w * row
        if isinstance(answer, Optimal):
            worth += objective
        worth[self._known] = 0.0
        best = np.flatnonzero(worth > WORTH * max(1.0, float(np.abs(answer.y).max(initial=0))))
        if len(best) > AT_ONCE:
            best = best[np.argpartition(-worth[best], AT_ONCE)[:AT_ONCE]]
        return best

    def _widened(self, answer: Answer, chosen: Ints) -> Answer:
        if not isinstance(answer, Optimal):
            return answer
        z: Floats = np.zeros(self._program.classes)
        z[chosen] = answer.z
        return Optimal(answer.value, z, answer.y)

    def push_row(self, coefficients: npt.NDArray[Any], lo: float, hi: float) -> None:
        self._branches.append((coefficients, lo, hi))
        if self._inner is not None:
            self._inner.push_row(coefficients[np.concatenate(self._order)], lo, hi)

    def pop_row(self) -> None:
        self._branches.pop()
        if self._inner is not None:
            self._inner.pop_row()
