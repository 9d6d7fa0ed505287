"""A synthetic tract as a reconstruction in an MPS file, of the size that agencies publish: who lives in which block?"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import highspy
import numpy as np
from scipy.sparse import coo_array, csc_array

from genverify.core.arraytypes import Ints

SEXES, YEARS, RACES, BAND = 2, 100, 5, 5
OF_RACE = (0.62, 0.15, 0.12, 0.07, 0.04)


@dataclass(frozen=True)
class TractFile:
    """What was written."""

    columns: int
    rows: int


def write_tract(path: Path, blocks: int, persons: int, by_year: bool, seed: int) -> TractFile:
    """
    A program with a number for every block and kind of person (sex, year of age, race) whose sex and five-year band live in
    the block. Rows: the block's persons by sex and band and by race (`by_year`: also by sex and year, race and year), the
    tract's by all three.
    """
    rng = np.random.default_rng(seed)
    people = np.stack([
        rng.integers(blocks, size=blocks * persons), rng.integers(SEXES, size=blocks * persons),
        rng.integers(YEARS, size=blocks * persons), rng.choice(RACES, size=blocks * persons, p=OF_RACE),
    ])  # fmt: skip
    lived = np.unique(np.stack([people[0], people[1], people[2] // BAND]), axis=1)
    inside = [np.repeat(own, BAND * RACES) for own in lived]
    more = np.tile(np.indices((BAND, RACES)).reshape(2, -1), lived.shape[1])
    columns = np.stack([inside[0], inside[1], inside[2] * BAND + more[0], more[1]])
    tables = [_keys(own, by_year) for own in (columns, people)]
    matrix, counts = _rows(*tables)
    _write(path, matrix, counts)
    return TractFile(columns.shape[1], len(counts))


def _keys(who: Ints, by_year: bool) -> list[Ints]:
    """For each table, a number for the cell that everybody lies in."""
    block, sex, year, race = who
    tables = [
        (block, sex, year // BAND),
        (block, race),
        (sex, year, race),
        *([(block, sex, year), (block, race, year)] if by_year else []),
    ]
    return [sum(own * 1_000**place for place, own in enumerate(table)) + np.int64(0) for table in tables]


def _rows(columns: list[Ints], people: list[Ints]) -> tuple[csc_array, Ints]:
    """Which columns lie in which cell of which table, and how many people do."""
    rows, counts, before = list[Ints](), list[Ints](), 0
    for own, of in zip(columns, people, strict=True):
        cells, place = np.unique(own, return_inverse=True)
        rows.append(before + place)
        counts.append(np.bincount(np.searchsorted(cells, of), minlength=len(cells)))
        before += len(cells)
    number = np.tile(np.arange(len(columns[0])), len(columns))
    ones = np.ones(len(number))
    return coo_array((ones, (np.concatenate(rows), number)), shape=(before, len(columns[0]))).tocsc(), np.concatenate(counts)


def _write(path: Path, matrix: csc_array, counts: Ints) -> None:
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    numbers, none = matrix.shape[1], np.zeros(matrix.shape[1])
    highs.passModel(
        numbers, matrix.shape[0], matrix.nnz, int(highspy.MatrixFormat.kColwise), int(highspy.ObjSense.kMinimize), 0.0,
        none, none, np.full(numbers, float(counts.max())), counts.astype(float), counts.astype(float),
        matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data, np.ones(numbers, dtype=np.int32),
    )  # fmt: skip
    highs.writeModel(str(path))
