"""Datasets that fit a program: from class counts to records."""

from functools import cache

import numpy as np
import numpy.typing as npt

from genverify.claims import Codes
from genverify.program.compact import Program

Ints = npt.NDArray[np.int64]


def draw_records(program: Program, z: Ints, rng: np.random.Generator) -> Codes:
    """A dataset with the given class counts: a random type of each class, a random code of each atom; sorted records."""
    classes = np.repeat(np.arange(program.classes), z)
    order, starts, sizes = program.grouped
    types = order[starts[classes] + _pick(rng, sizes[classes])]
    records = np.empty((len(types), len(program.types.atoms)), dtype=np.int16)
    for column, atoms in enumerate(program.types.atoms):
        codes, first, size = _flat(atoms)
        places = program.types.table[types, column]
        records[:, column] = codes[first[places] + _pick(rng, size[places])]
    return records[np.lexsort(records.T[::-1])]


def _pick(rng: np.random.Generator, sizes: Ints) -> Ints:
    """A random place in each list of the given sizes; no draw where there is no choice."""
    if (sizes == 1).all():
        return np.zeros(len(sizes), dtype=np.int64)
    return rng.integers(0, sizes)


@cache
def _flat(atoms: tuple[tuple[int, ...], ...]) -> tuple[Ints, Ints, Ints]:
    """The codes of all atoms in one row, with the first place and the size of each atom."""
    size = np.array([len(atom) for atom in atoms], dtype=np.int64)
    return np.array([code for atom in atoms for code in atom]), np.cumsum(size) - size, size


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
