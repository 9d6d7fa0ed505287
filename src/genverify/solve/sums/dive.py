"""
Counts that attain ends which linear programs prove, but whose vertices are fractional: dives.

A dive solves the linear program with the wanted end held, keeps part of what the vertex holds, rounds one fractional cell up
or down (up with the chance of its fraction), and solves again, back and forth, until a vertex is whole. A point counts only
after its recount.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from genverify.core.sums import Sums
from genverify.solve.recount import INTEGRAL, integer_point
from genverify.solve.solvers.base import Optimal
from genverify.solve.sums.leaf import Ends
from genverify.solve.sums.lp import CellProgram

Ints = npt.NDArray[np.int64]
End = tuple[int, int]  # a cell, and 1 for its most or -1 for its least
KEPT = 0.4  # the part of a vertex that stays: all of it leaves too little freedom for the rest
PROGRAMS = 150  # linear programs of one dive
TRIES = 3


class Diving(Protocol):
    """The search that a dive serves."""

    sums: Sums
    lp: CellProgram

    def best_ends(self) -> Ends: ...

    def seen(self, cell: int, sign: int) -> int: ...

    def proved(self, cell: int, sign: int) -> int: ...

    def keep(self, x: Ints) -> bool: ...

    def late(self) -> bool: ...


@dataclass
class Dives:
    """Dives for the ends of one search."""

    search: Diving
    rng: np.random.Generator

    def attain(self, ends: Iterable[End]) -> None:
        """Points for as many of these ends as dives find."""
        for end in ends:
            for _ in range(TRIES):
                if self.search.late() or self.search.seen(*end) >= self.search.proved(*end):
                    break
                point = self.dive(self.with_end(self.search.best_ends(), end))
                if point is not None:
                    self.search.keep(point)

    def with_end(self, ends: Ends, end: End) -> Ends:
        cell, sign = end
        held = Ends(ends.lo.copy(), ends.hi.copy())
        if sign > 0:
            held.lo[cell] = self.search.proved(cell, sign)
        else:
            held.hi[cell] = -self.search.proved(cell, sign)
        return held

    def dive(self, ends: Ends) -> Ints | None:
        """A whole point between these ends, or none within the number of programs."""
        lo, hi, above = ends.lo.copy(), ends.hi.copy(), list[tuple[int, int, bool, Ints, Ints]]()
        objective = self.rng.uniform(-1, 0, len(lo))
        for _ in range(PROGRAMS):
            self.search.lp.set_ends(lo, hi)
            answer = self.search.lp.maximise(objective)
            if self.search.late():
                return None
            if not isinstance(answer, Optimal):
                if not above:
                    return None
                cell, at, up, lo, hi = above.pop()
                lo[cell], hi[cell] = (lo[cell], at) if up else (at + 1, hi[cell])
                continue
            whole = integer_point(answer.z)
            if whole is not None:
                return whole
            floors = np.floor(answer.z + INTEGRAL)
            part = answer.z - floors
            lo = np.maximum(lo, np.floor(KEPT * floors).astype(np.int64))
            cell = int(self.rng.choice(np.flatnonzero(part > INTEGRAL)))
            at, up = int(floors[cell]), bool(self.rng.random() < part[cell])
            above.append((cell, at, up, lo.copy(), hi.copy()))
            lo[cell], hi[cell] = (at + 1, hi[cell]) if up else (lo[cell], at)
        return None
