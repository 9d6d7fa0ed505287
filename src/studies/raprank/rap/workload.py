"""A workload: counting queries as products of clauses, laid out as tables and arrays of indices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Ints, positions, row_keys
from genverify.model.domain import Domain, Predicate
from genverify.model.errors import DataError

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]


def roomy(n: int) -> int:
    """
    The next number with at most three leading bits: so few sizes exist that most blocks share a compiled program.

    >>> [roomy(n) for n in (1, 7, 9, 10, 13, 17, 621, 1000)]
    [1, 7, 10, 10, 14, 20, 640, 1024]
    """
    step = 1 << max(int(n).bit_length() - 3, 0)
    return -(-n // step) * step


FEWEST_TABLE_ROWS, MANY_ROWS = 8, 512


def room_for(rows: int) -> int:
    """
    The rows that an area is filled up to: below 512 even fewer sizes, since compiling takes longer there than the rows.

    >>> [room_for(rows) for rows in (3, 9, 13, 100, 500, 600, 1647)]
    [8, 12, 16, 128, 512, 640, 1792]
    """
    if rows > MANY_ROWS:
        return roomy(rows)
    step = 1 << max(int(rows).bit_length() - 2, 0)
    return max(-(-rows // step) * step, FEWEST_TABLE_ROWS)


@dataclass(frozen=True)
class Workload:
    """
    The distinct clauses of m queries, and which clauses each query multiplies.

    Clauses are numbered: every code of every column, then the clause that always holds, then the sets of codes, column by
    column. `sets` holds for every column a 0/1 matrix (its sets, its codes); rows of zeros fill it up. `slots` is
    (m, width): a query of few clauses is filled up with the one that always holds.
    """

    sizes: tuple[int, ...]
    sets: tuple[Floats, ...]
    slots: Indices

    @cached_property
    def codes(self) -> int:
        return sum(self.sizes)

    @cached_property
    def always(self) -> int:
        """The number of the clause that always holds."""
        return self.codes

    @cached_property
    def columns(self) -> Indices:
        """The column that each clause is about; -1 for the one that always holds."""
        numbers = np.arange(len(self.sizes), dtype=np.int32)
        sets = np.repeat(numbers, [len(inside) for inside in self.sets])
        return np.concatenate([np.repeat(numbers, self.sizes), np.array([-1], np.int32), sets])


def build_workload(domain: Domain, predicates: Sequence[Predicate]) -> Workload:
    """The workload of the predicates; an error if one speaks of a column or a code that is not in the domain."""
    result = sorted({clause for predicate in predicates for clause in predicate.clauses})
    for clause in result:
        domain.check(Predicate((clause,)), "a query")
    sizes = tuple(len(column.codes) for column in domain.columns)
    number, sets = _number_clauses(domain, result)
    width = max((len(predicate.clauses) for predicate in predicates), default=1) or 1
    slots = np.full((len(predicates), width), sum(sizes), np.int32)
    for row, predicate in zip(slots, predicates, strict=True):
        row[: len(predicate.clauses)] = [number[clause] for clause in predicate.clauses]
    return Workload(sizes, sets, slots)


Clause = tuple[str, tuple[int, ...]]


def _number_clauses(domain: Domain, clauses: Sequence[Clause]) -> tuple[dict[Clause, int], tuple[Floats, ...]]:
    number: dict[Clause, int] = {}
    sets = []
    always = sum(len(column.codes) for column in domain.columns)
    next_set, first = always + 1, 0
    for column in domain.columns:
        member = {codes: np.isin(column.codes, codes) for name, codes in clauses if name == column.name}
        part = [codes for codes, inside in member.items() if inside.sum() not in (1, len(inside))]
        for codes, inside in member.items():
            if codes not in part:
                number[column.name, codes] = always if inside.all() else first + int(np.argmax(inside))
        number |= {(column.name, codes): next_set + index for index, codes in enumerate(part)}
        matrix = np.zeros((roomy(len(part)), len(column.codes)), np.float32)
        for index, codes in enumerate(part):
            matrix[index] = member[codes]
        sets.append(matrix)
        next_set, first = next_set + len(matrix), first + len(column.codes)
    return number, tuple(sets)


def place_codes(domain: Domain, codes: npt.NDArray[np.integer], what: str) -> Indices:
    """The place of each code among the codes of its column; `codes` ends in one axis of columns."""
    if codes.shape[-1] != len(domain.columns):
        raise DataError(f"{what} has {codes.shape[-1]} columns, the domain has {len(domain.columns)}: give the same columns")
    indices = np.empty(codes.shape, np.int32)
    for number, column in enumerate(domain.columns):
        part, known = codes[..., number], np.asarray(column.codes)
        order = np.argsort(known)
        at = positions(known[order], part)
        wrong = part[at < 0]
        if wrong.size:
            raise DataError(
                f"{what} holds {column.name}={wrong.flat[0]}, which is not a code of the domain (known: {known.tolist()})"
            )
        indices[..., number] = order[at]
    return indices


# Queries as tables: products of clauses (rests) times single clauses (pivots), so that a table is one matrix product.

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
    result, single = [], []
    for number in range(kind.max() + 1):
        part = np.flatnonzero(kind == number)
        if len(part) < FEWEST_QUERIES:
            single.append(part)
        else:
            result.append(_table(workload, left[part], pivot[part], part))
    return result + ([_without_pivot(workload, np.sort(np.concatenate(single)))] if single else [])


def _kinds(rest: Ints, pivot: Indices) -> Ints:
    order = np.lexsort((pivot, rest))
    sets = np.split(pivot[order], np.flatnonzero(np.diff(rest[order])) + 1)
    number: dict[bytes, int] = {}
    return np.array([number.setdefault(np.unique(part).tobytes(), len(number)) for part in sets], dtype=np.int64)


def _table(workload: Workload, left: Indices, pivot: Indices, queries: Ints) -> Layout:
    _, first, row = np.unique(row_keys([left])[0], return_index=True, return_inverse=True)
    pivots, index = np.unique(pivot, return_inverse=True)
    return Layout(_narrow(workload, left[first]), pivots.astype(np.int32), queries, row.ravel(), index.ravel())


def _without_pivot(workload: Workload, queries: Ints) -> Layout:
    alone = np.zeros(len(queries), np.int64)
    rests = _narrow(workload, np.sort(workload.slots[queries], axis=1))
    return Layout(rests, np.array([workload.always], np.int32), queries, np.arange(len(queries)), alone)


def _narrow(workload: Workload, rests: Indices) -> Indices:
    needed = (rests != workload.always).any(axis=0)
    needed[0] |= not needed.any()
    return rests[:, needed].astype(np.int32)
