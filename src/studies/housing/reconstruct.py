"""A block reconstructed from both releases: the most likely datasets that fit (equation 2), or the nearest (8)."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import block_array, csr_array

from genverify.model.arrays import Floats, Ints, positions, row_weights
from genverify.model.errors import DataError
from genverify.model.release import Release
from genverify.model.work import derive_seed
from genverify.solve.program import WrongAnswer, integer_point, recounted, sparse_system
from genverify.solve.program_settings import ProgramSettings
from genverify.solve.solvers.base import Answer, Infeasible, Optimal, Solver, Stopped, best_point, maximise_integers
from studies.housing.detect import FLAGGED
from studies.housing.households import COLUMNS
from studies.housing.joint_program import CONFIGURATION, NATS, Prior, TypeProgram, list_program, prior_types

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


WIDTH = 6  # steps to each side of an error that are distinguished
MOVES, TRIES = 4, 20  # so often the steps are laid around other errors, then they are widened


@dataclass(frozen=True)
class ClosestFit:
    """A dataset, its squared errors beyond the ranges, and what cost plus error may exceed the least by (0: optimal)."""

    z: Ints
    error: int
    gap: float

    def program(self, program: TypeProgram) -> TypeProgram:
        """The program with every statistic that is not met at the value that the dataset has: now it fits."""
        counts, missed = program.counted(self.z), program.misses(self.z) != 0
        return replace(program, lo=np.where(missed, counts, program.lo), hi=np.where(missed, counts, program.hi))


@dataclass(frozen=True)
class _Side:
    """
    How far some rows may lie below their ranges (sign 1) or above (-1), in steps of one person or household.

    The k-th step adds 2k - 1 to the squared error. Only the steps from `first` to `last` are distinguished; those before and
    after have the slope of the nearest, which is too low an error for them, never too high.
    """

    rows: Ints
    sign: int
    first: Ints
    last: Ints

    def steps(self) -> tuple[Ints, Floats, Ints]:
        """Row, width and slope of every step."""
        row, width, slope = [], [], []
        for at, first, last in zip(self.rows.tolist(), self.first.tolist(), self.last.tolist(), strict=True):
            widths = [first] * bool(first) + [1] * (last - first) + [inf]
            row += [at] * len(widths)
            width += widths
            slope += [2 * first - 1] * bool(first) + [2 * k - 1 for k in range(first + 1, last + 2)]
        return np.array(row, dtype=np.int64), np.array(width, dtype=np.float64), np.array(slope, dtype=np.int64)

    def errors(self, misses: Ints) -> Ints:
        return np.maximum(0, -self.sign * misses[self.rows])

    def off(self, misses: Ints) -> bool:
        """Whether an error lies outside the steps that are distinguished."""
        errors = self.errors(misses)
        return bool(((errors < self.first) | (errors > self.last)).any())

    def around(self, misses: Ints, widen: bool) -> "_Side":
        """The steps around these errors; to widen keeps those of before."""
        first, last = np.maximum(0, self.errors(misses) - WIDTH), self.errors(misses) + WIDTH
        if widen:
            first, last = np.minimum(first, self.first), np.maximum(last, self.last)
        return replace(self, first=first, last=last)


def closest(program: TypeProgram, solver: Solver, likelihood: bool = True) -> ClosestFit:
    """
    The dataset that minimises minus the log-likelihood plus the squared error (equation 8); without likelihood, the error.

    N is kept. The squared error is a sum of steps of slopes 1, 3, 5, ..., exact at integers, so that an integer program
    finds the least; where an error lies outside these steps, they are laid around it and all is solved again.
    """
    if program.types == 0:
        raise WrongAnswer("no household type is left to reconstruct from; the prior knows none that the block may have")
    cost = program.cost if likelihood else np.zeros_like(program.cost)
    sides = _sides(program)
    for attempt in range(TRIES):
        z, gap = _solve(program, cost, sides, solver)
        misses = program.misses(z)
        if not any(side.off(misses) for side in sides):
            break
        sides = [side.around(misses, widen=attempt >= MOVES) for side in sides]
    else:
        gap = inf
    return ClosestFit(z, int(misses @ misses), gap / NATS)


def _sides(program: TypeProgram) -> list[_Side]:
    """The sides to which rows can err: not N, nor a side that no dataset of n households lies beyond."""
    most, least = program.A.max(axis=1) * program.n, program.A.min(axis=1) * program.n
    beyond = ((program.lo > least, 1), (program.hi < most, -1))
    rows = [(np.flatnonzero(able[1:]) + 1, sign) for able, sign in beyond]
    return [_Side(found, sign, np.zeros_like(found), np.full_like(found, WIDTH)) for found, sign in rows]


def _solve(program: TypeProgram, cost: Ints, sides: list[_Side], solver: Solver) -> tuple[Ints, float]:
    """The best dataset with these steps, and how far from the best it may be."""
    answer, objective = _answer(program, cost, sides, solver)
    point = best_point(answer)
    if point is None:
        why = answer.limit.value if isinstance(answer, Stopped) else "infeasible"
        raise WrongAnswer(f"no dataset near the counts was found ({why}); raise program.nodes or program.seconds")
    z = integer_point(point[: program.types])
    if z is None or z.sum() != program.n or (z < 0).any():
        raise WrongAnswer("the dataset nearest to the counts is not one of N households when recounted")
    if isinstance(answer, Stopped) and answer.bound is not None:
        return z, max(0.0, answer.bound - float(objective @ point))
    return z, 0.0 if isinstance(answer, Optimal) else inf


def _answer(program: TypeProgram, cost: Ints, sides: list[_Side], solver: Solver) -> tuple[Answer, Floats]:
    """lo <= A z + steps up - steps down <= hi, at least cost, and what each costs; the steps come out whole where z is."""
    parts, upper, objective = [csr_array(program.A.astype(np.float64))], [np.full(program.types, float(program.n))], [-cost]
    for side in sides:
        row, width, slope = side.steps()
        ones = np.full(len(row), float(side.sign))
        parts.append(csr_array((ones, (row, np.arange(len(row)))), shape=(len(program.rows), len(row))))
        upper.append(width)
        objective.append(-NATS * slope)
    A = csr_array(block_array([parts]))
    integers = np.arange(A.shape[1]) < program.types
    system = sparse_system(A, program.lo, program.hi, np.concatenate(upper))
    weights = np.concatenate(objective).astype(np.float64)
    return maximise_integers(solver, system, weights, integers), weights


KINDS = {"block": str, "found": np.int64, "proved": bool, "fits": bool, "best_cost": float, "error": np.int64, "gap": float}


@dataclass(frozen=True)
class Reconstruction:
    """
    The most likely datasets of a block over listed types, and how good they are.

    `fits`: every statistic is met; else they minimise cost plus `error` (equation 8), and all of them have the same errors.
    `proved`: no dataset that was left out costs less than the last. `gap`: what the first may lack to the best, in nats.
    """

    block: str
    program: TypeProgram
    likely: LikelyDatasets
    fits: bool
    error: int
    gap: float


def reconstruct_block(
    release: Release, prior: Prior, top: int, settings: ProgramSettings, search: int, seed: int
) -> Reconstruction:
    """The `top` most likely datasets that fit a block (equation 2); where none known to the prior fits, the nearest (8)."""
    solver, own = settings.make_solver(), derive_seed(seed, "housing_top", release.block)
    program = prior_program(release, prior)
    able = program.possible()
    best = most_likely(able, solver)
    if best.z is None:
        return _nearest(release.block, program, top, solver, search, own)
    likely = most_likely_sets(able, best, top, solver, search, own)
    return Reconstruction(release.block, able, likely, fits=True, error=0, gap=best.gap / NATS)


def prior_program(release: Release, prior: Prior) -> TypeProgram:
    """The program of a block over the types that the prior knows, with their costs."""
    domain = release.schema.domain
    codes, cost = prior_types(prior, domain.names, {column.name: column.codes for column in domain.columns})
    return list_program(release, codes, cost, [name for name in domain.names if name not in CONFIGURATION])


def _nearest(block: str, program: TypeProgram, top: int, solver: Solver, search: int, seed: int) -> Reconstruction:
    """The datasets of equation 8: the best, and others of the same errors. Others that cost as little are surely as good."""
    found = closest(program, solver)
    best = LeastCost(found.z, found.gap * NATS, decided=found.gap == 0)
    likely = most_likely_sets(found.program(program), best, top, solver, search, seed)
    tied = likely.proved and len(likely.costs) == top and likely.costs[-1] == likely.costs[0]
    likely = LikelyDatasets(likely.datasets, likely.costs, tied)
    return Reconstruction(block, program, likely, found.error == 0, found.error, found.gap)


def datasets_frame(found: Reconstruction) -> pd.DataFrame:
    """One row per dataset (rank) and distinct household, with its count."""
    datasets = np.array(found.likely.datasets, dtype=np.int64).reshape(len(found.likely.datasets), found.program.types)
    rank, place = np.nonzero(datasets)
    count = datasets[rank, place]
    frame = pd.DataFrame(found.program.codes[place], columns=list(found.program.names)).astype(np.int16)
    frame.insert(0, "cost", np.array(found.likely.costs, dtype=np.float64)[rank] / NATS)
    frame.insert(0, "rank", rank.astype(np.int32))
    frame.insert(0, "block", found.block)
    return frame.assign(count=count.astype(np.int32))


def block_row(found: Reconstruction) -> dict[str, Any]:
    """What became of a block: how many datasets, whether they are the most likely, and how well they fit."""
    best = found.likely.costs[0] / NATS if found.likely.costs else np.nan
    values = (found.block, len(found.likely.datasets), found.likely.proved, found.fits, best, found.error, found.gap)
    return dict(zip(KINDS, values, strict=True))


def blocks_frame(found: Sequence[Reconstruction]) -> pd.DataFrame:
    return pd.DataFrame([block_row(one) for one in found], columns=list(KINDS)).astype(KINDS)


def all_datasets(found: Sequence[Reconstruction]) -> pd.DataFrame:
    """The datasets of several blocks, one below the other; of none, a frame without rows."""
    if found:
        return pd.concat([datasets_frame(one) for one in found], ignore_index=True)
    kinds = {"block": str, "rank": np.int32, "cost": float, **dict.fromkeys(COLUMNS, np.int16), "count": np.int32}
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})


def flagged_batch(blocks: pd.DataFrame, batch: int, batches: int) -> list[str]:
    """The flagged blocks of a batch: one in `batches`, so that batches take about as long."""
    flagged = blocks.loc[blocks["verdict"].isin(FLAGGED), "block"]
    return sorted(flagged)[batch::batches]
