"""The workload of RAP, and the relaxed dataset: a distribution over the codes of every cell, starts, what it is asked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import optax  # type: ignore[import-untyped]

from genverify.model.arrays import Ints, positions, row_keys
from genverify.model.domain import Domain, Predicate
from genverify.model.errors import DataError
from genverify.model.work import derive_seed
from studies.raprank.areas import BlockCounts

# A workload: counting queries as products of clauses, laid out as tables and arrays of indices.

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]


def _roomy(n: int) -> int:
    """The next number with at most three leading bits: so few sizes exist that most blocks share a compiled program."""
    step = 1 << max(int(n).bit_length() - 3, 0)
    return -(-n // step) * step


FEWEST_TABLE_ROWS, MANY_ROWS = 8, 512


def room_for(rows: int) -> int:
    """The rows that an area is filled up to: below 512 even fewer sizes, as compiling takes longer there than the rows."""
    if rows > MANY_ROWS:
        return _roomy(rows)
    step = 1 << max(int(rows).bit_length() - 2, 0)
    return max(-(-rows // step) * step, FEWEST_TABLE_ROWS)


@dataclass(frozen=True)
class Workload:
    """
    The distinct clauses of m queries, and which clauses each query multiplies.

    Clauses are numbered: every code of every column, then the clause that always holds, then the sets of codes, column by
    column. `sets` holds for every column a 0/1 matrix (its sets, its codes); rows of zeros fill it up. `slots` is
    (m, width): a query of few clauses is filled up with the one that always holds.
    """

    sizes: tuple[int, ...]
    sets: tuple[Floats, ...]
    slots: Indices

    @cached_property
    def codes(self) -> int:
        return sum(self.sizes)

    @cached_property
    def always(self) -> int:
        """The number of the clause that always holds."""
        return self.codes

    @cached_property
    def columns(self) -> Indices:
        """The column that each clause is about; -1 for the one that always holds."""
        numbers = np.arange(len(self.sizes), dtype=np.int32)
        sets = np.repeat(numbers, [len(inside) for inside in self.sets])
        return np.concatenate([np.repeat(numbers, self.sizes), np.array([-1], np.int32), sets])


def build_workload(domain: Domain, predicates: Sequence[Predicate]) -> Workload:
    """The workload of the predicates; an error if one speaks of a column or a code that is not in the domain."""
    result = sorted({clause for predicate in predicates for clause in predicate.clauses})
    for clause in result:
        domain.check(Predicate((clause,)), "a query")
    sizes = tuple(len(column.codes) for column in domain.columns)
    number, sets = _number_clauses(domain, result)
    width = max((len(predicate.clauses) for predicate in predicates), default=1) or 1
    slots = np.full((len(predicates), width), sum(sizes), np.int32)
    for row, predicate in zip(slots, predicates, strict=True):
        row[: len(predicate.clauses)] = [number[clause] for clause in predicate.clauses]
    return Workload(sizes, sets, slots)


Clause = tuple[str, tuple[int, ...]]


def _number_clauses(domain: Domain, clauses: Sequence[Clause]) -> tuple[dict[Clause, int], tuple[Floats, ...]]:
    number: dict[Clause, int] = {}
    sets = []
    always = sum(len(column.codes) for column in domain.columns)
    next_set, first = always + 1, 0
    for column in domain.columns:
        member = {codes: np.isin(column.codes, codes) for name, codes in clauses if name == column.name}
        part = [codes for codes, inside in member.items() if inside.sum() not in (1, len(inside))]
        for codes, inside in member.items():
            if codes not in part:
                number[column.name, codes] = always if inside.all() else first + int(np.argmax(inside))
        number |= {(column.name, codes): next_set + index for index, codes in enumerate(part)}
        matrix = np.zeros((_roomy(len(part)), len(column.codes)), np.float32)
        for index, codes in enumerate(part):
            matrix[index] = member[codes]
        sets.append(matrix)
        next_set, first = next_set + len(matrix), first + len(column.codes)
    return number, tuple(sets)


def code_positions(domain: Domain, codes: npt.NDArray[np.integer], what: str) -> Indices:
    """The place of each code among the codes of its column; `codes` ends in one axis of columns."""
    if codes.shape[-1] != len(domain.columns):
        raise DataError(f"{what} has {codes.shape[-1]} columns, the domain has {len(domain.columns)}: give the same columns")
    indices = np.empty(codes.shape, np.int32)
    for number, column in enumerate(domain.columns):
        part, known = codes[..., number], np.asarray(column.codes)
        order = np.argsort(known)
        at = positions(known[order], part)
        wrong = part[at < 0]
        if wrong.size:
            raise DataError(
                f"{what} holds {column.name}={wrong.flat[0]}, which is not a code of the domain (known: {known.tolist()})"
            )
        indices[..., number] = order[at]
    return indices


# Queries as tables: products of clauses (rests) times single clauses (pivots), so that a table is one matrix product.

FEWEST_ROWS = 64  # below, the matrices of a run are so small that XLA is slower with them than query by query
MATRIX_SPEED = 8  # multiplications of a matrix product in the time of one that gathers its factors
FEWEST_QUERIES = 64  # a table of fewer queries saves less than it costs to compile and to start
MOST_TABLES = 8  # marginals make one for every column: as one table with cells that nobody asks for a step takes a fifth


@dataclass(frozen=True)
class Layout:
    """
    Rests (R, width) and pivots (V,) as numbers of clauses; query `queries[i]` stands in the table at (row[i], column[i]).

    Queries that belong to no table of their own have the clause that always holds as their pivot: each is a rest.
    """

    rests: Indices
    pivots: Indices
    queries: Ints
    row: Ints
    column: Ints

    @property
    def work(self) -> float:
        """What it takes to answer every query, in products of gathered clauses."""
        return float(len(self.rests) * (self.rests.shape[1] + len(self.pivots) / MATRIX_SPEED))


def _lay_out(workload: Workload, rows: int) -> list[Layout]:
    """The tables with the least work: no pivot, or those of one column, or the last clause of every query as pivots."""
    everything = [_without_pivot(workload, np.arange(len(workload.slots)))]
    if rows < FEWEST_ROWS or workload.slots.shape[1] == 1:
        return everything
    choices = [everything, *(_pivot_tables(workload, taken) for taken in _candidates(workload))]
    return min(choices, key=lambda tables: sum(table.work for table in tables))


def _candidates(workload: Workload) -> Iterator[npt.NDArray[np.bool_]]:
    real = workload.slots != workload.always
    last = real.sum(axis=1) - 1
    yield real & (np.arange(real.shape[1]) == last[:, None])
    column = workload.columns[workload.slots]
    for number in range(len(workload.sizes)):
        if (column == number).any():
            yield column == number


def _pivot_tables(workload: Workload, taken: npt.NDArray[np.bool_]) -> list[Layout]:
    """Rests that are asked with the same pivots make a table; those of small tables stand together, without pivot."""
    pivot = np.where(taken.any(axis=1), workload.slots[np.arange(len(taken)), taken.argmax(axis=1)], workload.always)
    left = np.sort(np.where(taken, workload.always, workload.slots), axis=1)
    rest = np.unique(row_keys([left])[0], return_inverse=True)[1].ravel()
    kind = _kinds(rest, pivot)[rest]
    if kind.max() >= MOST_TABLES:
        kind[:] = 0
    result, single = [], []
    for number in range(kind.max() + 1):
        part = np.flatnonzero(kind == number)
        if len(part) < FEWEST_QUERIES:
            single.append(part)
        else:
            result.append(_pivot_table(workload, left[part], pivot[part], part))
    return result + ([_without_pivot(workload, np.sort(np.concatenate(single)))] if single else [])


def _kinds(rest: Ints, pivot: Indices) -> Ints:
    order = np.lexsort((pivot, rest))
    sets = np.split(pivot[order], np.flatnonzero(np.diff(rest[order])) + 1)
    number: dict[bytes, int] = {}
    return np.array([number.setdefault(np.unique(part).tobytes(), len(number)) for part in sets], dtype=np.int64)


def _pivot_table(workload: Workload, left: Indices, pivot: Indices, queries: Ints) -> Layout:
    _, first, row = np.unique(row_keys([left])[0], return_index=True, return_inverse=True)
    pivots, index = np.unique(pivot, return_inverse=True)
    return Layout(_narrow(workload, left[first]), pivots.astype(np.int32), queries, row.ravel(), index.ravel())


def _without_pivot(workload: Workload, queries: Ints) -> Layout:
    alone = np.zeros(len(queries), np.int64)
    rests = _narrow(workload, np.sort(workload.slots[queries], axis=1))
    return Layout(rests, np.array([workload.always], np.int32), queries, np.arange(len(queries)), alone)


def _narrow(workload: Workload, rests: Indices) -> Indices:
    needed = (rests != workload.always).any(axis=0)
    needed[0] |= not needed.any()
    return rests[:, needed].astype(np.int32)


# From datasets to relaxed datasets and back: random starts, starts at a dataset, and randomised rounding.


def random_logits(seeds: Sequence[int], codes: int, rows: int, room: int, spread: float) -> Floats:
    """A random start of every run (codes, runs, room); rows beyond the first `rows` only fill up the array."""
    logits = np.zeros((codes, len(seeds), room), np.float32)
    for run, seed in enumerate(seeds):
        rng = np.random.default_rng(derive_seed(seed, "start"))
        logits[:, run, :rows] = spread * rng.standard_normal((codes, rows), np.float32)
    return logits


def one_hot(sizes: Sequence[int], indices: Indices) -> Floats:
    """A dataset (runs, rows, columns), given as places of codes, as a relaxed one (codes, runs, rows)."""
    columns = [indices[..., column] == np.arange(size)[:, None, None] for column, size in enumerate(sizes)]
    return np.concatenate(columns).astype(np.float32)


def logits_at(sizes: Sequence[int], indices: Indices, certainty: float) -> Floats:
    """Logits under which every cell of a dataset (runs, rows, columns) has its own code with the given probability."""
    odds = [np.log(certainty / (1 - certainty) * max(size - 1, 1)) for size in sizes]
    return one_hot(sizes, indices) * np.repeat(odds, sizes).astype(np.float32)[:, None, None]


def round_rows(seeds: Sequence[int], sizes: Sequence[int], chances: Floats) -> Indices:
    """Randomised rounding: each cell drawn from its probabilities (codes, runs, rows), as places (runs, rows, columns)."""
    rows = chances.shape[2]
    streams = [np.random.default_rng(derive_seed(seed, "round")) for seed in seeds]
    draws = np.stack([rng.random((rows, len(sizes)), np.float32) for rng in streams])
    indices = np.empty(draws.shape, np.int32)
    for column, (last, size) in enumerate(zip(accumulate(sizes), sizes, strict=True)):
        below = np.cumsum(chances[last - size : last], axis=0)
        # The sum of all probabilities may miss 1 by a rounding error, so the draw is scaled to it.
        indices[..., column] = (below[:-1] <= draws[..., column] * below[-1]).sum(axis=0)
    return indices


# The relaxed dataset: a distribution over the codes of every cell, on which counting queries are differentiable.


def probabilities(sizes: Sequence[int], logits: jax.Array) -> jax.Array:
    """The softmax of every column, laid out as the logits: (codes, runs, rows)."""
    column = np.repeat(np.arange(len(sizes)), sizes)
    # Over all columns at once: a softmax for each of them would take four times as long to compile.
    total = partial(jax.ops.segment_sum, segment_ids=column, num_segments=len(sizes), indices_are_sorted=True)
    highest = jax.ops.segment_max(jax.lax.stop_gradient(logits), column, len(sizes), indices_are_sorted=True)
    weights = jnp.exp(logits - highest[column])
    chances: jax.Array = weights / total(weights)[column]
    return chances


def _clause_sums(sizes: Sequence[int], sets: Sequence[jax.Array], chances: jax.Array) -> jax.Array:
    """The probability of every clause in every row (clauses, runs, rows), numbered as in the workload."""
    shape = (-1, *chances.shape[1:])
    columns = jnp.split(chances.reshape(len(chances), -1), list(accumulate(sizes))[:-1])
    sums = [(inside @ column).reshape(shape) for inside, column in zip(sets, columns, strict=True) if len(inside)]
    return jnp.concatenate([chances, jnp.ones_like(chances[:1]), *sums])


def _written_down(values: jax.Array) -> jax.Array:
    """The same values, which XLA has to compute once and keep."""
    rest: jax.Array = jax.lax.optimization_barrier(values)  # type: ignore[no-untyped-call]
    return rest


def _held(clauses: jax.Array, slots: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Where the clauses of every rest stand in one flat list of (clause, run), and their probabilities, slot by slot."""
    runs, _, width = slots.shape
    indices = (slots.transpose(2, 0, 1) * runs + jnp.arange(runs, dtype=slots.dtype)[:, None]).reshape(width, -1)
    return indices, clauses.reshape(-1, clauses.shape[-1]).at[indices].get(mode="promise_in_bounds")


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
    indices, held = _held(clauses, slots)
    before, after = [above.reshape(held[0].shape)], [jnp.ones_like(held[0])]
    for slot in range(len(held) - 1):
        before.append(before[-1] * held[slot])
        after.append(after[-1] * held[-1 - slot])
    parts = _written_down(jnp.stack([b * a for b, a in zip(before, after[::-1], strict=True)]))
    flat = jnp.zeros((clauses.shape[0] * clauses.shape[1], clauses.shape[2]), clauses.dtype)
    return flat.at[indices].add(parts, mode="promise_in_bounds").reshape(clauses.shape), None


