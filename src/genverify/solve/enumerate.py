"""All class counts that fit a program, where they are few: a search in integers that needs no solver."""

from dataclasses import dataclass

import numpy as np

from genverify.core.arraytypes import Flags, Ints
from genverify.solve.bounds import Bounder
from genverify.solve.program import Program

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
    nothing_outside = True
    while not used.all():
        outside = bounder.at_most((~used).astype(np.int64), 0)
        if outside.counterexample is None:
            nothing_outside = outside.proof is not None
            break
        used |= outside.counterexample > 0
        known.append(outside.counterexample)
        if len(known) >= limit:
            return Enumeration(known, complete=False)
    if used.sum() > MOST_CLASSES:
        return Enumeration(known, complete=False)
    # one more than the limit is asked for: if it is found, the limit cut the list off, and it is not complete
    search = _Search(program, np.flatnonzero(used), limit + 1)
    search.walk(np.ones(len(search.classes), dtype=bool), program.lo, program.hi)
    complete = nothing_outside and len(search.vectors) <= limit and search.nodes <= MOST_PROGRAMS
    return Enumeration(search.vectors[:limit] or known, complete)


class _Search:
    """
    All fitting counts of the given classes, depth first. What is left of a row bounds each class, and all classes together
    must still fill every row; of a row that fewest classes can fill, one class is counted next, the largest count first.
    """

    def __init__(self, program: Program, classes: Ints, limit: int) -> None:
        self.program, self.classes, self.limit = program, classes, limit
        self.A = program.A[:, classes].astype(np.int64)
        self.holds = self.A > 0
        self.counts = np.zeros(len(classes), dtype=np.int64)
        self.vectors: list[Ints] = []
        self.nodes = 0

    def walk(self, open_: Flags, lo: Ints, hi: Ints) -> None:
        """Count the open classes in every way that leaves no row short of lo or beyond hi."""
        self.nodes += 1
        if len(self.vectors) >= self.limit or self.nodes > MOST_PROGRAMS:
            return
        left = np.where(self.holds, hi[:, None] // np.maximum(self.A, 1), self.program.n).min(axis=0, initial=self.program.n)
        room = np.where(open_, left, 0)
        if (hi < 0).any() or (self.A @ room < lo).any():
            return
        short = np.flatnonzero(lo > 0)
        # the first row is N: as long as it is not full, it is short
        if not len(short):
            self.found()
            return
        can = self.holds[short] & (room > 0)
        choices = np.flatnonzero(can[np.argmin(can.sum(axis=1))])
        chosen = int(choices[np.argmax(room[choices])])
        rest = open_.copy()
        rest[chosen] = False
        for count in range(int(room[chosen]), -1, -1):
            self.counts[chosen] = count
            self.walk(rest, lo - count * self.A[:, chosen], hi - count * self.A[:, chosen])

    def found(self) -> None:
        z = np.zeros(self.program.classes, dtype=np.int64)
        z[self.classes] = self.counts
        if self.program.fits(z):
            self.vectors.append(z)
