"""The diagram of a program: states (what is left of every row), moves between them class by class, sums over all ways."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, factorial
from time import process_time
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.errors import GenverifyError
from genverify.solve.program import RecordSystem

# The rows that a count of solutions must keep: those that follow from others are dropped, if integers say so.

PRIME = 32_749  # below 2**15: sums of millions of products are exact in floating-point numbers


@dataclass(frozen=True)
class System:
    """z >= 0 integer, lo <= A z <= hi, A >= 0, no row that says nothing new. `contradictory`: by two rows, nothing fits."""

    A: Ints
    lo: Ints
    hi: Ints
    contradictory: bool = False

    @cached_property
    def most(self) -> Ints:
        """The largest count of each class: what the rows that it adds to leave for it."""
        if not len(self.A):
            return np.zeros(self.A.shape[1], dtype=np.int64)
        room = np.where(self.A > 0, self.hi[:, None] // np.maximum(self.A, 1), np.iinfo(np.int64).max)
        most: Ints = np.maximum(room.min(axis=0), -1)
        return most


def system_of(program: RecordSystem) -> System:
    """The rows of a program, the smallest counts first, without those that are sums of others with one count each."""
    A = program.A.astype(np.int64)
    chosen, contradictory = _independent(A, program.lo, program.hi)
    A, lo, hi = A[chosen], program.lo[chosen].astype(np.int64), program.hi[chosen].astype(np.int64)
    return System(A, lo, hi, contradictory or bool((lo > hi).any() or (hi < 0).any()))


def _independent(A: Ints, lo: Ints, hi: Ints) -> tuple[list[int], bool]:
    """The rows to keep, in the order of their counts, and whether a row that follows from them has another count."""
    # Rows with small counts are kept before large ones: what is left of a small count soon is nothing, and a state that asks
    # for more than that dies early. A total that is the sum of its parts adds nothing to them.
    order = sorted(range(len(A)), key=lambda row: (int(hi[row]), int((A[row] > 0).sum()), row))
    equations = [row for row in order if lo[row] == hi[row]]
    rows, counts = A[equations], lo[equations].astype(np.int64)
    drop, contradictory = set(), False
    for index, times in _sums(rows):
        if np.array_equal(times @ rows, rows[index]):  # a row that is kept without need costs time, no answer
            drop.add(equations[index])
            contradictory |= bool(times @ counts != counts[index])
    return [row for row in order if row not in drop], contradictory


def _sums(rows: Ints) -> Iterator[tuple[int, Ints]]:
    """
    Rows that are sums of others before them, and how often each of these is taken, modulo a prime: a sum in integers is one
    there. Factors are below the prime, so that 64 bits hold what is recounted with them.
    """
    width = rows.shape[1]
    reduced, pivots = np.zeros((0, width + len(rows))), list[int]()
    for index, row in enumerate(np.hstack([rows % PRIME, np.eye(len(rows))]).astype(np.float64)):
        rest = (row - row[pivots] @ reduced) % PRIME
        if not rest[:width].any():
            times = -rest[width:].astype(np.int64)
            times[index] = 0
            yield index, np.where(times < -(PRIME // 2), times + PRIME, times)
            continue
        pivot = int(np.argmax(rest > 0))
        rest = rest * pow(int(rest[pivot]), -1, PRIME) % PRIME
        hit = np.flatnonzero(reduced[:, pivot])
        reduced[hit] = (reduced[hit] - np.outer(reduced[hit, pivot], rest)) % PRIME
        reduced = np.vstack([reduced, rest])
        pivots.append(pivot)


# In which order classes are counted: row by row, so that rows close early and few are open at a time.

Taste = Callable[[float, float, float], tuple[float, ...]]

TASTES: tuple[Taste, ...] = (
    lambda count, classes, frontier: (classes, count),
    lambda count, classes, frontier: (count, classes),
    lambda count, classes, frontier: (frontier + count * np.log2(classes + 1), classes),
)
"""
What makes a row the next one to be closed, the smallest first: few classes, a small count, or a small frontier after it (the
bits that what is left of the open rows takes). No taste is best everywhere, so they are raced.
"""


def orders(system: System, tastes: Sequence[Taste] = TASTES) -> list[Ints]:
    """An order of the classes for each taste, each once."""
    useful = np.flatnonzero(system.most > 0)
    result = {order.tobytes(): order for order in (_order(system, useful, taste) for taste in tastes)}
    return list(result.values())


def _order(system: System, useful: Ints, taste: Taste) -> Ints:
    """Rows are closed one after another; a row's classes come together, those that are alike side by side."""
    touches = (system.A[:, useful] > 0).astype(np.float32)
    shared = touches @ touches.T  # how many classes that are left each two rows share; a row with itself: its classes
    bits = np.log2(system.hi + 1.0)
    left: Flags = np.ones(len(useful), dtype=bool)
    opened: Flags = np.zeros(len(touches), dtype=bool)
    groups = [np.zeros(0, dtype=np.int64)]
    while left.any():
        classes = shared.diagonal()
        rows = np.flatnonzero(classes)
        # a row is open after the next one is closed if it was begun, now or before, and some class is still to come
        frontier = (opened | (shared[rows] > 0)) & (classes > shared[rows])
        tasted = [taste(*one) for one in zip(system.hi[rows].tolist(), classes[rows].tolist(), frontier @ bits, strict=True)]
        best = tasted.index(min(tasted))
        opened = frontier[best]
        group = np.flatnonzero(left & (touches[rows[best]] > 0))
        groups.append(useful[group[np.lexsort(system.A[:, useful[group]])]])
        left[group] = False
        shared -= touches[:, group] @ touches[:, group].T
    return np.concatenate(groups)


