"""Stochastic gradient descent on the relaxed dataset: Adam on random minibatches of queries, all runs side by side."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]

from genverify.papers.raprank.rap.relaxed import answers, clause_sums, probabilities

Sizes = tuple[int, ...]


class Problem(NamedTuple):
    """What is asked, as arrays: the sets of codes, the queries as rests and pivots, their answers, the rows' weights."""

    sets: tuple[jax.Array, ...]
    slots: jax.Array  # (batches, rests of a batch, width)
    pivots: jax.Array  # (pivots,)
    targets: jax.Array  # (batches, rests of a batch, pivots): the published fractions
    weights: jax.Array  # as the targets: how many queries ask for it, mostly 1 or 0
    share: jax.Array  # (rows,)
    rests: jax.Array  # how many rests there are, those that fill up a batch left out


class Pace(NamedTuple):
    """The settings that are numbers to the compiled program: another value does not compile it again."""

    learning_rate: jax.Array
    steps: jax.Array
    tolerance: jax.Array
    check_every: jax.Array
    patience: jax.Array


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


def loss(logits: jax.Array, sizes: Sizes, problem: Problem, chosen: jax.Array) -> jax.Array:
    """The squared error of the chosen rests (runs, number), in rows (so that Adam's epsilon is small), over all runs."""
    clauses = clause_sums(sizes, problem.sets, probabilities(sizes, logits))
    whole = (problem.slots, problem.targets, problem.weights)
    slots, targets, weights = (part.reshape(-1, part.shape[-1])[chosen] for part in whole)
    difference = (answers(clauses, slots, problem.pivots, problem.share) - targets) / problem.share[0]
    return (weights * difference**2).mean(axis=1).sum()


@partial(jax.jit, static_argnums=0)
def errors_of(sizes: Sizes, problem: Problem, chances: jax.Array) -> jax.Array:
    """The error of every run over all queries: root mean square, as a fraction of the rows; a batch of rests at a time."""
    clauses = clause_sums(sizes, problem.sets, chances)
    runs = chances.shape[1]

    def squares(batch: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
        slots, targets, weights = batch
        own = jnp.broadcast_to(slots, (runs, *slots.shape))
        return (weights * (answers(clauses, own, problem.pivots, problem.share) - targets) ** 2).sum(axis=(1, 2))

    total = jax.lax.map(squares, (problem.slots, problem.targets, problem.weights)).sum(axis=0)
    return jnp.sqrt(total / problem.weights.sum())


def _check(sizes: Sizes, problem: Problem, pace: Pace, state: State) -> State:
    """Which runs go on: those with an error above the tolerance that fell not too long ago."""
    error = errors_of(sizes, problem, probabilities(sizes, state.logits))
    stale = jnp.where(error < state.best, 0, state.stale + 1)
    running = state.running & (error > pace.tolerance) & (stale < pace.patience)
    return state._replace(best=jnp.minimum(error, state.best), stale=stale, running=running)


def _advance(sizes: Sizes, number: int, problem: Problem, pace: Pace, keys: jax.Array, state: State) -> State:
    """A few steps of every run that goes on; a step takes all rests where it may take as many as there are."""
    most = problem.slots.shape[0] * problem.slots.shape[1]
    everything = jnp.broadcast_to(jnp.arange(most), (len(keys), most))
    adam = optax.scale_by_adam()

    def step(place: jax.Array, carry: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        logits, moments = carry
        chosen = everything if number >= most else draw_rests(keys, place, number, problem.rests)
        gradient = jax.grad(loss)(logits, sizes, problem, chosen)
        update, moments = adam.update(gradient, moments)
        return logits - pace.learning_rate * state.running[:, None] * update, moments

    last = jnp.minimum(state.step + pace.check_every, pace.steps)
    logits, moments = jax.lax.fori_loop(state.step, last, step, (state.logits, state.adam))
    return state._replace(step=last, logits=logits, adam=moments, steps=jnp.where(state.running, last, state.steps))


@partial(jax.jit, static_argnums=(0, 1))
def descend(
    sizes: Sizes, number: int, problem: Problem, pace: Pace, keys: jax.Array, logits: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Every run from its start to where it stops: its probabilities (codes, runs, rows), and how many steps it took."""
    none = jnp.zeros(len(keys), jnp.int32)
    start = State(jnp.int32(0), logits, optax.scale_by_adam().init(logits), none + jnp.inf, none, none == 0, none)
    done = jax.lax.while_loop(
        lambda now: now.running.any() & (now.step < pace.steps),
        lambda now: _advance(sizes, number, problem, pace, keys, _check(sizes, problem, pace, now)),
        start,
    )
    return probabilities(sizes, done.logits), done.steps
