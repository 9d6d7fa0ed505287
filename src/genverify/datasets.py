"""Datasets that fit a program: from class counts to records."""

import numpy as np
import numpy.typing as npt

from genverify.claims import Codes
from genverify.program.compact import Program

Ints = npt.NDArray[np.int64]


def draw_records(program: Program, z: Ints, rng: np.random.Generator) -> Codes:
    """A dataset with the given class counts: a random type of each class, a random code of each atom; sorted records."""
    classes = np.repeat(np.arange(program.classes), z)
    types = np.array([rng.choice(program.members[c]) if len(program.members[c]) > 1 else program.members[c][0]
                      for c in classes], dtype=np.int64)  # fmt: skip
    records = np.empty((len(types), len(program.types.atoms)), dtype=np.int16)
    for column, atoms in enumerate(program.types.atoms):
        places = program.types.table[types, column]
        records[:, column] = [atom[0] if len(atom) == 1 else rng.choice(atom) for atom in (atoms[p] for p in places)]
    return records[np.lexsort(records.T[::-1])]


def datasets_of(program: Program, z: Ints) -> int:
    """How many datasets have the given class counts."""
    raw = np.bincount(program.class_of, weights=program.types.raw, minlength=program.classes).astype(np.int64)
    total = 1
    for c in np.flatnonzero(z).tolist():
        total *= _multisets(int(raw[c]), int(z[c]))
    return total


def _multisets(kinds: int, size: int) -> int:
    """
    >>> _multisets(2, 2)
    3
    """
    total = 1
    for i in range(size):
        total = total * (kinds + i) // (i + 1)
    return total


def class_counts(program: Program, records: Codes) -> Ints:
    """The class counts of records that are all live; an error if one is not."""
    lookup = {tuple(row): c for row, c in zip(program.types.table.tolist(), program.class_of.tolist(), strict=True)}
    z = np.zeros(program.classes, dtype=np.int64)
    for record in records.tolist():
        atoms = tuple(next(i for i, atom in enumerate(column) if code in atom)
                      for code, column in zip(record, program.types.atoms, strict=True))  # fmt: skip
        z[lookup[atoms]] += 1
    return z