# The diagram of a program: its states (what is left of every row) and the moves between them, class by class.
#
# A state is one integer: a field of bits per row for what is left of it, each under a guard bit. Subtracting a class from a
# word with all guards set leaves them set exactly where there was enough left, so that one operation asks all rows of all
# states. States are kept sorted; a class that a state does not take costs nothing, because the state stays where it is.

Nodes = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]
T = TypeVar("T", np.uint64, np.int32)
FIRST_RACE, LONGER = 3_000, 8
LOOK_EVERY = 64  # classes between two looks at the clock, each of which takes as long as a class of few states
WORD = 63  # bits of a signed 64-bit integer
BYTES_PER_MOVE, BYTES_PER_STATE = 70, 400


class TooManyStates(GenverifyError):
    """A program has more states than the budget allows."""


@dataclass(frozen=True)
class Budget:
    """
    The most states and moves of a diagram, the same on every machine, and core-seconds as a safety net.

    >>> Budget(states=500_000, moves=10_000_000, seconds=60.0).memory_mb
    858
    """

    states: int
    moves: int
    seconds: float

    def __post_init__(self) -> None:
        if min(self.states, self.moves) < 1 or not self.seconds > 0:
            raise GenverifyError(
                f"a budget of {self.states} states, {self.moves} moves and {self.seconds} seconds counts nothing; "
                "give at least 1 state, 1 move and more than 0 seconds"
            )

    @property
    def memory_mb(self) -> int:
        """
        The most megabytes that a diagram and its sums take: the better of two orders is kept while the next is drawn, each
        with two numbers of 32 bits per move; the forward sum holds two floats per move; a state has words and whole numbers.
        """
        return (BYTES_PER_MOVE * self.moves + BYTES_PER_STATE * self.states) // 2**20


BUDGET = Budget(states=500_000, moves=10_000_000, seconds=60.0)


@dataclass(frozen=True)
class Moves:
    """All states that take `times` records of a class: from which state, and to which, in the order of the latter."""

    cls: int
    times: int
    source: Nodes
    target: Nodes


@dataclass(frozen=True)
class Diagram:
    """
    Every way from the start, where nothing is placed (state 0), to an end, where every row has its count, is one class
    vector z that fits: z_c is the number of times that class c is taken. Steps go through the classes in one order; moves
    of a class all start from the states as they were before it.
    """

    classes: int
    states: int
    steps: tuple[tuple[Moves, ...], ...]
    ends: Nodes

    @property
    def moves(self) -> int:
        return sum(len(move.source) for step in self.steps for move in step)

    @property
    def most(self) -> Ints:
        """The largest count of each class in any class vector that fits."""
        most = np.zeros(self.classes, dtype=np.int64)
        for step in self.steps:
            most[step[0].cls] = max(move.times for move in step)
        return most


