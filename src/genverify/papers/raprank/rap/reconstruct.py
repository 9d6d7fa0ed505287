"""RAP on published counts: K runs that reconstruct a dataset each."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from genverify.core.domain import Domain
from genverify.core.errors import ConfigError, DataError, ReleaseError
from genverify.core.predicates import Predicate
from genverify.papers.raprank.rap.dataset import logits_at, one_hot, random_logits, round_rows
from genverify.papers.raprank.rap.factors import factor
from genverify.papers.raprank.rap.optimise import Pace, Problem, descend, errors_of
from genverify.papers.raprank.rap.workload import Indices, Workload, build_workload, place_codes, roomy
from genverify.papers.raprank.settings import RapSettings

Codes = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int64]
Errors = npt.NDArray[np.float32]


FEWEST_ROWS = 8  # room for small blocks, so that they share a compiled program
MOST_CELLS = 4_000_000  # of an array with an entry per query, run and row: what a batch of queries may take


@dataclass(frozen=True)
class Reconstruction:
    """
    K datasets (K, rows, columns) as codes of the domain, the errors of each before and after rounding, and its steps.

    An error is the root mean square over all queries of the difference of fractions; times `rows` it is one of counts.
    """

    datasets: Codes
    relaxed_errors: Errors
    rounded_errors: Errors
    steps: Ints

    @property
    def union(self) -> Codes:
        """The rows of all datasets with their multiplicities, as the ranking takes them."""
        return self.datasets.reshape(-1, self.datasets.shape[-1])


def reconstruct(
    domain: Domain,
    predicates: Sequence[Predicate],
    counts: Ints,
    rows: int,
    seeds: Sequence[int],
    settings: RapSettings,
    start: Codes | None = None,
) -> Reconstruction:
    """One dataset of `rows` rows per seed, whose counts of the predicates come near the given ones."""
    _check_counts(predicates, counts, rows)
    if not len(seeds):
        raise ConfigError("K = 0: RAP-RANK needs at least one run; give as many seeds as runs")
    workload, room = build_workload(domain, predicates), roomy(max(rows, FEWEST_ROWS))
    problem = make_problem(workload, counts, rows, room, len(seeds))
    if start is None:
        logits = random_logits(seeds, workload.codes, rows, room, settings.spread)
    else:
        logits = logits_at(workload.sizes, _start(domain, np.asarray(start), rows, room, len(seeds)), settings.certainty)
    number = _rests_per_step(problem, len(counts), settings.queries_per_step)
    chances, steps = descend(workload.sizes, number, problem, _pace(settings, rows), make_keys(seeds), logits)
    places = round_rows(seeds, workload.sizes, np.asarray(chances))
    relaxed, rounded = (errors_of(workload.sizes, problem, whole) for whole in (chances, one_hot(workload.sizes, places)))
    codes = [np.asarray(column.codes, np.int64)[places[:, :rows, c]] for c, column in enumerate(domain.columns)]
    return Reconstruction(np.stack(codes, axis=-1), np.asarray(relaxed), np.asarray(rounded), np.asarray(steps, np.int64))


def _pace(settings: RapSettings, rows: int) -> Pace:
    """The numbers that the compiled program takes; within it counts are fractions of the rows."""
    return Pace(
        jnp.float32(settings.learning_rate),
        jnp.int32(settings.steps),
        jnp.float32(settings.tolerance / rows),
        jnp.int32(settings.check_every),
        jnp.int32(settings.patience),
    )


def _check_counts(predicates: Sequence[Predicate], counts: Ints, rows: int) -> None:
    if rows < 1:
        raise ReleaseError(f"{rows} rows: there is nothing to reconstruct; leave this block out")
    if not len(predicates):
        raise ReleaseError("no queries: nothing is published, so that nothing can be reconstructed")
    if np.shape(counts) != (len(predicates),):
        raise ReleaseError(f"{np.size(counts)} counts for {len(predicates)} queries: give one count per query")
    wrong = np.flatnonzero((np.asarray(counts) < 0) | (np.asarray(counts) > rows))
    if wrong.size:
        first = int(wrong[0])
        raise ReleaseError(
            f"the count of query {first} ({predicates[first]}) is {counts[first]}, not between 0 and the {rows} rows; "
            "check the published counts"
        )


def make_problem(workload: Workload, counts: Ints, rows: int, room: int, runs: int) -> Problem:
    """The arrays that the optimiser takes; rests without queries fill up the last batch."""
    # JAX compiles a program for every shape of its arrays. So that few shapes occur, sizes are rounded up and the arrays
    # filled up: rests with the slot that is always true, targets and rows with weight 0, which change no gradient.
    # Batches bound the memory: a step over all rests at once would hold runs * room * rests cells.
    factors = factor(workload, rows)
    full = roomy(len(factors.rests))
    size = min(full, max(MOST_CELLS // (runs * room), 1))
    batches = -(-full // size)
    slots = np.full((batches * size, factors.rests.shape[1]), workload.always, np.int32)
    slots[: len(factors.rests)] = factors.rests
    targets, weights = np.zeros((2, batches * size, len(factors.pivots)), np.float32)
    np.add.at(weights, (factors.row, factors.place), 1)
    np.add.at(targets, (factors.row, factors.place), np.asarray(counts) / rows)
    targets /= np.maximum(weights, 1)
    share = np.zeros(room, np.float32)
    share[:rows] = 1 / rows
    return Problem(
        tuple(map(jnp.asarray, workload.sets)),
        jnp.asarray(slots.reshape(batches, size, -1)),
        jnp.asarray(factors.pivots),
        jnp.asarray(targets.reshape(batches, size, -1)),
        jnp.asarray(weights.reshape(batches, size, -1)),
        jnp.asarray(share),
        jnp.int32(len(factors.rests)),
    )


def _rests_per_step(problem: Problem, queries: int, per_step: int) -> int:
    """As many rests that a step takes about as many queries as wanted; all of them where there are no more."""
    everything = problem.slots.shape[0] * problem.slots.shape[1]
    return everything if per_step >= queries else max(round(per_step * int(problem.rests) / queries), 1)


def _start(domain: Domain, start: Codes, rows: int, room: int, runs: int) -> Indices:
    """The start of each run as places of codes, filled up to the room."""
    if start.ndim not in (2, 3) or start.shape[-2] != rows or (start.ndim == 3 and len(start) != runs):
        raise DataError(
            f"a start of shape {start.shape} for {runs} runs of {rows} rows: give (rows, columns) or (runs, rows, columns); "
            "draw as many rows from the baseline as the block has"
        )
    places = np.broadcast_to(place_codes(domain, start, "the start"), (runs, rows, start.shape[-1]))
    filled = np.zeros((runs, room, start.shape[-1]), np.int32)
    filled[:, :rows] = places
    return filled


def make_keys(seeds: Sequence[int]) -> jax.Array:
    """A random stream per run, from all 64 bits of its seed."""
    words = [[seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF] for seed in map(int, seeds)]
    keys: jax.Array = jax.random.wrap_key_data(jnp.asarray(np.array(words, np.uint32)), impl="threefry2x32")
    return keys
