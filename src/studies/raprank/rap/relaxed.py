"""Stochastic gradient descent on the relaxed dataset: Adam on random minibatches of queries, some runs side by side."""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]

from genverify.papers.raprank.rap.relaxed import answers, block_answers, clause_sums, probabilities

Sizes = tuple[int, ...]
Numbers = tuple[int, ...]


class Table(NamedTuple):
    """A table of queries about the area, or about each of its blocks; their published counts and how many ask for each."""

    slots: jax.Array  # (batches, rests of a batch, width)
    pivots: jax.Array  # (pivots,)
    targets: jax.Array  # (batches, rests of a batch, pivots), of blocks (batches, rests of a batch, blocks, pivots)
    weights: jax.Array  # (batches, rests of a batch, pivots): mostly 1 or 0
    rests: jax.Array  # how many rests there are, those that fill up a batch left out


class Problem(NamedTuple):
    """What is asked, as arrays: the sets of codes, the tables of the area and of its blocks, and the rows."""

    sets: tuple[jax.Array, ...]
    tables: tuple[Table, ...]
    block_tables: tuple[Table, ...]
    counted: jax.Array  # (rows,): 1, or 0 for a row that fills up the array
    block: jax.Array  # (rows,): where each row is, if the blocks are known


class Pace(NamedTuple):
    """The settings that are numbers to the compiled program: another value does not compile it again."""

    learning_rate: jax.Array
    steps: jax.Array
    tolerance: jax.Array
    check_every: jax.Array
    patience: jax.Array
    gain: jax.Array


class State(NamedTuple):
    """Where every run stands: its logits, its optimiser, the smallest error seen and how long ago, whether it goes on."""

    step: jax.Array
    logits: jax.Array
    adam: Any
    best: jax.Array
    stale: jax.Array
    running: jax.Array
    steps: jax.Array


def draw_rests(keys: jax.Array, step: jax.Array, number: int, rests: jax.Array) -> jax.Array:
    """Random rests of every run for one step (runs, number), with replacement; each brings the queries of its pivots."""

    def draw(key: jax.Array) -> jax.Array:
        bits = jax.random.bits(jax.random.fold_in(key, step), (number,))
        return (bits % rests.astype(jnp.uint32)).astype(jnp.int32)

    return jax.vmap(draw)(keys)


def _choose(table: Table, keys: jax.Array, step: jax.Array, number: int) -> jax.Array:
    """The rests of a table that a step takes; all of them, where it may take as many as there are."""
    most = table.slots.shape[0] * table.slots.shape[1]
    everything = jnp.broadcast_to(jnp.arange(most), (len(keys), most))
    return everything if number >= most else draw_rests(keys, step, number, table.rests)


def _tables(problem: Problem) -> Iterator[tuple[Table, bool]]:
    """Every table, and whether it is about blocks."""
    yield from ((table, False) for table in problem.tables)
    yield from ((table, True) for table in problem.block_tables)


def _squares(problem: Problem, of_blocks: bool, clauses: jax.Array, table: Table) -> jax.Array:
    """The squared error of every run over some rests: slots (runs, rests, width), targets and weights of the same rests."""
    if not of_blocks:
        off = answers(clauses, table.slots, table.pivots, problem.counted) - table.targets
        return (table.weights * off**2).sum(axis=(1, 2))
    blocks = table.targets.shape[2]
    counts = block_answers(clauses, table.slots, table.pivots, problem.block, blocks)
    off = counts - table.targets.transpose(0, 2, 1, 3)
    return (table.weights[:, None] * off**2).sum(axis=(1, 2, 3))