def draw_diagram(program: RecordSystem | System, budget: Budget = BUDGET) -> Diagram:
    """
    The diagram of a program; orders of its classes are raced, and the smallest of the first that stay small is taken. Of a
    system, which chains draw once and throw away, one order is tried: looking for the smallest takes longer than it saves.
    """
    single = isinstance(program, System)
    system = program if isinstance(program, System) else system_of(program)
    classes = system.A.shape[1]
    if system.contradictory:
        return Diagram(classes, 1, (), np.zeros(0, dtype=np.int32))
    result = orders(system, TASTES[:1] if single else TASTES)
    deadline = process_time() + budget.seconds
    limit = min(FIRST_RACE, budget.states)
    while True:
        best = None
        for order in result:
            drawn = _Drawing(system, limit, budget, deadline).along(order)
            if drawn is not None and (best is None or drawn.moves < best.moves):
                best = drawn
        if best is not None:
            return best
        if limit >= budget.states or process_time() > deadline:
            raise TooManyStates(
                f"counting needs more than {budget.states} states, {budget.moves} moves or {budget.seconds:g} seconds "
                f"({classes} classes, {len(system.A)} rows). Raise the budget, or ask for an estimate."
            )
        limit = min(limit * LONGER, budget.states)


class _Fields:
    """Where each row's rest stands in the words of a state."""

    def __init__(self, system: System) -> None:
        widths = [int(hi).bit_length() + 1 for hi in system.hi.tolist()]
        self.position: list[tuple[int, int]] = []
        word, at = 0, 0
        for width in widths:
            if at + width > WORD:
                word, at = word + 1, 0
            self.position.append((word, at))
            at += width
        self.words = word + 1
        self.guards = np.zeros(self.words, dtype=np.uint64)
        for (where, at), width in zip(self.position, widths, strict=True):
            self.guards[where] |= np.uint64(1 << (at + width - 1))

    def pack(self, values: Ints) -> Words:
        """Values of every row, one below its guard each, as words; a row of words for every column of values."""
        packed = np.zeros((values.shape[1], self.words), dtype=np.uint64)
        for (word, at), row in zip(self.position, values, strict=True):
            packed[:, word] |= row.astype(np.uint64) << np.uint64(at)
        return packed

    def enough(self, rest: Words, taken: Words) -> Flags:
        """Whether every row of each state has at least what is taken (either side may be one state for all)."""
        flags: Flags = ((((rest | self.guards) - taken) & self.guards) == self.guards).all(axis=-1)
        return flags


class _Drawing:
    """Draws a diagram along one order of the classes, within a number of states."""

    def __init__(self, system: System, limit: int, budget: Budget, deadline: float) -> None:
        self.system, self.limit, self.budget, self.deadline = system, limit, budget, deadline
        self.fields = _Fields(system)
        rng = np.random.default_rng(self.fields.words)
        self.weights = rng.integers(1, 2**63, size=self.fields.words, dtype=np.uint64) | np.uint64(1)
        self.rest = self.fields.pack(system.hi[:, None])
        self.keys = self._keys(self.rest)
        self.nodes = np.zeros(1, dtype=np.int32)
        self.states = 1
        self.taken = self.fields.pack(system.A)

    def along(self, order: Ints) -> Diagram | None:
        steps: list[list[Moves]] = []
        moves = 0
        for cls, needed in zip(order.tolist(), self._needed(order), strict=True):
            steps.append([])
            for move in self._take(cls):
                steps[-1].append(move)
                moves += len(move.source)
                if self.states > self.limit or moves > self.budget.moves:
                    return None
            if len(steps) % LOOK_EVERY == 0 and process_time() > self.deadline:
                return None
            self._keep(self.fields.enough(needed, self.rest))
        if not len(order):
            self._keep(self.fields.enough(self.fields.pack((self.system.hi - self.system.lo)[:, None]), self.rest))
        return _trimmed(self.system.A.shape[1], self.states, steps, self.nodes)

    def _needed(self, order: Ints) -> Iterator[Words]:
        """After each class of the order, the most that may be left of a row: what later classes can add, and its slack."""
        added = self.system.A[:, order] * self.system.most[order]
        later = np.cumsum(added[:, ::-1], axis=1)[:, ::-1] - added
        slack = (self.system.hi - self.system.lo)[:, None]
        yield from self.fields.pack(np.minimum(later + slack, self.system.hi[:, None]))

    def _take(self, cls: int) -> Iterator[Moves]:
        """Every state with room for it takes 1, 2, ... records of a class."""
        taken = self.taken[cls]
        some = np.flatnonzero(self.fields.enough(self.rest, taken))
        rest, source = self.rest[some], self.nodes[some]
        times = 0
        while len(source):
            times += 1
            rest = rest - taken
            yield Moves(cls, times, source, self._place(rest))
            again = self.fields.enough(rest, taken)
            rest, source = rest[again], source[again]

    def _keys(self, rest: Words) -> Words:
        """With one word the word is the key. With more, a sum of their hashes is: equal sums by chance are found out."""
        if self.fields.words == 1:
            return rest[:, 0]
        # a sum of multiples alone would not do: differences in the last bits of two words cancel with a chance of an eighth
        mixed = (rest ^ (rest >> np.uint64(30))) * self.weights
        mixed = (mixed ^ (mixed >> np.uint64(27))) * self.weights
        keys: Words = (mixed ^ (mixed >> np.uint64(31))).sum(axis=1, dtype=np.uint64)
        return keys

    def _place(self, rest: Words) -> Nodes:
        """The numbers of states; those that are not there yet are put in."""
        keys = self._keys(rest)
        index = np.searchsorted(self.keys, keys)
        there = np.minimum(index, len(self.keys) - 1)
        known = self.keys[there] == keys
        if self.fields.words > 1 and (self.rest[there[known]] != rest[known]).any():
            raise GenverifyError("two states have the same key by chance; nothing is counted. Report this as a bug.")
        new = np.flatnonzero(~known)
        new = new[np.argsort(keys[new])]
        nodes = self.nodes[there]
        nodes[new] = np.arange(self.states, self.states + len(new), dtype=np.int32)
        self.states += len(new)
        if len(new):
            # at their places among the sorted ones, all three arrays moved alike
            fresh: Flags = np.zeros(len(self.keys) + len(new), dtype=bool)
            fresh[index[new] + np.arange(len(new))] = True
            pairs = ((self.keys, keys[new]), (self.rest, rest[new]), (self.nodes, nodes[new]))
            self.keys, self.rest, self.nodes = (_merged(fresh, *pair) for pair in pairs)
        return nodes

    def _keep(self, alive: Flags) -> None:
        if not alive.all():
            self.keys, self.rest, self.nodes = self.keys[alive], self.rest[alive], self.nodes[alive]


