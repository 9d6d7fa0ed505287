"""The relaxed dataset: a distribution over the codes of every cell, on which counting queries are differentiable."""

from collections.abc import Sequence
from functools import partial

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


def answers(clauses: jax.Array, slots: jax.Array, pivots: jax.Array, share: jax.Array) -> jax.Array:
    """
    The fraction of rows in every query: the mean over rows of the product of its clauses; (runs, rests, pivots).

    `slots` is (runs, rests, width), `share` the weight of each row: 1/n, or 0 for a row that only fills up the array. A
    single pivot is the clause that always holds.
    """
    runs, rests, width = slots.shape
    # One gather from one flat list of (clause, run): XLA then scatters the gradient in one go as well, which is far faster.
    flat = clauses.reshape(-1, clauses.shape[-1])
    places = slots.transpose(2, 0, 1) * runs + jnp.arange(runs, dtype=slots.dtype)[:, None]
    held = flat.at[places.reshape(width, -1)].get(mode="promise_in_bounds")
    product = held[0]
    for slot in range(1, width):
        product = product * held[slot]
    if len(pivots) == 1:
        return (product @ share).reshape(runs, rests, 1)
    last = clauses.at[pivots].get(mode="promise_in_bounds") * share
    return jnp.einsum("krn,vkn->krv", product.reshape(runs, rests, -1), last)
