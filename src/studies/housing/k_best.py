"""The most likely datasets that fit (equation 2): the best, an exact search, and seeded walks among them."""

import heapq
from dataclasses import dataclass, field
from math import inf

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Floats, Ints, positions, row_weights
from genverify.model.errors import DataError
from genverify.solve.program import WrongAnswer, integer_point, recounted
from genverify.solve.solvers.base import Infeasible, Optimal, Solver, Stopped, best_point, maximise_integers
from studies.housing.joint_program import NATS, TypeProgram

# The t datasets of least cost: a pool of those that were met, and an exact search that proves or completes it.

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


# Seeded walks among the datasets that fit: households trade columns, many datasets at a time.

TRADED = 4  # households that one step may touch: two pairs
FREE, ALONE, SINGLE = 0.7, 0.25, 0.5


class Walks:
    """
    Datasets that all begin as one dataset that fits, and walk on independently.

    A step lets one or two pairs of households trade some of their columns, or one household take them from a type drawn
    at random; it counts where every row stays within its range and the cost within a limit. Often just the free columns
    are traded, which costs nothing.
    """

    def __init__(self, program: TypeProgram, start: Ints, walks: int, rng: np.random.Generator) -> None:
        self.program, self.rng = program, rng
        self.households = np.tile(np.repeat(np.arange(program.types), start), (walks, 1))
        self.counts = np.tile(program.counted(start), (walks, 1))
        self.cost = np.full(walks, int(program.cost @ start), dtype=np.int64)
        weights = row_weights(program.codes.max(axis=0, initial=0) + 1)
        if weights is None:
            raise DataError("the columns of the households have too many codes for walks among datasets; merge some codes")
        self._parts = program.codes * weights
        self._keys = self._parts.sum(axis=1)
        order = np.argsort(self._keys)
        self._sorted, self._order = self._keys[order], np.append(order, -1)
        self._free = np.isin(program.names, program.free)

    def step(self, limit: int) -> None:
        """One step of every walk, to datasets that cost no more than the limit."""
        walks, n = self.households.shape
        places = self.rng.integers(n, size=(walks, TRADED))
        old = np.take_along_axis(self.households, places, axis=1)
        new = self._traded(old.reshape(-1, 2)).reshape(walks, TRADED)
        single = self.rng.random(walks) < SINGLE
        new[single, 2:] = old[single, 2:]
        counts = self.counts + (self.program.added[new] - self.program.added[old]).sum(axis=1)
        cost = self.cost + (self.program.cost[new] - self.program.cost[old]).sum(axis=1)
        within = ((counts >= self.program.lo) & (counts <= self.program.hi)).all(axis=1)
        good = within & (cost <= limit) & (new >= 0).all(axis=1) & ~_clash(places, new != old)
        rows, sides = np.nonzero((new != old) & good[:, None])
        self.households[rows, places[rows, sides]] = new[rows, sides]
        self.counts[good], self.cost[good] = counts[good], cost[good]

    def _traded(self, pair: Ints) -> Ints:
        """What becomes of the two households of each pair: types, or -1 where there is no such type."""
        pairs = len(pair)
        chosen = self.rng.random((pairs, len(self._free))) < 0.5
        chosen[self.rng.random(pairs) < FREE] = self._free
        alone = self.rng.random(pairs) < ALONE
        source = np.where(alone, self.rng.integers(self.program.types, size=pairs), pair[:, 1])
        gained = ((self._parts[source] - self._parts[pair[:, 0]]) * chosen).sum(axis=1)
        first = self._find(self._keys[pair[:, 0]] + gained)
        second = np.where(alone, pair[:, 1], self._find(self._keys[pair[:, 1]] - gained))
        return np.column_stack([first, second])

    def _find(self, keys: Ints) -> Ints:
        return self._order[positions(self._sorted, keys)]


def _clash(places: Ints, changed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Walks in which two changes meet in one household."""
    clash = np.zeros(len(places), dtype=bool)
    for one in range(TRADED):
        for other in range(one + 1, TRADED):
            clash |= (places[:, one] == places[:, other]) & changed[:, one] & changed[:, other]
    return clash


# The most likely datasets that fit (subsidized housing, equation 2): the best, and the t best.

UNFIT = "the most likely dataset does not fit the published counts when recounted; try the other solver"
SWEEPS = 4  # steps per household before a look at walks among ties, so that they have gone far; one among the others
SLACKS = tuple(int(NATS * slack) for slack in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0))


@dataclass(frozen=True)
class LeastCost:
    """A dataset of least cost that fits: None where none fits, or where none was found (`decided` is false)."""

    z: Ints | None
    gap: float
    decided: bool


@dataclass(frozen=True)
class LikelyDatasets:
    """Datasets by cost, and whether it is proved that no other costs less than the last."""

    datasets: tuple[Ints, ...]
    costs: tuple[int, ...]
    proved: bool


def most_likely(program: TypeProgram, solver: Solver) -> LeastCost:
    """The dataset of greatest likelihood among those that fit (equation 2); `gap` is what it may lack to the best."""
    if program.types == 0:
        return LeastCost(None, 0.0, decided=True)
    answer = maximise_integers(solver, program.system, -program.cost)
    if isinstance(answer, Infeasible):
        return LeastCost(None, 0.0, decided=True)
    point = best_point(answer)
    if point is None:
        return LeastCost(None, 0.0, decided=False)
    z = recounted(program, point, UNFIT)
    if isinstance(answer, Optimal):
        return LeastCost(z, 0.0, decided=True)
    return LeastCost(z, 0.0 if answer.bound is None else float(program.cost @ z) + answer.bound, decided=False)


def most_likely_sets(program: TypeProgram, best: LeastCost, t: int, solver: Solver, nodes: int, seed: int) -> LikelyDatasets:
    """
    The t most likely datasets, `best` first.

    What the prior does not know (bedrooms, subsidized or not) makes many datasets equally likely. Of those that cost the
    same, the ones come first that seeded walks meet first, each a random way from the best. Where the walks know fewer
    than t of the least cost, branching (up to `nodes` linear programs) looks for all that cost less than the t-th.
    """
    if best.z is None:
        return LikelyDatasets((), (), best.decided)
    pool = Pool(t)
    pool.add(best.z, least := int(program.cost @ best.z))
    _walk(program, best.z, pool, np.random.default_rng(seed))
    proved = best.decided and (pool.last == least or search_least(program, pool, solver, nodes))
    found = pool.least()
    return LikelyDatasets(tuple(z for _, z in found), tuple(cost for cost, _ in found), proved)


def _walk(program: TypeProgram, start: Ints, pool: Pool, rng: np.random.Generator) -> None:
    """Fill the pool: first with datasets that cost as little, then with others, a little more costly each round."""
    walks = Walks(program, start, pool.t, rng)
    least = int(program.cost @ start)
    while _round(walks, pool, least, SWEEPS) and pool.last > least:
        pass
    for slack in SLACKS:
        if pool.last <= least + slack:
            return
        _round(walks, pool, least + slack, 1)


def _round(walks: Walks, pool: Pool, limit: int, sweeps: int) -> int:
    """Let the walks go on for a while, and keep the datasets that they come to; how many are new."""
    for _ in range(sweeps * walks.program.n):
        walks.step(limit)
    met = zip(walks.households, walks.cost.tolist(), strict=True)
    return sum(pool.add(np.bincount(households, minlength=walks.program.types), cost) for households, cost in met)