def _merged(fresh: Flags, before: npt.NDArray[T], new: npt.NDArray[T]) -> npt.NDArray[T]:
    both: npt.NDArray[T] = np.empty((len(fresh), *before.shape[1:]), dtype=before.dtype)
    both[~fresh], both[fresh] = before, new
    return both


def _trimmed(classes: int, states: int, steps: list[list[Moves]], ends: Nodes) -> Diagram:
    alive: Flags = np.zeros(states, dtype=bool)
    alive[ends] = True
    live_steps: list[tuple[Moves, ...]] = []
    for step in reversed(steps):
        useful = [alive[move.target] for move in step]
        left = [Moves(m.cls, m.times, m.source[u], m.target[u]) for m, u in zip(step, useful, strict=True) if u.any()]
        for move in left:
            alive[move.source] = True
        if left:
            live_steps.append(tuple(left))
    if not len(ends) or not alive[0]:
        return Diagram(classes, 1, (), np.zeros(0, dtype=np.int32))
    number = (np.cumsum(alive) - 1).astype(np.int32)
    renumbered = tuple(tuple(_by_target(move, number) for move in step) for step in reversed(live_steps))
    return Diagram(classes, int(alive.sum()), renumbered, number[ends])


def _by_target(move: Moves, number: Nodes) -> Moves:
    order = np.argsort(number[move.target])
    return Moves(move.cls, move.times, number[move.source][order], number[move.target][order])


# What a class vector weighs: 1, the number of its datasets, or its probability under a prior, class by class.

Weights = list[npt.NDArray[Any]]
"""For every class, the weight of each count from 0 to the most that it can have; the first is 1."""


class UnlikelyRelease(GenverifyError):
    """A prior under which no dataset that fits has a probability above 0."""


def prior_weights(diagram: Diagram, mass: Floats, n: int) -> Weights:
    """
    A class vector weighs prod P_c^z_c / z_c!, up to one factor for all: its probability among n records of the prior.

    Numbers too small for 64 bits would make a possible dataset impossible: where that could happen, wider floats are used.
    """
    used = diagram.most > 0
    largest = mass[used].max(initial=0.0)
    if not np.isfinite(mass).all() or (mass < 0).any():
        raise GenverifyError("a prior gives a record type a weight that is negative or not a number; give weights from 0 on")
    scaled = mass / largest if largest > 0 else mass
    least = scaled[used & (scaled > 0)].min(initial=1.0)
    # every weight of a whole class vector is at least least^n / n!, and at most 1
    depth = n * -np.log2(least) + np.log2(float(factorial(min(n, 150)))) + max(0, n - 150) * 10
    wide = np.dtype(np.float64) if depth < 900 else np.dtype(np.longdouble)
    if depth > -np.finfo(wide).minexp - 100:
        raise GenverifyError(
            f"the prior's weights span too many powers of ten for {n} records; smooth it, so that rare types weigh more"
        )
    result: Weights = []
    for share, most in zip(scaled.astype(wide), diagram.most.tolist(), strict=True):
        steps = share / np.arange(1, most + 1, dtype=wide)
        result.append(np.concatenate([np.ones(1, dtype=wide), np.cumprod(steps)]))
    return result


