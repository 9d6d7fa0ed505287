"""Stochastic gradient descent on the relaxed dataset: Adam on random minibatches of queries, all runs side by side."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]

from genverify.rap.relaxed import answers, clause_sums, errors, probabilities

Sizes = tuple[int, ...]


class Problem(NamedTuple):
    """What is asked, as arrays: the sets of codes, the queries in batches, their answers, the weight of each row."""

    sets: tuple[jax.Array, ...]
    slots: jax.Array  # (batches, queries of a batch, width)
    targets: jax.Array  # (batches, queries of a batch)
    share: jax.Array  # (rows,)
    asked: jax.Array  # how many queries there are, those that fill up a batch left out


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


def draw_queries(keys: jax.Array, step: jax.Array, queries: int, asked: jax.Array) -> jax.Array:
    """Random queries of every run for one step (runs, queries), with replacement."""

    def draw(key: jax.Array) -> jax.Array:
        bits = jax.random.bits(jax.random.fold_in(key, step), (queries,))
        return (bits % asked.astype(jnp.uint32)).astype(jnp.int32)

    return jax.vmap(draw)(keys)


def loss(logits: jax.Array, sizes: Sizes, problem: Problem, slots: jax.Array, targets: jax.Array) -> jax.Array:
    """The squared error of the chosen queries, in rows (so that Adam's epsilon is small beside it), over all runs."""
    clauses = clause_sums(sizes, problem.sets, probabilities(sizes, logits))
    difference = (answers(clauses, slots, problem.share) - targets) / problem.share[0]
    return (difference**2).mean(axis=1).sum()


@partial(jax.jit, static_argnums=0)
def errors_of(sizes: Sizes, problem: Problem, chances: jax.Array) -> jax.Array:
    """The error of every run over all queries: root mean square, as a fraction of the rows."""
    clauses = clause_sums(sizes, problem.sets, chances)
    return errors(clauses, problem.slots, problem.targets, problem.share, problem.asked)


def _check(sizes: Sizes, problem: Problem, pace: Pace, state: State) -> State:
    """Which runs go on: those with an error above the tolerance that fell not too long ago."""
    error = errors_of(sizes, problem, probabilities(sizes, state.logits))
    stale = jnp.where(error < state.best, 0, state.stale + 1)
    running = state.running & (error > pace.tolerance) & (stale < pace.patience)
    return state._replace(best=jnp.minimum(error, state.best), stale=stale, running=running)


def _advance(sizes: Sizes, queries: int, problem: Problem, pace: Pace, keys: jax.Array, state: State) -> State:
    """A few steps of every run that goes on; a step takes all queries where it may take as many as there are."""
    slots, targets = problem.slots.reshape(-1, problem.slots.shape[-1]), problem.targets.reshape(-1)
    everything = jnp.broadcast_to(jnp.arange(len(targets)), (len(keys), len(targets)))
    adam = optax.scale_by_adam()

    def step(number: jax.Array, carry: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        logits, moments = carry
        chosen = everything if queries >= len(targets) else draw_queries(keys, number, queries, problem.asked)
        gradient = jax.grad(loss)(logits, sizes, problem, slots[chosen], targets[chosen])
        update, moments = adam.update(gradient, moments)
        return logits - pace.learning_rate * state.running[:, None] * update, moments

    last = jnp.minimum(state.step + pace.check_every, pace.steps)
    logits, moments = jax.lax.fori_loop(state.step, last, step, (state.logits, state.adam))
    return state._replace(step=last, logits=logits, adam=moments, steps=jnp.where(state.running, last, state.steps))


@partial(jax.jit, static_argnums=(0, 1))
def descend(
    sizes: Sizes, queries: int, problem: Problem, pace: Pace, keys: jax.Array, logits: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Every run from its start to where it stops: its probabilities (codes, runs, rows), and how many steps it took."""
    none = jnp.zeros(len(keys), jnp.int32)
    start = State(jnp.int32(0), logits, optax.scale_by_adam().init(logits), none + jnp.inf, none, none == 0, none)
    done = jax.lax.while_loop(
        lambda now: now.running.any() & (now.step < pace.steps),
        lambda now: _advance(sizes, queries, problem, pace, keys, _check(sizes, problem, pace, now)),
        start,
    )
    return probabilities(sizes, done.logits), done.steps