products.defvjp(_products_forward, _products_backward)


def answers(clauses: jax.Array, slots: jax.Array, pivots: jax.Array, counted: jax.Array) -> jax.Array:
    """
    The count of every query of a table: the sum over rows of the product of its clauses; (runs, rests, pivots).

    `counted` is 1 for a row, or 0 for one that only fills up the array. A single pivot is the clause that always holds.
    """
    product = products(clauses, slots)
    if len(pivots) == 1:
        return (product @ counted)[..., None]
    if 2 * len(pivots) > len(clauses):
        # with all clauses, and then the pivots of so small an array: XLA adds the gradient of a choice cell by cell
        return jnp.einsum("krn,ckn->krc", product * counted, clauses)[:, :, pivots]
    last = clauses.at[pivots].get(mode="promise_in_bounds") * counted
    return jnp.einsum("krn,vkn->krv", product, last)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def _sum_blocks(rests: jax.Array, pivots: jax.Array, block: jax.Array, blocks: int) -> jax.Array:
    """The sum over the rows of every block (ascending) of rests (rows, R) times pivots (rows, V): (blocks, R, V)."""
    cells = (rests[:, :, None] * pivots[:, None, :]).reshape(len(block), -1)
    sums = jax.ops.segment_sum(cells, block, blocks, indices_are_sorted=True)
    return sums.reshape(blocks, rests.shape[1], pivots.shape[1])


