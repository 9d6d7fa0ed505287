"""A proof by cases that a cell is at most so much: both sides of a fork are shown, each with the linear program's help."""

from dataclasses import dataclass
from math import floor
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from genverify.core.sums import Sums
from genverify.solve.recount import INTEGRAL
from genverify.solve.solvers.base import Answer, Infeasible, Optimal
from genverify.solve.sums.leaf import Ends, exact_leaf, farkas_leaf
from genverify.solve.sums.lp import CellProgram
from genverify.solve.sums.work import Work

DEEPEST = 100


class Searching(Protocol):
    """The search that a proof serves."""

    sums: Sums
    lp: CellProgram
    work: Work

    def to_ends(self, ends: Ends) -> None: ...

    def take(self, answer: Answer) -> bool: ...

    def seen(self, cell: int, sign: int) -> int: ...

    def late(self) -> bool: ...


@dataclass
class Cases:
    """A proof by cases that sign x[cell] <= best, branching on cells that the linear program leaves fractional."""

    search: Searching
    cell: int
    sign: int
    best: int

    def __post_init__(self) -> None:
        self.leaves, self.better = 0, False
        self.objective = np.zeros(len(self.search.sums.cells))
        self.objective[self.cell] = self.sign

    def node(self, ends: Ends, depth: int) -> dict[str, Any] | None:
        self.leaves += 1
        if self.leaves > self.search.work.leaves or depth > DEEPEST or self.better or self.search.late():
            return None
        self.search.to_ends(ends)
        answer = self.search.lp.maximise(self.objective)
        if isinstance(answer, Infeasible):
            leaf = farkas_leaf(self.search.sums, ends, answer.y)
            return None if leaf is None else {**leaf, "kind": "empty"}
        if not isinstance(answer, Optimal):
            return None
        if floor(answer.value + INTEGRAL) <= self.best:
            return exact_leaf(self.search.sums, ends, answer.y, {self.cell: self.sign}, self.best)
        part = np.abs(answer.z - np.rint(answer.z))
        if part.max(initial=0) <= INTEGRAL:
            self.search.take(answer)
            self.better = self.search.seen(self.cell, self.sign) > self.best
            return None
        return self.split(ends, int(np.argmax(part)), answer.z, depth)

    def split(self, ends: Ends, cell: int, z: npt.NDArray[np.float64], depth: int) -> dict[str, Any] | None:
        at = floor(z[cell])
        below, above = Ends(ends.lo, ends.hi.copy()), Ends(ends.lo.copy(), ends.hi)
        below.hi[cell], above.lo[cell] = at, at + 1
        first = self.node(below, depth + 1)
        second = self.node(above, depth + 1) if first is not None else None
        if first is None or second is None:
            return None
        return {"cell": self.search.sums.cells[cell], "at": at, "below": first, "above": second}
