"""Datasets that fit a program: from class counts to records."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import comb
from typing import NamedTuple

import numpy as np

from genverify.core.arrays import positions, row_bytes, row_keys
from genverify.core.arraytypes import Ints
from genverify.core.claims import Codes
from genverify.solve.program import Program
from genverify.solve.recount import WrongAnswer
from genverify.solve.types import Atoms


def draw_records(program: Program, classes: Ints, rng: np.random.Generator, by_raw: bool = False) -> Codes:
    """
    Datasets of the given classes, one row of records each: a random type of each class, a random code of each atom; sorted
    records, of the shape (datasets, N, columns). `by_raw` makes every record of a class equally likely, where otherwise
    every type is.
    """
    order, starts, sizes = program.grouped
    types = order[_pick_raw(program, classes, rng) if by_raw else starts[classes] + _pick(rng, sizes[classes])]
    if program.types.records is not None:
        codes, key = program.types.records
        drawn_in_order: Codes = codes[np.take_along_axis(types, np.argsort(key[types], axis=1, kind="stable"), axis=1)]
        return drawn_in_order
    flat = _flat(program.types.atoms)
    places = program.types.table.T[:, types] + flat.column[:, None, None]
    drawn = flat.codes[flat.first[places] + _pick(rng, flat.size[places])]
    records = np.ascontiguousarray(np.moveaxis(drawn, 0, -1))
    [keys] = row_keys([records.reshape(-1, records.shape[2])])
    in_order = np.argsort(keys.reshape(types.shape), axis=1, kind="stable")
    return np.take_along_axis(records, in_order[:, :, None], axis=1)


def draw_dataset(program: Program, z: Ints, rng: np.random.Generator, by_raw: bool = False) -> Codes:
    """One dataset with the given class counts."""
    classes = np.repeat(np.arange(program.classes), z)
    records: Codes = draw_records(program, classes[None, :], rng, by_raw)[0]
    return records


def _pick_raw(program: Program, classes: Ints, rng: np.random.Generator) -> Ints:
    """A place among the types sorted by class, each type as often as it stands for records."""
    order, starts, _ = program.grouped
    ends = np.cumsum(program.types.raw[order])
    first = (ends - program.types.raw[order])[starts]
    sizes = np.append(first[1:], ends[-1:]) - first
    return np.searchsorted(ends, first[classes] + _pick(rng, sizes[classes]), side="right")


def _pick(rng: np.random.Generator, sizes: Ints) -> Ints:
    """A random place in each list of the given sizes; no draw where there is no choice."""
    if (sizes == 1).all():
        return np.zeros(sizes.shape, dtype=np.int64)
    return rng.integers(0, sizes)


class _Flat(NamedTuple):
    """
    The atoms of all columns in one row, from where those of each column start: the codes of all of them, and per atom the
    place of its first code and how many it has. `atom` is the place, in its column, of the atom that holds each code, for
    the codes of each column in turn from `code` on, as many as `codes_of` says; the entry after them is -1.
    """

    column: Ints
    codes: Codes
    first: Ints
    size: Ints
    code: Ints
    codes_of: Ints
    atom: Ints


@lru_cache(maxsize=64)
def _flat(atoms: tuple[Atoms, ...]) -> _Flat:
    every = [atom for column in atoms for atom in column]
    size = np.array([len(atom) for atom in every], dtype=np.int64)
    codes = np.array([code for atom in every for code in atom], dtype=np.int16)
    listed = [_places(column) for column in atoms]
    lengths = np.array([len(places) for places in listed], dtype=np.int64)
    columns = np.array([len(column) for column in atoms], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    return _Flat(
        np.cumsum(columns) - columns, codes, np.cumsum(size) - size, size, starts, lengths - 1, np.concatenate(listed)
    )


def list_records(program: Program, z: Ints) -> Iterator[Codes]:
    """Every dataset with the given class counts, one by one."""
    order, starts, sizes = program.grouped
    pools = []
    for c in np.flatnonzero(z).tolist():
        kinds = [record for t in order[starts[c] : starts[c] + sizes[c]].tolist() for record in records_of_type(program, t)]
        pools.append(combinations_with_replacement(kinds, int(z[c])))
    for parts in product(*pools):
        records = np.array([record for part in parts for record in part], dtype=np.int16).reshape(
            -1, len(program.types.atoms)
        )
        yield records[np.lexsort(records.T[::-1])]


def records_of_type(program: Program, t: int) -> Iterator[tuple[int, ...]]:
    return product(*(atoms[place] for atoms, place in zip(program.types.atoms, program.types.table[t], strict=True)))


def datasets_of(program: Program, z: Ints) -> int:
    """How many datasets have the given class counts."""
    raw = np.bincount(program.class_of, weights=program.types.raw, minlength=program.classes).astype(np.int64)
    total = 1
    for c in np.flatnonzero(z).tolist():
        total *= comb(int(raw[c]) + int(z[c]) - 1, int(z[c]))
    return total


def class_vectors(program: Program, datasets: Codes) -> list[Ints]:
    """The class counts of datasets, each once; a dataset that does not fit the program is an error."""
    # A record that the release rules out (-1) has no class and is not counted. It does not slip through: the counts then
    # add up to less than N, which is a row of the program, and the recount refuses them. Many datasets share their class
    # counts, so each distinct vector is recounted once.
    classes = np.sort(classes_of_records(program, datasets), axis=1)
    # without records there is one vector, and no bytes to compare
    first = np.sort(np.unique(row_bytes(classes), return_index=True)[1]) if classes.shape[1] else np.zeros(1, dtype=np.int64)
    kept = classes[first]
    dataset, place = np.nonzero(kept >= 0)
    counts = np.bincount(dataset * program.classes + kept[dataset, place], minlength=len(kept) * program.classes)
    counts = counts.reshape(len(kept), program.classes)
    for number in first[~program.fit(counts.T)].tolist():
        raise WrongAnswer(
            f"block {program.release.block}: dataset {number} does not fit the published counts when recounted; nothing "
            "is reported. Generate the datasets again."
        )
    return list(counts)


def classes_of_records(program: Program, datasets: Codes) -> Ints:
    """The class of every record of every dataset; -1 for a record that the release rules out."""
    records = datasets.reshape(-1, datasets.shape[2])
    if program.types.records is not None:
        keys, wanted = row_keys([program.types.records[0], records])
    else:
        keys, wanted = row_keys([program.types.table, _atoms_of(program, records)])
    order = np.argsort(keys)
    index = positions(keys[order], wanted)
    # positions gives -1 for a key that is not among the types: it indexes the appended last entry, which is -1 again
    return np.append(program.class_of[order], -1)[index].reshape(datasets.shape[:2])


def _atoms_of(program: Program, records: Codes) -> Ints:
    """The place of the atom of each code of each record; -1 for a code that no atom holds."""
    flat, codes = _flat(program.types.atoms), records.astype(np.int64)
    # a code that no atom holds has the place of the entry after the last one
    known = np.where((codes >= 0) & (codes < flat.codes_of), codes, flat.codes_of)
    return flat.atom[flat.code + known]


def _places(atoms: Atoms) -> Ints:
    """The place of the atom that holds each code; -1 for codes that none holds, the last entry among them."""
    listed = np.full(max((code for atom in atoms for code in atom), default=-1) + 2, -1, dtype=np.int64)
    for place, atom in enumerate(atoms):
        listed[list(atom)] = place
    return listed