def _sum_forward(rests: jax.Array, pivots: jax.Array, block: jax.Array, blocks: int) -> tuple[jax.Array, Any]:
    return _sum_blocks(rests, pivots, block, blocks), (rests, pivots, block)


def _sum_backward(_: int, saved: tuple[jax.Array, ...], above: jax.Array) -> tuple[jax.Array, jax.Array, None]:
    """By hand for the same reason as the products: what a row's block wants is looked up once, not for every cell."""
    rests, pivots, block = saved
    wanted = _written_down(above.at[block].get(mode="promise_in_bounds"))
    return jnp.einsum("nrv,nv->nr", wanted, pivots), jnp.einsum("nrv,nr->nv", wanted, rests), None


_sum_blocks.defvjp(_sum_forward, _sum_backward)


def _block_answers(clauses: jax.Array, slots: jax.Array, pivots: jax.Array, block: jax.Array, blocks: int) -> jax.Array:
    """
    The counts of every block, whose rows are known: (runs, blocks, rests, pivots).

    `block` says in which block each row is, in ascending order; rows that only fill up the array are in the block after
    the last one. A query about a block sums over its rows only, so that all blocks together cost one pass over the rows.
    """
    product = products(clauses, slots).transpose(0, 2, 1)
    runs, rows, rests = product.shape
    last = clauses.at[pivots].get(mode="promise_in_bounds").transpose(1, 2, 0)
    indices = (jnp.arange(runs, dtype=block.dtype)[:, None] * (blocks + 1) + block).ravel()
    flat = product.reshape(runs * rows, rests), last.reshape(runs * rows, -1)
    return _sum_blocks(*flat, indices, runs * (blocks + 1)).reshape(runs, blocks + 1, rests, -1)[:, :blocks]


