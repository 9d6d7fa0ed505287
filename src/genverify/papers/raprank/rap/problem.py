"""What RAP is asked, as arrays: the tables of an area and of its blocks, filled up so that few shapes occur."""

from collections.abc import Sequence
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Ints
from genverify.core.errors import DataError
from genverify.papers.raprank.blocks import BlockCounts
from genverify.papers.raprank.rap.layout import Layout, lay_out
from genverify.papers.raprank.rap.optimise import Problem, Table
from genverify.papers.raprank.rap.workload import Workload, room_for, roomy

MOST_CELLS = 4_000_000  # of an array with an entry per query, run and row: what a batch of queries may take
CELLS_AT_ONCE = 400_000  # of the relaxed datasets of the runs that go side by side: more of them do not fit into a cache
COPIES = 12  # of a relaxed dataset: logits, moments, gradients, probabilities and what lies between them
MEGABYTE = 2**20


def runs_at_once(runs: int, codes: int, room: int) -> int:
    """How many of the runs go side by side: they are dealt out evenly."""
    most = max(min(CELLS_AT_ONCE // (codes * room), runs), 1)
    return -(-runs // -(-runs // most))


def check_memory(rows: int, codes: int, counts: int, most: int) -> None:
    """An error where a run would take more than `most` megabytes: relaxed datasets, a batch of queries, published counts."""
    needed = 4 * (COPIES * room_for(rows) * codes + 3 * MOST_CELLS + 3 * counts) // MEGABYTE
    if needed > most:
        raise DataError(
            f"{rows:,} rows with {codes:,} codes and {counts:,} published counts take about {needed:,} MB, more "
            f"than raprank.rap.memory = {most:,}. Raise it if the machine has as much, or set a `limit` of the experiment."
        )


def make_problem(
    workload: Workload, counts: Ints, rows: int, room: int, runs: int, blocks: BlockCounts | None = None
) -> Problem:
    """
    The arrays that the optimiser takes; the slots of the workload are the queries of the area, then those of a block.

    JAX compiles a program for every shape of its arrays. So that few shapes occur, sizes are rounded up and the arrays
    filled up: rests with the slot that is always true, targets and rows with weight 0, which change no gradient. Batches
    bound the memory: all rests at once would hold runs * room * rests cells.
    """
    own = replace(workload, slots=workload.slots[: len(counts)])
    tables = [_table(workload, layout, np.asarray(counts), room * runs) for layout in lay_out(own, rows)]
    counted, place, of_blocks = np.zeros(room, np.float32), np.zeros(room, np.int32), []
    counted[:rows] = 1
    if blocks is not None:
        full = np.zeros((roomy(len(blocks.sizes)), len(blocks.predicates)), np.float32)
        full[: len(blocks.sizes)] = blocks.counts
        place[:] = len(full)
        place[:rows] = blocks.places
        asked = replace(workload, slots=workload.slots[len(counts) :])
        of_blocks = [_block_table(workload, layout, full, room * runs) for layout in lay_out(asked, rows)]
    return Problem(
        tuple(map(jnp.asarray, workload.sets)), tuple(tables), tuple(of_blocks), jnp.asarray(counted), jnp.asarray(place)
    )


def _table(workload: Workload, layout: Layout, counts: Ints, cells: int) -> Table:
    batches, slots, weights = _batches(workload, layout, cells)
    targets = np.zeros_like(weights)
    np.add.at(targets, (layout.row, layout.place), counts[layout.queries])
    targets /= np.maximum(weights, 1)
    return _in_batches(batches, slots, layout, targets, weights)


def _block_table(workload: Workload, layout: Layout, counts: npt.NDArray[np.float32], cells: int) -> Table:
    batches, slots, weights = _batches(workload, layout, cells * len(layout.pivots))
    targets = np.zeros((len(slots), len(counts), len(layout.pivots)), np.float32)
    # Two queries that ask the same have the same count, so that either may stand here.
    targets[layout.row, :, layout.place] = counts[:, layout.queries].T
    return _in_batches(batches, slots, layout, targets, weights)


def _batches(workload: Workload, layout: Layout, cells: int) -> tuple[int, npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """The number of batches, and the slots and weights of all rests, filled up to whole batches."""
    full = roomy(len(layout.rests))
    size = min(full, max(MOST_CELLS // cells, 1))
    batches = -(-full // size)
    slots = np.full((batches * size, layout.rests.shape[1]), workload.always, np.int32)
    slots[: len(layout.rests)] = layout.rests
    weights = np.zeros((batches * size, len(layout.pivots)), np.float32)
    np.add.at(weights, (layout.row, layout.place), 1)
    return batches, slots, weights


def _in_batches(batches: int, slots: npt.NDArray[np.int32], layout: Layout, *parts: npt.NDArray[np.float32]) -> Table:
    targets, weights = (jnp.asarray(part.reshape(batches, -1, *part.shape[1:])) for part in parts)
    return Table(
        jnp.asarray(slots.reshape(batches, -1, slots.shape[1])), jnp.asarray(layout.pivots), targets, weights,
        jnp.int32(len(layout.rests)),
    )  # fmt: skip


def rests_per_step(problem: Problem, share: float, cells: int) -> tuple[int, ...]:
    """How many rests of each table a step takes: a share of them, and no more than fit into a batch."""
    found = []
    for table, wide in [*((t, 1) for t in problem.tables), *((t, len(t.pivots)) for t in problem.block_tables)]:
        rests, most = int(table.rests), max(MOST_CELLS // (cells * wide), 1)
        whole = table.slots.shape[0] * table.slots.shape[1]
        wanted = whole if share >= 1 else max(round(share * rests), 1)
        found.append(wanted if wanted <= most else min(most, rests))
    return tuple(found)


def pad_runs(seeds: Sequence[int], at_once: int) -> list[list[int]]:
    """The seeds in groups of one size; the last one is filled up with its first seed, so that it needs no other program."""
    groups = [list(seeds[first : first + at_once]) for first in range(0, len(seeds), at_once)]
    groups[-1] += [groups[-1][0]] * (at_once - len(groups[-1]))
    return groups
