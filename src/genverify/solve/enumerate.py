"""All class counts that fit a program, where they are few: a search whose every cut is proved in integers."""

from dataclasses import dataclass, replace
from math import floor

import numpy as np
import numpy.typing as npt

from genverify.core.predicates import Flags
from genverify.solve.bounds import Bounder
from genverify.solve.leaves import Branch, exact_leaf
from genverify.solve.recount import INTEGRAL
from genverify.solve.solvers.base import Floats, Infeasible, Optimal

Ints = npt.NDArray[np.int64]
MOST_PROGRAMS = 20_000
MOST_CLASSES = 400


@dataclass(frozen=True)
class Enumeration:
    """Class counts that fit; `complete` if it is proved that there are no others."""

    vectors: list[Ints]
    complete: bool


def all_class_counts(bounder: Bounder, known: list[Ints], limit: int) -> Enumeration:
    """
    Every fitting z, up to `limit`: first every class that some z uses, by asking for one outside those seen so far, then
    all counts of these classes. Where that is too much work, what is known, and not complete.
    """
    program = bounder.program
    used = np.zeros(program.classes, dtype=bool)
    for z in known:
        used |= z > 0
    while True:
        outside = bounder.at_most((~used).astype(np.int64), 0)
        if outside.counterexample is None:
            break
        used |= outside.counterexample > 0
        known.append(outside.counterexample)
        if len(known) >= limit:
            return Enumeration(known, complete=False)
    if used.sum() > MOST_CLASSES:
        return Enumeration(known, complete=False)
    # one more than the limit is asked for: if it is found, the limit cut the list off, and it is not complete
    search = _Search(bounder, np.flatnonzero(used), limit + 1)
    search.walk([])
    complete = outside.proof is not None and len(search.vectors) <= limit and search.programs <= MOST_PROGRAMS
    return Enumeration(search.vectors[:limit] or known, complete)


class _Search:
    """
    All fitting counts of the given classes, depth first, the largest count of a class first. A linear program says how large
    the next count can be; where exact multipliers do not show that, whatever its status, the rows themselves say it.
    """

    def __init__(self, bounder: Bounder, classes: Ints, limit: int) -> None:
        self.program = bounder.program
        self.used = replace(bounder.program, A=bounder.program.A[:, classes])
        self.lp = bounder.solver.linear_program(self.used.A, self.used.lo, self.used.hi)
        self.classes, self.limit = classes, limit
        self.vectors: list[Ints] = []
        self.branches: list[Branch] = []
        self.programs = 0

    def walk(self, counts: list[int]) -> None:
        if len(counts) == len(self.classes):
            z = np.zeros(self.program.classes, dtype=np.int64)
            z[self.classes] = counts
            if self.program.fits(z):
                self.vectors.append(z)
            return
        chosen = np.arange(len(self.classes)) == len(counts)
        for count in range(self.most(chosen, counts), -1, -1):
            if len(self.vectors) >= self.limit or self.programs > MOST_PROGRAMS:
                return
            self.lp.push_row(chosen, count, count)
            self.branches.append(Branch(chosen, count, count))
            self.walk([*counts, count])
            self.branches.pop()
            self.lp.pop_row()

    def most(self, chosen: Flags, counts: list[int]) -> int:
        """The largest count that the next class can have beside those before it; -1: these counts fit nothing."""
        self.programs += 1
        answer = self.lp.maximise(chosen)
        if isinstance(answer, Infeasible) and self.proved(answer.y, np.zeros(len(chosen), dtype=np.int64), -1, "empty"):
            return -1
        if isinstance(answer, Optimal):
            value = floor(answer.value + INTEGRAL)
            if self.proved(answer.y, chosen.astype(np.int64), value, "bound"):
                return value
        return self.room(chosen, counts)

    def proved(self, y: Floats | None, c: Ints, b: int, kind: str) -> bool:
        """Whether the multipliers y of an answer show, in integers, that c z <= b beside the counts before it."""
        return y is not None and exact_leaf(self.used, self.branches, y, c, b, kind) is not None

    def room(self, chosen: Flags, counts: list[int]) -> int:
        """What the rows that the class adds to leave for it; the first row, N, is one of them."""
        A = self.used.A.astype(np.int64)
        left = self.used.hi - A[:, : len(counts)] @ np.array(counts, dtype=np.int64)
        added = A[:, chosen].ravel()
        rows = added > 0
        return int((left[rows] // added[rows]).min())
