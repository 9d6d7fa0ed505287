"""Queries as tables: products of clauses (rests) times single clauses (pivots), so that a table is one matrix product."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genverify.core.arrays import row_keys
from genverify.core.arraytypes import Ints
from genverify.papers.raprank.rap.workload import Indices, Workload

FEWEST_ROWS = 64  # below, the matrices of a run are so small that XLA is slower with them than query by query
MATRIX_SPEED = 8  # multiplications of a matrix product in the time of one that gathers its factors
FEWEST_QUERIES = 64  # a table of fewer queries saves less than it costs to compile and to start


@dataclass(frozen=True)
class Layout:
    """
    Rests (R, width) and pivots (V,) as numbers of clauses; query `queries[i]` stands in the table at (row[i], place[i]).

    Queries that belong to no table of their own have the clause that always holds as their pivot: each is a rest.
    """

    rests: Indices
    pivots: Indices
    queries: Ints
    row: Ints
    place: Ints

    @property
    def work(self) -> float:
        """What it takes to answer every query, in products of gathered clauses."""
        return float(len(self.rests) * (self.rests.shape[1] + len(self.pivots) / MATRIX_SPEED))


def lay_out(workload: Workload, rows: int) -> list[Layout]:
    """The tables with the least work: no pivot, or those of one column, or the last clause of every query as pivots."""
    everything = [_without_pivot(workload, np.arange(len(workload.slots)))]
    if rows < FEWEST_ROWS or workload.slots.shape[1] == 1:
        return everything
    choices = [everything, *(_tables(workload, taken) for taken in _candidates(workload))]
    return min(choices, key=lambda tables: sum(table.work for table in tables))


def _candidates(workload: Workload) -> Iterator[npt.NDArray[np.bool_]]:
    """Which slot of each query could hold its pivot, one at most."""
    real = workload.slots != workload.always
    last = real.sum(axis=1) - 1
    yield real & (np.arange(real.shape[1]) == last[:, None])
    column = workload.columns[workload.slots]
    for number in range(len(workload.sizes)):
        if (column == number).any():
            yield column == number


def _tables(workload: Workload, taken: npt.NDArray[np.bool_]) -> list[Layout]:
    """Rests that are asked with the same pivots make a table; those of small tables stand together, without pivot."""
    pivot = np.where(taken.any(axis=1), workload.slots[np.arange(len(taken)), taken.argmax(axis=1)], workload.always)
    left = np.sort(np.where(taken, workload.always, workload.slots), axis=1)
    rest = np.unique(row_keys([left])[0], return_inverse=True)[1].ravel()
    kind = _kinds(rest, pivot)[rest]
    found, single = [], []
    for number in range(kind.max() + 1):
        own = np.flatnonzero(kind == number)
        if len(own) < FEWEST_QUERIES:
            single.append(own)
        else:
            found.append(_table(workload, left[own], pivot[own], own))
    return found + ([_without_pivot(workload, np.sort(np.concatenate(single)))] if single else [])


def _kinds(rest: Ints, pivot: Indices) -> Ints:
    """The number of every rest's set of pivots."""
    order = np.lexsort((pivot, rest))
    sets = np.split(pivot[order], np.flatnonzero(np.diff(rest[order])) + 1)
    number: dict[bytes, int] = {}
    return np.array([number.setdefault(np.unique(own).tobytes(), len(number)) for own in sets], dtype=np.int64)


def _table(workload: Workload, left: Indices, pivot: Indices, queries: Ints) -> Layout:
    _, first, row = np.unique(row_keys([left])[0], return_index=True, return_inverse=True)
    pivots, place = np.unique(pivot, return_inverse=True)
    return Layout(_narrow(workload, left[first]), pivots.astype(np.int32), queries, row.ravel(), place.ravel())


def _without_pivot(workload: Workload, queries: Ints) -> Layout:
    alone = np.zeros(len(queries), np.int64)
    rests = _narrow(workload, np.sort(workload.slots[queries], axis=1))
    return Layout(rests, np.array([workload.always], np.int32), queries, np.arange(len(queries)), alone)


def _narrow(workload: Workload, rests: Indices) -> Indices:
    """Without the slots that hold nothing but the clause that always holds."""
    needed = (rests != workload.always).any(axis=0)
    needed[0] |= not needed.any()
    return rests[:, needed].astype(np.int32)
