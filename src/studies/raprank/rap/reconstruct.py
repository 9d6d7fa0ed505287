"""RAP on published counts: K runs that reconstruct a dataset each."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Ints
from genverify.model.domain import Domain, Predicate
from genverify.model.errors import ConfigError, DataError, ReleaseError
from genverify.model.work import derive_seed
from studies.raprank.areas import BlockCounts
from studies.raprank.rap.relaxed import (
    MEGABYTE,
    PACE,
    Floats,
    Indices,
    Pace,
    Problem,
    Workload,
    build_workload,
    check_memory,
    code_positions,
    descend,
    errors_of,
    logits_at,
    make_problem,
    one_hot,
    pad_runs,
    random_logits,
    rests_per_step,
    room_for,
    round_rows,
    runs_at_once,
)
from studies.raprank.settings import RapSettings

Codes = npt.NDArray[np.int64]
Errors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Reconstruction:
    """
    K datasets (K, rows, columns) as codes of the domain, the errors of each before and after rounding, and its steps.

    An error is the root of the squared differences of all counts, per row: ||Q(D') - Q(D)|| / sqrt(rows). Where the
    blocks are known, the last column is the place of a row's block.
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
    domain: Domain, predicates: Sequence[Predicate], counts: Ints, rows: int, seeds: Sequence[int], settings: RapSettings,
    start: Codes | None = None, blocks: BlockCounts | None = None,
) -> Reconstruction:  # fmt: skip
    """
    One dataset of `rows` rows per seed, whose counts of the predicates come near the given ones.

    With `blocks` each block is given its published number of rows: whatever dataset fits the counts, its rows can be put
    into that order. What is learned are the other columns. A start then has to be in the order of the blocks.
    """
    _check_counts(predicates, counts, rows)
    if not len(seeds):
        raise ConfigError("K = 0: RAP-RANK needs at least one run; give as many seeds as runs")
    asked = tuple(predicates) + (blocks.predicates if blocks else ())
    published = len(predicates) + (blocks.counts.size if blocks else 0)
    check_memory(settings.rows or rows, sum(len(column.codes) for column in domain.columns), published, settings.memory)
    relaxed_rows, draws = settings.rows or rows, settings.draws or settings.rows or rows
    _check_draws(len(seeds) * draws * len(domain.columns), draws, settings.memory)
    workload, room = build_workload(domain, asked), room_for(relaxed_rows)
    at_once = runs_at_once(len(seeds), workload.codes, room)
    problem = make_problem(workload, np.asarray(counts) * (relaxed_rows / rows), relaxed_rows, room, at_once, blocks)
    numbers = rests_per_step(problem, settings.share, at_once * room)
    indices = None if start is None else _start(domain, np.asarray(start), relaxed_rows, room, len(seeds))
    pace = {name: jnp.asarray(value) for name, value in settings.model_dump(include=PACE).items()}
    result = []
    for group, entry in enumerate(pad_runs(seeds, at_once)):
        if indices is None:
            logits = random_logits(entry, workload.codes, relaxed_rows, room, settings.spread)
        else:
            chosen = np.minimum(np.arange(at_once) + group * at_once, len(seeds) - 1)
            logits = logits_at(workload.sizes, indices[chosen], settings.certainty)
        result.append(_run(workload, numbers, problem, pace, entry, logits, (relaxed_rows, draws)))
    datasets, relaxed, rounded, steps = (np.concatenate(part)[: len(seeds)] for part in zip(*result, strict=True))
    scale = np.sqrt(np.float32(rows / relaxed_rows))  # errors of scaled counts, as errors of the published ones per row
    return Reconstruction(_coded(domain, datasets, blocks), relaxed * scale, rounded * scale, steps.astype(np.int64))


def _run(
    workload: Workload, numbers: tuple[int, ...], problem: Problem, pace: Pace, seeds: Sequence[int],
    logits: Floats, shape: tuple[int, int],
) -> tuple[Indices, Errors, Errors, Ints]:  # fmt: skip
    """Some runs side by side: their rows as places of codes, their errors before and after rounding, their steps."""
    chances, steps = descend(workload.sizes, numbers, problem, pace, _make_keys(seeds), logits)
    rows, draws = shape
    turns = range(-(-draws // rows))
    passes = [[derive_seed(seed, "again", str(turn)) if turn else seed for seed in seeds] for turn in turns]
    drawn = [round_rows(each, workload.sizes, np.asarray(chances)) for each in passes]
    relaxed, rounded = (errors_of(workload.sizes, problem, whole) for whole in (chances, one_hot(workload.sizes, drawn[0])))
    indices = np.concatenate([each[:, :rows] for each in drawn], axis=1)[:, :draws]
    return indices, np.asarray(relaxed), np.asarray(rounded), np.asarray(steps)


def _coded(domain: Domain, indices: Indices, blocks: BlockCounts | None) -> Codes:
    columns = [np.asarray(column.codes, np.int64)[indices[..., c]] for c, column in enumerate(domain.columns)]
    if blocks is not None:
        columns.append(np.broadcast_to(blocks.block_of_row.astype(np.int64), indices.shape[:2]))
    return np.stack(columns, axis=-1)


def _check_draws(codes: int, draws: int, most: int) -> None:
    """The rows of all runs are held at once, each code in eight bytes."""
    needed = 8 * codes // MEGABYTE
    if needed > most:
        raise DataError(
            f"{draws:,} draws of every run take about {needed:,} MB, more than raprank.rap.memory = {most:,}. "
            "Lower raprank.rap.draws or the runs, or raise the memory if the machine has as much."
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


def _start(domain: Domain, start: Codes, rows: int, room: int, runs: int) -> Indices:
    if start.ndim not in (2, 3) or start.shape[-2] != rows or (start.ndim == 3 and len(start) != runs):
        raise DataError(
            f"a start of shape {start.shape} for {runs} runs of {rows} rows: give (rows, columns) or (runs, rows, columns); "
            "draw as many rows from the baseline as the block has"
        )
    indices = np.broadcast_to(code_positions(domain, start, "the start"), (runs, rows, start.shape[-1]))
    filled = np.zeros((runs, room, start.shape[-1]), np.int32)
    filled[:, :rows] = indices
    return filled


def _make_keys(seeds: Sequence[int]) -> jax.Array:
    """A random stream per run, from all 64 bits of its seed."""
    words = [[seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF] for seed in map(int, seeds)]
    keys: jax.Array = jax.random.wrap_key_data(jnp.asarray(np.array(words, np.uint32)), impl="threefry2x32")
    return keys
