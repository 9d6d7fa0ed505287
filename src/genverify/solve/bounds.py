"""Exact integer bounds with proofs: is max c z <= b over the datasets that fit? (LP first, then branching)"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import floor, inf
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.core.release import TOTAL
from genverify.solve.branching import choose_part
from genverify.solve.exchange import Exchange
from genverify.solve.leaves import Branch, Fork, Leaf, Node, exact_leaf
from genverify.solve.program import Program
from genverify.solve.recount import INTEGRAL, WrongAnswer, integer_point
from genverify.solve.solvers.base import Infeasible, LinearProgram, Optimal, Solver, Stopped
from genverify.solve.workingset import FEW_CLASSES, WorkingSet

SPARE_STEPS = 10
NEIGHBOURS = 5
DEEPEST = 150
"""Branches below each other: a level takes four of the 1,000 calls of Python, and a checker goes as deep."""


@dataclass(frozen=True)
class Limits:
    """Work allowed for one bound: branching nodes, leaves of a proof, seconds (a safety net)."""

    nodes: int
    leaves: int
    seconds: float


@dataclass(frozen=True)
class Bound:
    """
    What came out of a question "max c z <= b?": a proof, or a fitting z with c z > b, or the limit that struck.

    `integer` says whether the linear program left it open, so that exchanges, dives or branching were needed. A bound
    without proof that is no counterexample either is undecided, or decided but not certified where `decided` is true.
    """

    proof: Node | None = None
    counterexample: Ints | None = None
    limit: str | None = None
    integer: bool = False
    decided: bool = True


class Bounder:
    """
    Asks one program many questions, the linear program kept warm; every z it meets is kept for other claims. It counts the
    linear programs that it solves, and the questions that these leave to exchanges, dives and branching.
    """

    def __init__(self, program: Program, solver: Solver, limits: Limits) -> None:
        self.program, self.solver, self.limits = program, solver, limits
        self.seen: list[Ints] = []
        self.linear_programs = self.searches = 0
        self._used: Flags = np.zeros(program.classes, dtype=bool)

    @cached_property
    def lp(self) -> LinearProgram | WorkingSet:
        """Made when the first question needs it: most claims about a small block need none."""
        program = self.program
        if program.classes <= FEW_CLASSES:
            return self.solver.linear_program(program.A, program.lo, program.hi)
        working = WorkingSet(program, self.solver)
        working.include(np.flatnonzero(self._used))
        return working

    @cached_property
    def exchange(self) -> Exchange:
        return Exchange(self.program, np.random.default_rng(0))

    def learn(self, fitting: Sequence[Ints]) -> None:
        """Class counts that are known to fit: they refute claims, and their classes are where linear programs start."""
        self.seen.extend(fitting)
        if fitting:
            self._used |= np.any(fitting, axis=0)
        made = self.__dict__.get("lp")
        if isinstance(made, WorkingSet):
            made.include(np.flatnonzero(self._used))

    def vertex(self, objective: Floats) -> Ints | None:
        """The best point at an objective, if it is integral; the few classes that the objective asks for join at once."""
        if isinstance(self.lp, WorkingSet):
            self.lp.include_some()
            self.lp.include(np.flatnonzero(objective > 0))
        answer = self.lp.maximise(objective)
        return self.integral(answer.z) if isinstance(answer, Optimal) else None

    def at_most(self, c: Ints, b: int) -> Bound:
        """Prove c z <= b for every fitting z, or find one that exceeds it."""
        return _Search(self, c, b).run()

    def maximum(self, c: Ints) -> tuple[int, Bound]:
        """
        The exact maximum of c z with the bound that proves it, or with the limit that stopped the search. It ends: a
        counterexample exceeds the last value in integers, and c z cannot exceed n max |c|.
        """
        # below every value that n records can reach, so that the first question finds a point or proves that none fits
        best = -int(np.abs(c).max(initial=0)) * self.program.n - 1
        while True:
            bound = self.at_most(c, best)
            if bound.counterexample is None:
                return best, bound
            best = int(c @ bound.counterexample)

    def dive(self, objective: npt.NDArray[Any], least: int | None = None) -> Ints | None:
        """A fitting point (with objective z >= least where asked), by fixing one fractional class after another upwards."""
        rows = 0
        try:
            if least is not None:
                self.lp.push_row(objective, least, inf)
                rows += 1
            for _ in range(2 * self.program.n + SPARE_STEPS):
                self.linear_programs += 1
                answer = self.lp.maximise(objective)
                if not isinstance(answer, Optimal):
                    return None
                z = self.integral(answer.z)
                if z is not None:
                    return z
                fraction = answer.z - np.floor(answer.z + INTEGRAL)
                place = int(np.argmax(fraction))
                chosen = np.zeros(self.program.classes, dtype=np.int8)
                chosen[place] = 1
                self.lp.push_row(chosen, floor(answer.z[place] + INTEGRAL) + 1, inf)
                rows += 1
            return None
        finally:
            for _ in range(rows):
                self.lp.pop_row()

    def better(self, c: Ints, b: int) -> Ints | None:
        """A fitting z with c z > b, an exchange away from a known one; None where none is at hand."""
        for z in list(islice((z for z in self.seen if int(c @ z) == b), NEIGHBOURS)):
            moved = self.exchange.improve(z, c)
            if moved is not None and self.program.fits(moved):
                self.seen.append(moved)
                return moved
        return None

    def integral(self, z: Floats) -> Ints | None:
        """The point as class counts if it is integral, recounted against every row."""
        rounded = integer_point(z)
        if rounded is None:
            return None
        if not self.program.fits(rounded):
            raise WrongAnswer(
                f"block {self.program.release.block}: the solver's point does not fit the published counts when recounted; "
                "nothing is reported. Try the other solver (program.solver in config.yaml)."
            )
        self.seen.append(rounded)
        return rounded


@dataclass
class _Search:
    """Depth-first branching for one question."""

    bounder: Bounder
    c: Ints
    b: int

    def run(self) -> Bound:
        self.nodes = self.leaves = 0
        self.integer = False
        self.branches: list[Branch] = []
        self.deadline = time.monotonic() + self.bounder.limits.seconds
        try:
            proof = self.node()
        except _Found as refuted:
            return Bound(counterexample=self.recounted(refuted.z), integer=self.integer)
        except _LimitStruck as struck:
            return Bound(limit=struck.limit, integer=self.integer, decided=False)
        if proof is None:
            return Bound(limit="proof too large or not exact", integer=self.integer)
        return Bound(proof=proof, integer=self.integer)

    def recounted(self, z: Ints) -> Ints:
        """The fitting point itself, which must exceed b when counted in integers, whatever value the solver gave."""
        if int(self.c @ z) > self.b:
            return z
        raise WrongAnswer(
            f"block {self.bounder.program.release.block}: the solver's point reaches {int(self.c @ z)} when recounted, not "
            f"more than {self.b} as its value says; nothing is reported. Try the other solver (program.solver in "
            "config.yaml)."
        )

    def node(self) -> Node | None:
        """The proof of the current node (None: true, but without an exact proof)."""
        self.count()
        if self.bounder.program.classes == 0:
            return self.no_records()
        self.bounder.linear_programs += 1
        answer = self.bounder.lp.maximise(self.c)
        if isinstance(answer, Infeasible):
            return self.leaf(answer.y, np.zeros_like(self.c), -1, "empty")
        if isinstance(answer, Stopped):
            raise _LimitStruck(answer.limit.value)
        if floor(answer.value + INTEGRAL) <= self.b:
            return self.leaf(answer.y, self.c, self.b, "bound")
        z = self.bounder.integral(answer.z)
        self.bounder.searches += z is None and not self.integer
        self.integer |= z is None
        # Any fitting z above b answers the question, wherever it is met. Exchanges and dives look for one at the root only:
        # below it they have failed once, and are work that branching would have to pay at every node.
        if z is None and not self.branches:
            z = self.bounder.better(self.c, self.b)
        if z is None and not self.branches:
            z = self.bounder.dive(self.c, self.b + 1)
        if z is not None:
            raise _Found(z)
        return self.split(answer.z)

    def no_records(self) -> Node:
        """Every record is ruled out: N = 0 is the only dataset, and N > 0 a contradiction."""
        if self.bounder.program.n > 0:
            return Leaf("empty", 1, {TOTAL: -1}, ())
        if self.b < 0:
            raise _Found(np.zeros(0, dtype=np.int64))
        return Leaf("bound", 1, {}, ())

    def leaf(self, y: Floats | None, c: Ints, b: int, kind: str) -> Node | None:
        self.leaves += 1
        if y is None or self.leaves > self.bounder.limits.leaves:
            return None
        return exact_leaf(self.bounder.program, self.branches, y, c, b, kind)

    def split(self, z: Floats) -> Node | None:
        """Both sides of a branch row: at most t, at least t + 1; the side that is nearer to the point first."""
        chosen = choose_part(self.bounder.program, z)
        if chosen is None:
            raise _LimitStruck("nothing to branch on")
        part, inside = chosen
        value = float(z[inside].sum())
        at = floor(value)
        sides = [Branch(inside, None, at), Branch(inside, at + 1, None)]
        up_first = value - at > 0.5
        proofs = [self.side(side) for side in (reversed(sides) if up_first else sides)]
        below, above = reversed(proofs) if up_first else proofs
        return Fork(part, at, below, above) if below and above else None

    def side(self, branch: Branch) -> Node | None:
        self.bounder.lp.push_row(branch.inside.astype(np.int64), *branch.range)
        self.branches.append(branch)
        try:
            return self.node()
        finally:
            self.branches.pop()
            self.bounder.lp.pop_row()

    def count(self) -> None:
        self.nodes += 1
        if self.nodes > self.bounder.limits.nodes:
            raise _LimitStruck("node limit")
        if len(self.branches) > DEEPEST:
            raise _LimitStruck("depth limit")
        if time.monotonic() > self.deadline:
            raise _LimitStruck("wall-clock limit")


class _Found(Exception):
    def __init__(self, z: Ints) -> None:
        self.z = z


class _LimitStruck(Exception):
    def __init__(self, limit: str) -> None:
        self.limit = limit