def loss(logits: jax.Array, sizes: Sizes, problem: Problem, chosen: tuple[jax.Array, ...]) -> jax.Array:
    """The squared error of the chosen rests of every table (runs, number), scaled to all rests, per row, over all runs."""
    clauses = clause_sums(sizes, problem.sets, probabilities(sizes, logits))
    total = jnp.zeros(())
    for (table, of_blocks), own in zip(_tables(problem), chosen, strict=True):
        parts = (part.reshape(-1, *part.shape[2:])[own] for part in (table.slots, table.targets, table.weights))
        slots, targets, weights = parts
        taken = table._replace(slots=slots, targets=targets, weights=weights)
        drawn = own.shape[1] < table.slots.shape[0] * table.slots.shape[1]
        total += _squares(problem, of_blocks, clauses, taken).sum() * (table.rests / own.shape[1] if drawn else 1)
    per_row: jax.Array = total / problem.counted.sum()
    return per_row


@partial(jax.jit, static_argnums=0)
def errors_of(sizes: Sizes, problem: Problem, chances: jax.Array) -> jax.Array:
    """The error of every run over all queries: the root of the squared differences of counts per row; in batches."""
    clauses = clause_sums(sizes, problem.sets, chances)
    runs = chances.shape[1]
    total = jnp.zeros(runs)
    for table, of_blocks in _tables(problem):

        def squares(batch: Any, table: Table = table, of_blocks: bool = of_blocks) -> jax.Array:
            slots, targets, weights = (jnp.broadcast_to(part, (runs, *part.shape)) for part in batch)
            return _squares(problem, of_blocks, clauses, table._replace(slots=slots, targets=targets, weights=weights))

        total += jax.lax.map(squares, (table.slots, table.targets, table.weights)).sum(axis=0)
    return jnp.sqrt(total / problem.counted.sum())


def _check(sizes: Sizes, problem: Problem, pace: Pace, state: State) -> State:
    """Which runs go on: those with an error above the tolerance that fell enough not too long ago."""
    error = errors_of(sizes, problem, probabilities(sizes, state.logits))
    better = error < (1 - pace.gain) * state.best
    stale = jnp.where(better, 0, state.stale + 1)
    running = state.running & (error > pace.tolerance) & (stale < pace.patience)
    return state._replace(best=jnp.where(better, error, state.best), stale=stale, running=running)


def _advance(sizes: Sizes, numbers: Numbers, problem: Problem, pace: Pace, keys: jax.Array, state: State) -> State:
    """A few steps of every run that goes on."""
    adam = optax.scale_by_adam()

    def step(place: jax.Array, carry: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        logits, moments = carry
        tables = (_tables(problem), numbers)
        # every table has draws of its own: a number of their own among the numbers of all steps
        draws = (place * len(numbers) + own for own in range(len(numbers)))
        chosen = tuple(_choose(table, keys, draw, number) for (table, _), number, draw in zip(*tables, draws, strict=True))
        gradient = jax.grad(loss)(logits, sizes, problem, chosen)
        update, moments = adam.update(gradient, moments)
        return logits - pace.learning_rate * state.running[:, None] * update, moments

    last = jnp.minimum(state.step + pace.check_every, pace.steps)
    logits, moments = jax.lax.fori_loop(state.step, last, step, (state.logits, state.adam))
    return state._replace(step=last, logits=logits, adam=moments, steps=jnp.where(state.running, last, state.steps))


@partial(jax.jit, static_argnums=(0, 1))
def descend(
    sizes: Sizes, numbers: Numbers, problem: Problem, pace: Pace, keys: jax.Array, logits: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Every run from its start to where it stops: its probabilities (codes, runs, rows), and how many steps it took."""
    none = jnp.zeros(len(keys), jnp.int32)
    start = State(jnp.int32(0), logits, optax.scale_by_adam().init(logits), none + jnp.inf, none, none == 0, none)
    done = jax.lax.while_loop(
        lambda now: now.running.any() & (now.step < pace.steps),
        lambda now: _advance(sizes, numbers, problem, pace, keys, _check(sizes, problem, pace, now)),
        start,
    )
    return probabilities(sizes, done.logits), done.steps
