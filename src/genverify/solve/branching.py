"""Where to branch: a part of the records whose number is fractional in a solution of the linear program."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Flags
from genverify.core.predicates import Predicate
from genverify.solve.leaves import Part
from genverify.solve.program import COUNTED, Program

CLEAR = 0.25
FRACTIONAL = 1e-6


def choose_part(program: Program, z: npt.NDArray[np.float64]) -> tuple[Part, Flags] | None:
    """
    The part with the most fractional count, as a condition on one, two or three columns where one is clearly
    fractional, else a single class; with the classes that it holds. None where no part that can be named is fractional.
    """
    for k in (1, 2, 3):
        scored = sorted(_fractions(program, z, k), key=lambda scored_part: -scored_part[0])
        for score, columns, atoms in scored:
            if score < CLEAR:
                break
            inside = _aligned(program, columns, atoms)
            if inside is not None:
                names = program.types.domain.names
                codes = {names[c]: program.types.atoms[c][a] for c, a in zip(columns, atoms, strict=True)}
                return Part(where=Predicate.of(codes)), inside
    return _single_class(program, z)


def _fractions(
    program: Program, z: npt.NDArray[np.float64], k: int
) -> Iterator[tuple[float, tuple[int, ...], tuple[int, ...]]]:
    """How far from an integer the count of each combination of k atoms is, over the classes that z uses."""
    used = np.flatnonzero(z > 1e-9)
    order, starts, _ = program.grouped
    table = program.types.table[order[starts[used]]].astype(np.int64)
    sizes = [len(atoms) for atoms in program.types.atoms]
    for columns in combinations(range(table.shape[1]), k):
        shape = tuple(sizes[column] for column in columns)
        sums = np.bincount(np.ravel_multi_index(tuple(table[:, columns].T), shape), weights=z[used])
        score = np.abs(sums - np.rint(sums))
        best = int(np.argmax(score))
        yield float(score[best]), columns, tuple(int(atom) for atom in np.unravel_index(best, shape))


def _aligned(program: Program, columns: tuple[int, ...], atoms: tuple[int, ...]) -> Flags | None:
    """The classes inside a condition, or None where it splits a class."""
    # z counts records by class: of a condition that holds for some types of a class only, the number is not known from z
    matches = (program.types.table[:, columns] == np.array(atoms)).all(axis=1)
    inside = np.bincount(program.class_of, weights=matches, minlength=program.classes)
    _, _, sizes = program.grouped
    return inside == sizes if ((inside == 0) | (inside == sizes)).all() else None


def _single_class(program: Program, z: npt.NDArray[np.float64]) -> tuple[Part, Flags] | None:
    """The class with the most fractional count: all records in the same published cells as one of its types."""
    chosen = int(np.argmax(np.abs(z - np.rint(z))))
    published = np.array([row != COUNTED for row in program.rows])
    inside = (program.A[published] == program.A[published][:, [chosen]]).all(axis=0)
    value = float(z[inside].sum())
    if abs(value - round(value)) < FRACTIONAL:
        return None
    places = program.types.table[program.member(chosen)].tolist()
    return Part(like=tuple(program.types.atoms[column][place][0] for column, place in enumerate(places))), inside
