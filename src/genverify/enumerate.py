"""All class counts that fit a program, where they are few."""

from dataclasses import dataclass
from math import floor

import numpy as np
import numpy.typing as npt

from genverify.bounds import INTEGRAL, Bounder

Ints = npt.NDArray[np.int64]
MOST_PROGRAMS = 20_000
MOST_CLASSES = 400


@dataclass(frozen=True)
class Enumeration:
    """Class counts that fit; `complete` if there are no others."""

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
    search = _Search(bounder, np.flatnonzero(used), limit + 1)
    search.run()
    complete = outside.proof is not None and len(search.found) <= limit and search.programs <= MOST_PROGRAMS
    return Enumeration(search.found[:limit] or known, complete)


@dataclass
class _Search:
    """All fitting counts of the given classes, depth first; the linear program says how large the next count can be."""

    bounder: Bounder
    classes: Ints
    limit: int

    def run(self) -> None:
        self.found: list[Ints] = []
        self.programs = 0
        others = np.ones(self.bounder.program.classes, dtype=np.int64)
        others[self.classes] = 0
        self.bounder.lp.push_row(others, 0, 0)
        try:
            self.walk([])
        finally:
            self.bounder.lp.pop_row()

    def walk(self, counts: list[int]) -> None:
        if len(counts) == len(self.classes):
            z = np.zeros(self.bounder.program.classes, dtype=np.int64)
            z[self.classes] = counts
            if self.bounder.program.fits(z):
                self.found.append(z)
            return
        chosen = np.zeros(self.bounder.program.classes, dtype=np.int64)
        chosen[self.classes[len(counts)]] = 1
        self.programs += 1
        answer = self.bounder.lp.maximise(chosen)
        for count in range(-1 if answer.value is None else floor(answer.value + INTEGRAL), -1, -1):
            if len(self.found) >= self.limit or self.programs > MOST_PROGRAMS:
                return
            self.bounder.lp.push_row(chosen, count, count)
            self.walk([*counts, count])
            self.bounder.lp.pop_row()