# Stochastic gradient descent on the relaxed dataset: Adam on random minibatches of queries, some runs side by side.

Sizes = tuple[int, ...]
Numbers = tuple[int, ...]


class Table(NamedTuple):
    """A table of queries about the area, or (with an axis of blocks) about each block; counts, and how many ask for each."""

    slots: jax.Array  # (batches, rests of a batch, width)
    pivots: jax.Array  # (pivots,)
    targets: jax.Array  # (batches, rests of a batch, pivots), of blocks (batches, rests of a batch, blocks, pivots)
    weights: jax.Array  # (batches, rests of a batch, pivots): mostly 1 or 0
    rests: jax.Array  # how many rests there are, those that fill up a batch left out

    @property
    def of_blocks(self) -> bool:
        return self.targets.ndim == 4

    @property
    def places(self) -> int:
        """How many rests there are, those that fill up a batch among them."""
        return self.slots.shape[0] * self.slots.shape[1]


class Problem(NamedTuple):
    """What is asked, as arrays: the sets of codes, the tables of the area and of its blocks, and the rows."""

    sets: tuple[jax.Array, ...]
    tables: tuple[Table, ...]
    counted: jax.Array  # (rows,): 1, or 0 for a row that fills up the array
    block: jax.Array  # (rows,): where each row is, if the blocks are known


