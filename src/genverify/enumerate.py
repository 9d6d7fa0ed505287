"""All class counts that fit a program, where they are few."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genverify.bounds import Bounder
from genverify.program.compact import Program

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Enumeration:
    """Class counts that fit; `complete` if there are no others."""

    vectors: list[Ints]
    complete: bool


def all_class_counts(bounder: Bounder, known: list[Ints], limit: int) -> Enumeration:
    """
    Every fitting z, up to `limit`: first every class that some z uses, by asking for one outside those seen so far, then
    all combinations of these classes.
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
    found = _combinations(program, np.flatnonzero(used), limit + 1)
    return Enumeration(found[:limit], complete=outside.proof is not None and len(found) <= limit)


def _combinations(program: Program, classes: Ints, limit: int) -> list[Ints]:
    """All fitting counts of the given classes, depth first, cut where a row is overfull or cannot be filled any more."""
    A = program.A[:, classes].astype(np.int64)
    found: list[Ints] = []
    reach = np.cumsum((A > 0)[:, ::-1], axis=1)[:, ::-1] > 0

    def walk(place: int, counts: list[int], left_hi: Ints, left_lo: Ints) -> None:
        if len(found) >= limit:
            return
        if place == len(classes):
            if (left_lo <= 0).all():
                z = np.zeros(program.classes, dtype=np.int64)
                z[classes] = counts
                found.append(z)
            return
        if (left_lo[~reach[:, place]] > 0).any():
            return
        column = A[:, place]
        most = int(left_hi[column > 0].min())
        for count in range(most, -1, -1):
            walk(place + 1, [*counts, count], left_hi - count * column, left_lo - count * column)

    walk(0, [], program.hi.copy(), program.lo.copy())
    return found
