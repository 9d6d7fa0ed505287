"""The relaxed dataset: a distribution over the codes of every cell, on which counting queries are differentiable."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp


def columns_of(sizes: Sequence[int], values: jax.Array) -> list[jax.Array]:
    """The codes of each column, of an array whose first axis is all codes."""
    ends = [sum(sizes[:place]) for place in range(1, len(sizes))]
    return jnp.split(values, ends)


def probabilities(sizes: Sequence[int], logits: jax.Array) -> jax.Array:
    """The softmax of every column, as the logits laid out (codes, runs, rows)."""
    return jnp.concatenate([jax.nn.softmax(column, axis=0) for column in columns_of(sizes, logits)])


def clause_sums(sizes: Sequence[int], sets: Sequence[jax.Array], chances: jax.Array) -> jax.Array:
    """The probability of every clause in every row (clauses, runs, rows), numbered as in the workload."""
    shape = (-1, *chances.shape[1:])
    columns = columns_of(sizes, chances.reshape(len(chances), -1))
    sums = [(inside @ column).reshape(shape) for inside, column in zip(sets, columns, strict=True) if len(inside)]
    return jnp.concatenate([chances, jnp.ones_like(chances[:1]), *sums])


def answers(clauses: jax.Array, slots: jax.Array, share: jax.Array) -> jax.Array:
    """
    The fraction of rows in every query: the mean over rows of the product of its clauses.

    `slots` is (runs, queries, width), `share` the weight of each row: 1/n, or 0 for a row that only fills up the array.
    """
    runs, queries, width = slots.shape
    # One flat list of (clause, run) keeps XLA's gather, and the scatter of its gradient, fast.
    flat = clauses.reshape(-1, clauses.shape[-1])
    places = slots * runs + jnp.arange(runs, dtype=slots.dtype)[:, None, None]
    product = flat[places[:, :, 0].reshape(-1)]
    for slot in range(1, width):
        product = product * flat[places[:, :, slot].reshape(-1)]
    return (product @ share).reshape(runs, queries)


def errors(clauses: jax.Array, slots: jax.Array, targets: jax.Array, share: jax.Array, asked: jax.Array) -> jax.Array:
    """The root mean square error of each run over all queries, as a fraction of the rows; one batch of queries at a time."""
    runs = clauses.shape[1]

    def squares(batch: tuple[jax.Array, jax.Array]) -> jax.Array:
        slots, targets = batch
        own = jnp.broadcast_to(slots, (runs, *slots.shape))
        return ((answers(clauses, own, share) - targets) ** 2).sum(axis=1)

    return jnp.sqrt(jax.lax.map(squares, (slots, targets)).sum(axis=0) / asked)
