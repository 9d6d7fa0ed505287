"""Queries as a table: each one is a product of some clauses (a rest) times a pivot, so that many are one matrix product."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genverify.core.arrays import row_keys
from genverify.papers.raprank.rap.workload import Indices, Workload

FEWEST_ROWS = 64  # below, the matrices of a run are so small that XLA is slower with them than query by query
MATRIX_SPEED = 8  # multiplications of a matrix product in the time of one that gathers its factors


@dataclass(frozen=True)
class Factors:
    """
    Rests (R, width) and pivots (V,) as numbers of clauses; query i stands in the table at (row[i], place[i]).

    Unless it pays to take pivots, the only one is the clause that always holds, and every query is a rest.
    """

    rests: Indices
    pivots: Indices
    row: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]

    @property
    def work(self) -> float:
        """What it takes to answer every query, in products of gathered clauses."""
        return float(len(self.rests) * (self.rests.shape[1] + len(self.pivots) / MATRIX_SPEED))


def factor(workload: Workload, rows: int) -> Factors:
    """The table with the least work: no pivot, the clauses of one column as pivots, or the last clause of every query."""
    m, width = workload.slots.shape
    whole = Factors(workload.slots, np.array([workload.always], np.int32), np.arange(m), np.zeros(m, np.int64))
    if rows < FEWEST_ROWS or width == 1:
        return whole
    return min((whole, *(_split(workload, taken) for taken in _candidates(workload))), key=lambda factors: factors.work)


def _candidates(workload: Workload) -> Iterator[npt.NDArray[np.bool_]]:
    """Which slot of each query could hold its pivot, one at most."""
    real = workload.slots != workload.always
    last = real.sum(axis=1) - 1
    yield real & (np.arange(real.shape[1]) == last[:, None])
    column = workload.columns[workload.slots]
    for number in range(len(workload.sizes)):
        if (column == number).any():
            yield column == number


def _split(workload: Workload, taken: npt.NDArray[np.bool_]) -> Factors:
    pivot = np.where(taken.any(axis=1), workload.slots[np.arange(len(taken)), taken.argmax(axis=1)], workload.always)
    left = np.sort(np.where(taken, workload.always, workload.slots), axis=1)
    _, first, row = np.unique(row_keys([left])[0], return_index=True, return_inverse=True)
    pivots, place = np.unique(pivot, return_inverse=True)
    rests = left[first]
    needed = (rests != workload.always).any(axis=0)
    needed[0] |= not needed.any()
    return Factors(rests[:, needed].astype(np.int32), pivots.astype(np.int32), row.ravel(), place.ravel())
