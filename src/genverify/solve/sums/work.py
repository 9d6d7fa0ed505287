"""How much work ranges may take, and what became of them."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from genverify.core.arraytypes import Flags, Ints
from genverify.solve.solvers.base import Solver, WorkLimits
from genverify.solve.solvers.choose import make_solver
from genverify.solve.sums.cubes import Cubes


@dataclass(frozen=True)
class Work:
    """
    How much work a set of cells may take: seconds in all (of the clock, or of the processor where `cpu`, so that a busy
    machine counts the same), nodes of an integer search, leaves of one proof.
    """

    seconds: float = 120.0
    nodes: int = 2_000
    leaves: int = 200
    seed: int = 1
    cpu: bool = False

    def now(self) -> float:
        return time.process_time() if self.cpu else time.monotonic()

    def solver(self, seconds: float) -> Solver:
        return make_solver("highs", WorkLimits(200_000, self.nodes, max(seconds, 0.01)))


@dataclass(frozen=True)
class Hints:
    """
    What is known of a system beforehand: steps from one point to others, where the cells are those of one table and the
    rows its marginals; and rows that say all that the others say, if they agree, which a point that fits shows.
    """

    cubes: Cubes | None = None
    rows: Ints | None = None


@dataclass(frozen=True)
class Ranges:
    """
    What became of some cells: the proved ends (`lo`, `hi`), what points that fit attain (`least`, `most`), the statements
    with their proofs in order, whether it was shown that nothing fits, and some counts that fit. Where both agree a range is
    exact. A cell of `told` has ends that agree, or that a solver's search calls the best, without a proof.
    """

    lo: Ints
    hi: Ints
    least: Ints
    most: Ints
    statements: tuple[dict[str, Any], ...]
    empty: bool
    limit: str = ""
    point: Ints | None = None
    told: Flags | None = None

    @property
    def exact(self) -> Flags:
        return np.asarray((self.lo == self.least) & (self.hi == self.most))

    @property
    def moves(self) -> Ints:
        """How far apart counts of each cell are that points attain; -1 where no point was found."""
        return np.where((self.least >= self.lo) & (self.most <= self.hi), self.most - self.least, -1)

    @property
    def uncertified(self) -> Flags:
        """The cells whose range a solver found, but of which no proof was found."""
        return np.zeros(len(self.lo), dtype=bool) if self.told is None else np.asarray(self.told & ~self.exact)
