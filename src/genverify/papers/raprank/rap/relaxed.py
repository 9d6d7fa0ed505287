"""The relaxed dataset: a distribution over the codes of every cell, on which counting queries are differentiable."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def columns_of(sizes: Sequence[int], values: jax.Array) -> list[jax.Array]:
    """The codes of each column, of an array whose first axis is all codes."""
    ends = [sum(sizes[:place]) for place in range(1, len(sizes))]
    return jnp.split(values, ends)


def probabilities(sizes: Sequence[int], logits: jax.Array) -> jax.Array:
    """The softmax of every column, laid out as the logits: (codes, runs, rows)."""
    column = np.repeat(np.arange(len(sizes)), sizes)
    # Over all columns at once: a softmax for each of them would take four times as long to compile.
    total = partial(jax.ops.segment_sum, segment_ids=column, num_segments=len(sizes), indices_are_sorted=True)
    highest = jax.ops.segment_max(jax.lax.stop_gradient(logits), column, len(sizes), indices_are_sorted=True)
    weights = jnp.exp(logits - highest[column])
    chances: jax.Array = weights / total(weights)[column]
    return chances


def clause_sums(sizes: Sequence[int], sets: Sequence[jax.Array], chances: jax.Array) -> jax.Array:
    """The probability of every clause in every row (clauses, runs, rows), numbered as in the workload."""
    shape = (-1, *chances.shape[1:])
    columns = columns_of(sizes, chances.reshape(len(chances), -1))
    sums = [(inside @ column).reshape(shape) for inside, column in zip(sets, columns, strict=True) if len(inside)]
    return jnp.concatenate([chances, jnp.ones_like(chances[:1]), *sums])


def _written_down(values: jax.Array) -> jax.Array:
    """The same values, which XLA has to compute once and keep."""
    kept: jax.Array = jax.lax.optimization_barrier(values)  # type: ignore[no-untyped-call]
    return kept


def _held(clauses: jax.Array, slots: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Where the clauses of every rest stand in one flat list of (clause, run), and their probabilities, slot by slot."""
    runs, _, width = slots.shape
    places = (slots.transpose(2, 0, 1) * runs + jnp.arange(runs, dtype=slots.dtype)[:, None]).reshape(width, -1)
    return places, clauses.reshape(-1, clauses.shape[-1]).at[places].get(mode="promise_in_bounds")


@jax.custom_vjp
def products(clauses: jax.Array, slots: jax.Array) -> jax.Array:
    """The probability of every rest in every row: `slots` is (runs, rests, width), the answer (runs, rests, rows)."""
    return jnp.prod(_held(clauses, slots)[1], axis=0).reshape(*slots.shape[:2], -1)


def _products_forward(clauses: jax.Array, slots: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return products(clauses, slots), (clauses, slots)


def _products_backward(saved: tuple[jax.Array, jax.Array], above: jax.Array) -> tuple[jax.Array, None]:
    """
    The gradient by hand: each factor's is the product of the others.

    XLA would compute these products again for every place that it scatters them to, which takes twelve times as long; the
    barrier makes it write them down first.
    """
    clauses, slots = saved
    places, held = _held(clauses, slots)
    before, after = [above.reshape(held[0].shape)], [jnp.ones_like(held[0])]
    for slot in range(len(held) - 1):
        before.append(before[-1] * held[slot])
        after.append(after[-1] * held[-1 - slot])
    parts = _written_down(jnp.stack([b * a for b, a in zip(before, after[::-1], strict=True)]))
    flat = jnp.zeros((clauses.shape[0] * clauses.shape[1], clauses.shape[2]), clauses.dtype)
    return flat.at[places].add(parts, mode="promise_in_bounds").reshape(clauses.shape), None


products.defvjp(_products_forward, _products_backward)


def answers(clauses: jax.Array, slots: jax.Array, pivots: jax.Array, counted: jax.Array) -> jax.Array:
    """
    The count of every query of a table: the sum over rows of the product of its clauses; (runs, rests, pivots).

    `counted` is 1 for a row, or 0 for one that only fills up the array. A single pivot is the clause that always holds.
    """
    product = products(clauses, slots)
    if len(pivots) == 1:
        return (product @ counted)[..., None]
    last = clauses.at[pivots].get(mode="promise_in_bounds") * counted
    return jnp.einsum("krn,vkn->krv", product, last)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def sum_blocks(rests: jax.Array, pivots: jax.Array, block: jax.Array, blocks: int) -> jax.Array:
    """The sum over the rows of every block (ascending) of rests (rows, R) times pivots (rows, V): (blocks, R, V)."""
    cells = (rests[:, :, None] * pivots[:, None, :]).reshape(len(block), -1)
    sums = jax.ops.segment_sum(cells, block, blocks, indices_are_sorted=True)
    return sums.reshape(blocks, rests.shape[1], pivots.shape[1])


def _sum_forward(rests: jax.Array, pivots: jax.Array, block: jax.Array, blocks: int) -> tuple[jax.Array, Any]:
    return sum_blocks(rests, pivots, block, blocks), (rests, pivots, block)


def _sum_backward(_: int, saved: tuple[jax.Array, ...], above: jax.Array) -> tuple[jax.Array, jax.Array, None]:
    """By hand for the same reason as the products: what a row's block wants is looked up once, not for every cell."""
    rests, pivots, block = saved
    wanted = _written_down(above.at[block].get(mode="promise_in_bounds"))
    return jnp.einsum("nrv,nv->nr", wanted, pivots), jnp.einsum("nrv,nr->nv", wanted, rests), None


sum_blocks.defvjp(_sum_forward, _sum_backward)


def block_answers(clauses: jax.Array, slots: jax.Array, pivots: jax.Array, block: jax.Array, blocks: int) -> jax.Array:
    """
    The counts of every block, whose rows are known: (runs, blocks, rests, pivots).

    `block` says in which block each row is, in ascending order; rows that only fill up the array are in the block after
    the last one. A query about a block sums over its rows only, so that all blocks together cost one pass over the rows.
    """
    product = products(clauses, slots).transpose(0, 2, 1)
    runs, rows, rests = product.shape
    last = clauses.at[pivots].get(mode="promise_in_bounds").transpose(1, 2, 0)
    places = (jnp.arange(runs, dtype=block.dtype)[:, None] * (blocks + 1) + block).ravel()
    flat = product.reshape(runs * rows, rests), last.reshape(runs * rows, -1)
    return sum_blocks(*flat, places, runs * (blocks + 1)).reshape(runs, blocks + 1, rests, -1)[:, :blocks]
