"""Datasets that fit a program: from class counts to records."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement, product

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


def list_records(program: Program, z: Ints) -> Iterator[Codes]:
    """Every dataset with the given class counts, one by one."""
    order, starts, sizes = program.grouped
    pools = []
    for c in np.flatnonzero(z).tolist():
        kinds = [record for t in order[starts[c] : starts[c] + sizes[c]].tolist() for record in _records_of_type(program, t)]
        pools.append(combinations_with_replacement(kinds, int(z[c])))
    for parts in product(*pools):
        records = np.array([record for part in parts for record in part], dtype=np.int16).reshape(
            -1, len(program.types.atoms)
        )
        yield records[np.lexsort(records.T[::-1])]


def _records_of_type(program: Program, t: int) -> Iterator[tuple[int, ...]]:
    return product(*(atoms[place] for atoms, place in zip(program.types.atoms, program.types.table[t], strict=True)))


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


def class_vectors(program: Program, datasets: Codes) -> list[Ints]:
    """The class counts of datasets that fit the program, each once."""
    shape = tuple(max(1, len(atoms)) for atoms in program.types.atoms)
    places = []
    for column, atoms in enumerate(program.types.atoms):
        lookup = np.zeros(int(datasets[:, :, column].max(initial=0)) + 1, dtype=np.int64)
        for place, atom in enumerate(atoms):
            lookup[[code for code in atom if code < len(lookup)]] = place
        places.append(lookup[datasets[:, :, column]])
    keys = np.ravel_multi_index(tuple(program.types.table.T.astype(np.int64)), shape)
    order = np.argsort(keys)
    found = order[np.minimum(np.searchsorted(keys[order], np.ravel_multi_index(tuple(places), shape)), len(keys) - 1)]
    classes = program.class_of[found]
    counts = [np.bincount(row, minlength=program.classes) for row in classes]
    return [z for z in {z.tobytes(): z for z in counts}.values() if program.fits(z)]
