"""
The diagram of a program: its states (what is left of every row) and the moves between them, class by class.

A state is one integer: a field of bits per row for what is left of it, each under a guard bit. Subtracting a class from a
word with all guards set leaves them set exactly where there was enough left, so that one operation asks all rows of all
states. States are kept sorted; a class that a state does not take costs nothing, because the state stays where it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Flags, Ints
from genverify.core.errors import GenverifyError
from genverify.solve.counting.order import orders
from genverify.solve.counting.system import System, system_of
from genverify.solve.recount import Fitting

Nodes = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]
T = TypeVar("T", np.uint64, np.int32)
FIRST_RACE, LONGER = 3_000, 8
WORD = 63
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
    visited: int

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


def draw_diagram(program: Fitting, budget: Budget = BUDGET, smallest: bool = True) -> Diagram:
    """
    The diagram of a program; orders of its classes are raced, and the smallest of the first that stay small is taken. Where
    the diagram is used only once or twice, looking for the smallest takes longer than it saves.
    """
    system = system_of(program)
    classes = system.A.shape[1]
    if system.contradictory:
        return Diagram(classes, 1, (), np.zeros(0, dtype=np.int32), 1)
    found = orders(system)
    deadline = process_time() + budget.seconds
    limit = min(FIRST_RACE, budget.states)
    while True:
        best = None
        for order in found:
            drawn = _Drawing(system, limit, budget, deadline).along(order)
            if drawn is not None and not smallest:
                return drawn
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
        self.place: list[tuple[int, int]] = []
        word, at = 0, 0
        for width in widths:
            if at + width > WORD:
                word, at = word + 1, 0
            self.place.append((word, at))
            at += width
        self.words = word + 1
        self.guards = np.zeros(self.words, dtype=np.uint64)
        for (where, at), width in zip(self.place, widths, strict=True):
            self.guards[where] |= np.uint64(1 << (at + width - 1))

    def pack(self, values: Ints) -> Words:
        """Values of every row, one below its guard each, as words; a row of words for every column of values."""
        packed = np.zeros((values.shape[1], self.words), dtype=np.uint64)
        for (word, at), row in zip(self.place, values, strict=True):
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
        # With one word the word is the key. With more, a weighted sum stands for them: equal sums by chance are found out.
        self.weights = np.ones(1, dtype=np.uint64)
        if self.fields.words > 1:
            rng = np.random.default_rng(self.fields.words)
            self.weights = rng.integers(1, 2**63, size=self.fields.words, dtype=np.uint64) | np.uint64(1)
        self.rest = self.fields.pack(system.hi[:, None])
        self.keys = self.rest @ self.weights
        self.nodes = np.zeros(1, dtype=np.int32)
        self.states = 1
        self.taken = self.fields.pack(system.A)

    def along(self, order: Ints) -> Diagram | None:
        """The diagram, or None where it is larger than the limit."""
        steps: list[list[Moves]] = []
        moves = 0
        for cls, needed in zip(order.tolist(), self._needed(order), strict=True):
            steps.append([])
            for move in self._take(cls):
                steps[-1].append(move)
                moves += len(move.source)
                if self.states > self.limit or moves > self.budget.moves or process_time() > self.deadline:
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

    def _place(self, rest: Words) -> Nodes:
        """The numbers of states; those that are not there yet are put in."""
        keys = rest @ self.weights if self.fields.words > 1 else rest[:, 0]
        place = np.searchsorted(self.keys, keys)
        there = np.minimum(place, len(self.keys) - 1)
        known = self.keys[there] == keys
        if self.fields.words > 1 and (self.rest[there[known]] != rest[known]).any():
            raise GenverifyError("two states have the same key by chance; nothing is counted. Report this as a bug.")
        new = np.flatnonzero(~known)
        new = new[np.argsort(keys[new])]
        nodes = self.nodes[there]
        nodes[new] = np.arange(self.states, self.states + len(new), dtype=np.int32)
        self.states += len(new)
        if len(new):
            self._put(place[new], keys[new], rest[new], nodes[new])
        return nodes

    def _put(self, place: Ints, keys: Words, rest: Words, nodes: Nodes) -> None:
        """New states at their places among the sorted ones, all three arrays moved alike."""
        fresh: Flags = np.zeros(len(self.keys) + len(place), dtype=bool)
        fresh[place + np.arange(len(place))] = True
        old = ~fresh
        self.keys, self.rest, self.nodes = (
            _merged(fresh, old, *pair) for pair in ((self.keys, keys), (self.rest, rest), (self.nodes, nodes))
        )

    def _keep(self, alive: Flags) -> None:
        if not alive.all():
            self.keys, self.rest, self.nodes = self.keys[alive], self.rest[alive], self.nodes[alive]


def _merged(fresh: Flags, old: Flags, before: npt.NDArray[T], new: npt.NDArray[T]) -> npt.NDArray[T]:
    both: npt.NDArray[T] = np.empty((len(fresh), *before.shape[1:]), dtype=before.dtype)
    both[old], both[fresh] = before, new
    return both


def _trimmed(classes: int, states: int, steps: list[list[Moves]], ends: Nodes) -> Diagram:
    """The diagram without moves that lead to no end, its states numbered anew."""
    alive: Flags = np.zeros(states, dtype=bool)
    alive[ends] = True
    kept: list[tuple[Moves, ...]] = []
    for step in reversed(steps):
        useful = [alive[move.target] for move in step]
        left = [Moves(m.cls, m.times, m.source[u], m.target[u]) for m, u in zip(step, useful, strict=True) if u.any()]
        for move in left:
            alive[move.source] = True
        if left:
            kept.append(tuple(left))
    if not len(ends) or not alive[0]:
        return Diagram(classes, 1, (), np.zeros(0, dtype=np.int32), states)
    number = (np.cumsum(alive) - 1).astype(np.int32)
    renumbered = tuple(tuple(_by_target(move, number) for move in step) for step in reversed(kept))
    return Diagram(classes, int(alive.sum()), renumbered, number[ends], states)


def _by_target(move: Moves, number: Nodes) -> Moves:
    order = np.argsort(number[move.target])
    return Moves(move.cls, move.times, number[move.source][order], number[move.target][order])