# Settings that are numbers to the compiled program: another value does not compile it again.
Pace = Mapping[str, jax.Array]
PACE = {"learning_rate", "steps", "tolerance", "check_every", "patience", "gain"}


class State(NamedTuple):
    """Where every run stands: its logits, its optimiser, the smallest error seen and how long ago, whether it goes on."""

    step: jax.Array
    logits: jax.Array
    adam: Any
    best: jax.Array
    stale: jax.Array
    running: jax.Array
    steps: jax.Array


def _draw_rests(keys: jax.Array, step: jax.Array, number: int, rests: jax.Array) -> jax.Array:
    """Random rests of every run for one step (runs, number), with replacement; each brings the queries of its pivots."""
    bits = jax.vmap(lambda key: jax.random.bits(jax.random.fold_in(key, step), (number,)))(keys)
    drawn: jax.Array = (bits % rests.astype(jnp.uint32)).astype(jnp.int32)
    return drawn


def _choose(table: Table, keys: jax.Array, step: jax.Array, number: int) -> jax.Array:
    """The rests of a table that a step takes; all of them, where it may take as many as there are."""
    everything = jnp.broadcast_to(jnp.arange(table.places), (len(keys), table.places))
    return everything if number >= table.places else _draw_rests(keys, step, number, table.rests)


