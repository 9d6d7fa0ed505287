"""The t datasets of least cost: a pool of those that were met, and an exact search that proves or completes it."""

import heapq
from dataclasses import dataclass, field
from math import inf

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.papers.housing.attack.types_program import TypeProgram
from genverify.solve.recount import WrongAnswer, integer_point
from genverify.solve.solvers.base import Infeasible, Solver, Stopped

HALF = 0.5  # costs are integers: a bound may be wrong by less than half


class Pool:
    """Distinct datasets with their costs. Of equal costs, the one that was met first comes first."""

    def __init__(self, t: int) -> None:
        self.t = t
        self._met: dict[bytes, tuple[int, Ints]] = {}
        self._costs: list[int] = []  # the t least, as a heap of their negatives

    def add(self, z: Ints, cost: int) -> bool:
        """Keep a dataset; whether it was new."""
        key = z.tobytes()
        if key in self._met:
            return False
        self._met[key] = cost, z
        heapq.heappush(self._costs, -cost)
        if len(self._costs) > self.t:
            heapq.heappop(self._costs)
        return True

    @property
    def last(self) -> float:
        """The t-th least cost; infinite where fewer datasets are known."""
        return -self._costs[0] if len(self._costs) == self.t else inf

    def least(self) -> list[tuple[int, Ints]]:
        """The t datasets of least cost that were met."""
        return sorted(self._met.values(), key=lambda found: found[0])[: self.t]


@dataclass(order=True)
class _Node:
    """A box of datasets that is still to be searched, with a bound on their costs."""

    bound: float
    number: int
    lower: Floats = field(compare=False)
    upper: Floats = field(compare=False)


def search_least(program: TypeProgram, pool: Pool, solver: Solver, nodes: int) -> bool:
    """
    Search for datasets that cost less than the t-th of the pool, and put them there; whether no other is left.

    Best bound first, by linear programs. A dataset that a linear program meets is taken out by splitting the rest: sums
    are fixed, so another dataset has less of some type, and more of those before it in the list or as many.
    """
    search = _Search(program, pool, solver)
    for _ in range(nodes):
        if not search.open:
            return True
        search.visit()
    return not search.open


class _Search:
    def __init__(self, program: TypeProgram, pool: Pool, solver: Solver) -> None:
        self.program, self.pool = program, pool
        self.lp = solver.linear_program(program.A, program.lo, program.hi)
        self.objective = -program.cost.astype(np.float64)
        self.made = 0
        self.heap: list[_Node] = []
        self.push(-inf, np.zeros(program.types), np.full(program.types, float(program.n)))

    @property
    def open(self) -> bool:
        """Whether a box may hold a dataset that is missing."""
        return bool(self.heap) and self.heap[0].bound < self.pool.last - HALF

    def push(self, bound: float, lower: Floats, upper: Floats) -> None:
        if (lower <= upper).all():
            self.made += 1
            heapq.heappush(self.heap, _Node(bound, self.made, lower, upper))

    def visit(self) -> None:
        """Bound the best box, and split it where it may hold a dataset that is missing."""
        node = heapq.heappop(self.heap)
        self.lp.set_bounds(node.lower, node.upper)
        answer = self.lp.maximise(self.objective)
        if isinstance(answer, Infeasible):
            return
        if isinstance(answer, Stopped) or answer.y is None:
            raise WrongAnswer("a linear program of the most likely datasets ran out of iterations; raise program.iterations")
        if -answer.value >= self.pool.last - HALF:
            return
        self.tighten(node, -answer.value, answer.y)
        z = integer_point(answer.z)
        if z is not None:
            self.found(node, z)
        else:
            self.split(node, -answer.value, answer.z)

    def tighten(self, node: _Node, bound: float, y: Floats) -> None:
        """Types of which more would cost too much, by their reduced costs."""
        reduced = self.program.cost + y @ self.program.A
        dear = np.flatnonzero(reduced > HALF)
        if np.isfinite(self.pool.last):
            more = np.floor((self.pool.last - HALF - bound) / reduced[dear])
            node.upper = node.upper.copy()
            node.upper[dear] = np.minimum(node.upper[dear], node.lower[dear] + more)

    def found(self, node: _Node, z: Ints) -> None:
        if not self.program.fits(z):
            raise WrongAnswer("a likely dataset does not fit the published counts when recounted")
        cost = int(self.program.cost @ z)
        self.pool.add(z, cost)
        lower = node.lower
        for used in np.flatnonzero(z):
            upper = node.upper.copy()
            upper[used] = z[used] - 1
            self.push(cost, lower, upper)
            lower = lower.copy()
            lower[used] = z[used]

    def split(self, node: _Node, bound: float, z: Floats) -> None:
        """Both sides of the count that is farthest from an integer."""
        at = int(np.argmax(np.abs(z - np.rint(z))))
        upper, lower = node.upper.copy(), node.lower.copy()
        upper[at], lower[at] = np.floor(z[at]), np.floor(z[at]) + 1
        self.push(bound, node.lower, upper)
        self.push(bound, lower, node.upper)
