"""The most likely datasets that fit (subsidized housing, equation 2): the best, and the t best."""

from dataclasses import dataclass

import numpy as np

from genverify.core.arraytypes import Ints
from genverify.papers.housing.attack.prior import NATS
from genverify.papers.housing.attack.top_search import Pool, search_least
from genverify.papers.housing.attack.top_walks import Walks
from genverify.papers.housing.attack.types_program import TypeProgram
from genverify.solve.recount import recounted
from genverify.solve.solvers.base import Infeasible, Optimal, Solver, best_point

UNFIT = "the most likely dataset does not fit the published counts when recounted; try the other solver"
SWEEPS = 4  # steps per household before a look at walks among ties, so that they have gone far; one among the others
SLACKS = tuple(int(NATS * slack) for slack in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0))


@dataclass(frozen=True)
class Best:
    """A dataset of least cost that fits: None where none fits, or where none was found (`decided` is false)."""

    z: Ints | None
    gap: float
    decided: bool


@dataclass(frozen=True)
class Likely:
    """Datasets by cost, and whether it is proved that no other costs less than the last."""

    datasets: tuple[Ints, ...]
    costs: tuple[int, ...]
    proved: bool


def most_likely(program: TypeProgram, solver: Solver) -> Best:
    """The dataset of greatest likelihood among those that fit (equation 2); `gap` is what it may lack to the best."""
    if program.types == 0:
        return Best(None, 0.0, decided=True)
    answer = solver.solve(program.as_integer_program())
    if isinstance(answer, Infeasible):
        return Best(None, 0.0, decided=True)
    point = best_point(answer)
    if point is None:
        return Best(None, 0.0, decided=False)
    z = recounted(program, point, UNFIT)
    if isinstance(answer, Optimal):
        return Best(z, 0.0, decided=True)
    return Best(z, 0.0 if answer.bound is None else float(program.cost @ z) + answer.bound, decided=False)


def most_likely_sets(program: TypeProgram, best: Best, t: int, solver: Solver, nodes: int, seed: int) -> Likely:
    """
    The t most likely datasets, `best` first.

    What the prior does not know (bedrooms, subsidized or not) makes many datasets equally likely. Of those that cost the
    same, the ones come first that seeded walks meet first, each a random way from the best. Where the walks know fewer
    than t of the least cost, branching (up to `nodes` linear programs) looks for all that cost less than the t-th.
    """
    if best.z is None:
        return Likely((), (), best.decided)
    pool = Pool(t)
    pool.add(best.z, least := int(program.cost @ best.z))
    _walk(program, best.z, pool, np.random.default_rng(seed))
    proved = best.decided and (pool.last == least or search_least(program, pool, solver, nodes))
    found = pool.least()
    return Likely(tuple(z for _, z in found), tuple(cost for cost, _ in found), proved)


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