def _squares(problem: Problem, clauses: jax.Array, table: Table) -> jax.Array:
    """The squared error of every run over some rests: slots (runs, rests, width), targets and weights of the same rests."""
    if not table.of_blocks:
        off = answers(clauses, table.slots, table.pivots, problem.counted) - table.targets
        return (table.weights * off**2).sum(axis=(1, 2))
    blocks = table.targets.shape[2]
    counts = _block_answers(clauses, table.slots, table.pivots, problem.block, blocks)
    off = counts - table.targets.transpose(0, 2, 1, 3)
    return (table.weights[:, None] * off**2).sum(axis=(1, 2, 3))


def loss(logits: jax.Array, sizes: Sizes, problem: Problem, chosen: tuple[jax.Array, ...]) -> jax.Array:
    """The squared error of the chosen rests of every table (runs, number), scaled to all rests, per row, over all runs."""
    clauses = _clause_sums(sizes, problem.sets, probabilities(sizes, logits))
    total = jnp.zeros(())
    for table, entry in zip(problem.tables, chosen, strict=True):
        parts = (part.reshape(-1, *part.shape[2:])[entry] for part in (table.slots, table.targets, table.weights))
        slots, targets, weights = parts
        squares = _squares(problem, clauses, table._replace(slots=slots, targets=targets, weights=weights)).sum()
        total += squares * (table.rests / entry.shape[1] if entry.shape[1] < table.places else 1)
    per_row: jax.Array = total / problem.counted.sum()
    return per_row


@partial(jax.jit, static_argnums=0)
def errors_of(sizes: Sizes, problem: Problem, chances: jax.Array) -> jax.Array:
    """The error of every run over all queries: the root of the squared differences of counts per row; in batches."""
    clauses = _clause_sums(sizes, problem.sets, chances)
    runs = chances.shape[1]
    total = jnp.zeros(runs)
    for table in problem.tables:

        def squares(batch: Any, table: Table = table) -> jax.Array:
            slots, targets, weights = (jnp.broadcast_to(part, (runs, *part.shape)) for part in batch)
            return _squares(problem, clauses, table._replace(slots=slots, targets=targets, weights=weights))

        total += jax.lax.map(squares, (table.slots, table.targets, table.weights)).sum(axis=0)
    return jnp.sqrt(total / problem.counted.sum())


def _check(sizes: Sizes, problem: Problem, pace: Pace, state: State) -> State:
    """Which runs go on: those with an error above the tolerance that fell enough not too long ago."""
    error = errors_of(sizes, problem, probabilities(sizes, state.logits))
    better = error < (1 - pace["gain"]) * state.best
    stale = jnp.where(better, 0, state.stale + 1)
    running = state.running & (error > pace["tolerance"]) & (stale < pace["patience"])
    return state._replace(best=jnp.where(better, error, state.best), stale=stale, running=running)


def _advance(sizes: Sizes, numbers: Numbers, problem: Problem, pace: Pace, keys: jax.Array, state: State) -> State:
    adam = optax.scale_by_adam()

    def step(index: jax.Array, carry: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        logits, moments = carry
        # every table has draws of its own: a number of their own among the numbers of all steps
        parts = enumerate(zip(problem.tables, numbers, strict=True))
        chosen = tuple(_choose(table, keys, index * len(numbers) + part, number) for part, (table, number) in parts)
        gradient = jax.grad(loss)(logits, sizes, problem, chosen)
        update, moments = adam.update(gradient, moments)
        return logits - pace["learning_rate"] * state.running[:, None] * update, moments

    last = jnp.minimum(state.step + pace["check_every"], pace["steps"])
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
        lambda now: now.running.any() & (now.step < pace["steps"]),
        lambda now: _advance(sizes, numbers, problem, pace, keys, _check(sizes, problem, pace, now)),
        start,
    )
    return probabilities(sizes, done.logits), done.steps


