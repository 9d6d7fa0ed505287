"""
Counts that attain ends which linear programs prove, but whose vertices are fractional: dives.

A dive solves the linear program with the wanted end held, keeps part of what the vertex holds, rounds some fractional cells
up or down (up with the chance of their fraction), and solves again, back and forth, until a vertex is whole. A point counts
only after its recount.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Ints
from genverify.solve.recount import INTEGRAL, integer_point
from genverify.solve.solvers.base import Optimal
from genverify.solve.sums.leaf import Ends
from genverify.solve.sums.lp import CellProgram

Step = tuple[int, int, bool]
End = tuple[int, int]  # a cell, and 1 for its most or -1 for its least
KEPT = 0.4  # the part of a vertex that stays: all of it leaves too little freedom for the rest
FEW = 10  # with fewer fractional cells left than this, one at a time
PROGRAMS = 150  # linear programs of one dive
TRIES = 3
AT_MOST, LUCK = 16, 10  # cells at once; dives won before there are more


class Diving(Protocol):
    """The search that a dive serves."""

    def best_ends(self) -> Ends: ...

    def seen(self, cell: int, sign: int) -> int: ...

    def proved(self, cell: int, sign: int) -> int: ...

    def keep(self, x: Ints) -> bool: ...

    def late(self) -> bool: ...


@dataclass
class Dives:
    """Dives for the ends of one search."""

    search: Diving
    lp: CellProgram
    rng: np.random.Generator
    at_once: int = 8  # cells rounded before the next program
    balance: int = 2

    def attain(self, ends: Iterable[End]) -> None:
        """Points for as many of these ends as dives find."""
        for end in ends:
            for _ in range(TRIES):
                if self.search.late() or self.search.seen(*end) >= self.search.proved(*end):
                    break
                point = self.dive(self.search.best_ends().held(*end, self.search.proved(*end)))
                self.learn(point is not None)
                if point is not None:
                    self.search.keep(point)

    def learn(self, found: bool) -> None:
        """Half as many cells at once where more dives fail than succeed, and more again after some luck."""
        self.balance += 1 if found else -1
        if self.balance < 0:
            self.at_once, self.balance = max(1, self.at_once // 2), 0
        elif self.balance > LUCK:
            self.at_once, self.balance = min(AT_MOST, 2 * self.at_once), 2

    def dive(self, ends: Ends) -> Ints | None:
        """A whole point between these ends, or none within the number of programs."""
        lo, hi, above = ends.lo.copy(), ends.hi.copy(), list[tuple[Step, Ints, Ints]]()
        objective = self.rng.uniform(-1, 0, len(lo))
        for _ in range(PROGRAMS):
            self.lp.set_ends(lo, hi)
            answer = self.lp.maximise(objective)
            if self.search.late() or not (above or isinstance(answer, Optimal)):
                return None
            if not isinstance(answer, Optimal):
                (cell, at, up), lo, hi = above.pop()
                lo[cell], hi[cell] = (lo[cell], at) if up else (at + 1, hi[cell])
                continue
            whole = integer_point(answer.z)
            if whole is not None:
                return whole
            lo = np.maximum(lo, np.floor(KEPT * np.floor(answer.z + INTEGRAL)).astype(np.int64))
            for step in self.steps(answer.z):
                above.append((step, lo.copy(), hi.copy()))
                cell, at, up = step
                lo[cell], hi[cell] = (at + 1, hi[cell]) if up else (lo[cell], at)
        return None

    def steps(self, z: npt.NDArray[np.float64]) -> list[Step]:
        """Some fractional cells, each with where it is cut and whether it goes up: with the chance of its fraction."""
        floors = np.floor(z + INTEGRAL)
        part = z - floors
        open_ = np.flatnonzero(part > INTEGRAL)
        cells = self.rng.permutation(open_)[: min(self.at_once, 1 + len(open_) // FEW)].tolist()
        return [(cell, int(floors[cell]), bool(self.rng.random() < part[cell])) for cell in cells]