# Sums over all ways through a diagram: from the start (forward), from the ends (backward), and both together.

Values = npt.NDArray[Any]


@dataclass(frozen=True)
class Forward:
    """
    The weight of all ways from the start to each state. `before` holds, for every step, what the sources of its moves
    weighed before it, and `stayed` what its targets did: with them the steps can be walked back without a subtraction.
    """

    values: Values
    before: tuple[tuple[Values, ...], ...]
    stayed: tuple[tuple[Values, ...], ...]
    total: Any


def total_weight(diagram: Diagram, weights: Weights) -> Any:
    """The weight of all class vectors that fit: exact where the weights are integers."""
    values = _start(diagram, weights)
    for step in diagram.steps:
        advance(values, step, weights)
    return values[diagram.ends].sum() if len(diagram.ends) else 0


def advance(values: Values, step: tuple[Moves, ...], weights: Weights) -> tuple[Values, ...]:
    """The weights of states after one more step, in place; what the sources of its moves weighed before."""
    before = tuple(values[move.source] for move in step)
    for move, came in zip(step, before, strict=True):
        # targets of the moves with one count are distinct, so that no sum is lost
        values[move.target] += came * weights[move.cls][move.times]
    return before


def count_vectors(diagram: Diagram) -> int:
    """How many class vectors fit."""
    return int(total_weight(diagram, [np.array([1] * (most + 1), dtype=object) for most in diagram.most.tolist()]))


def count_datasets(diagram: Diagram, records: Ints) -> int:
    """How many datasets fit, from the number of records that each class stands for."""
    pairs = zip(records.tolist(), diagram.most.tolist(), strict=True)
    weights = [np.array([comb(kinds + j - 1, j) for j in range(most + 1)], dtype=object) for kinds, most in pairs]
    return int(total_weight(diagram, weights))


def forward(diagram: Diagram, weights: Weights) -> Forward:
    """The same with everything that is needed to walk back."""
    values = _start(diagram, weights)
    before, stayed = [], []
    for step in diagram.steps:
        stayed.append(tuple(values[move.target] for move in step))
        before.append(advance(values, step, weights))
    return Forward(values, tuple(before), tuple(stayed), values[diagram.ends].sum() if len(diagram.ends) else 0)


def class_counts(diagram: Diagram, weights: Weights, result: Forward) -> Floats:
    """The distribution of every class count: a row per class, a column per count from 0 on; each row adds up to 1."""
    top = int(diagram.most.max(initial=0))
    held = np.zeros((diagram.classes, top + 1), dtype=weights[0].dtype if weights else np.float64)
    behind = zip(reversed(diagram.steps), reversed(result.before), backward(diagram, weights), strict=False)
    for step, before, ahead in behind:
        for move, came in zip(step, before, strict=True):
            held[move.cls, move.times] = (came * ahead[move.target]).sum() * weights[move.cls][move.times]
    shares = held / result.total
    shares[:, 0] = 1 - shares[:, 1:].sum(axis=1)
    return np.asarray(np.clip(shares, 0, 1), dtype=np.float64)


def backward(diagram: Diagram, weights: Weights) -> Iterator[Values]:
    """The weight of all ways from each state to an end: after the last step, then before it, and so on; in place."""
    ahead = np.zeros(diagram.states, dtype=weights[0].dtype if weights else np.float64)
    ahead[diagram.ends] = 1
    yield ahead
    for step in reversed(diagram.steps):
        for move, goes in zip(step, [ahead[move.target] for move in step], strict=True):
            # several moves of a step can start in one state, but those with one count start in distinct ones
            ahead[move.source] += goes * weights[move.cls][move.times]
        yield ahead


def _start(diagram: Diagram, weights: Weights) -> Values:
    values = np.zeros(diagram.states, dtype=weights[0].dtype if weights else np.float64)
    values[0] = 1
    return values