# What RAP is asked, as arrays: the tables of an area and of its blocks, filled up so that few shapes occur.

MOST_CELLS = 4_000_000  # of an array with an entry per query, run and row: what a batch of queries may take
CELLS_AT_ONCE = 400_000  # of the relaxed datasets of the runs that go side by side: more of them do not fit into a cache
COPIES = 12  # of a relaxed dataset: logits, moments, gradients, probabilities and what lies between them
MEGABYTE = 2**20  # bytes


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
    workload: Workload, counts: npt.NDArray[Any], rows: int, room: int, runs: int, blocks: BlockCounts | None = None
) -> Problem:
    """
    The arrays that the optimiser takes; the slots of the workload are the queries of the area, then those of a block.

    JAX compiles a program for every shape of its arrays. So that few shapes occur, sizes are rounded up and the arrays
    filled up: rests with the slot that is always true, targets and rows with weight 0, which change no gradient. Batches
    bound the memory: all rests at once would hold runs * room * rests cells.
    """
    part = replace(workload, slots=workload.slots[: len(counts)])
    tables = [_table(workload, layout, np.asarray(counts), room * runs) for layout in _lay_out(part, rows)]
    counted, index = np.zeros(room, np.float32), np.zeros(room, np.int32)
    counted[:rows] = 1
    if blocks is not None:
        full = np.zeros((_roomy(len(blocks.sizes)), len(blocks.predicates)), np.float32)
        full[: len(blocks.sizes)] = blocks.counts
        index[:] = len(full)
        index[:rows] = blocks.block_of_row
        asked = replace(workload, slots=workload.slots[len(counts) :])
        tables += [_table(workload, layout, full.T, room * runs) for layout in _lay_out(asked, rows)]
    return Problem(tuple(map(jnp.asarray, workload.sets)), tuple(tables), jnp.asarray(counted), jnp.asarray(index))


def _table(workload: Workload, layout: Layout, counts: npt.NDArray[Any], cells: int) -> Table:
    """A table with the counts of the area (queries,) or of its blocks (queries, blocks), in batches that fit into memory."""
    rests, pivots, full = len(layout.rests), len(layout.pivots), _roomy(len(layout.rests))
    size = min(full, max(MOST_CELLS // (cells * (pivots if counts.ndim == 2 else 1)), 1))
    batches = -(-full // size)
    slots = np.full((batches * size, layout.rests.shape[1]), workload.always, np.int32)
    slots[:rests] = layout.rests
    weights = np.zeros((batches * size, pivots), np.float32)
    np.add.at(weights, (layout.row, layout.column), 1)
    targets = np.zeros((len(slots), *counts.shape[1:], pivots), np.float32)
    # Two queries that ask the same have the same count, so that either may stand here.
    targets[layout.row, ..., layout.column] = counts[layout.queries]
    parts = (jnp.asarray(part.reshape(batches, size, *part.shape[1:])) for part in (slots, targets, weights))
    slots_of, targets_of, weights_of = parts
    return Table(slots_of, jnp.asarray(layout.pivots), targets_of, weights_of, jnp.int32(rests))


def rests_per_step(problem: Problem, share: float, cells: int) -> tuple[int, ...]:
    """How many rests of each table a step takes: a share of them, and no more than fit into a batch."""
    result = []
    for table in problem.tables:
        rests, most = int(table.rests), max(MOST_CELLS // (cells * (len(table.pivots) if table.of_blocks else 1)), 1)
        wanted = table.places if share >= 1 else max(round(share * rests), 1)
        result.append(wanted if wanted <= most else min(most, rests))
    return tuple(result)


def pad_runs(seeds: Sequence[int], at_once: int) -> list[list[int]]:
    """The seeds in groups of one size; the last one is filled up with its first seed, so that it needs no other program."""
    groups = [list(seeds[first : first + at_once]) for first in range(0, len(seeds), at_once)]
    groups[-1] += [groups[-1][0]] * (at_once - len(groups[-1]))
    return groups
