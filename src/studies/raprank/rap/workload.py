"""A workload: counting queries as products of clauses, laid out as arrays of indices."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from genverify.core.arrays import positions
from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.core.predicates import Predicate

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


FEWEST_ROWS, MANY_ROWS = 8, 512


def room_for(rows: int) -> int:
    """
    The rows that an area is filled up to: below 512 even fewer sizes, since compiling takes longer there than the rows.

    >>> [room_for(rows) for rows in (3, 9, 13, 100, 500, 600, 1647)]
    [8, 12, 16, 128, 512, 640, 1792]
    """
    if rows > MANY_ROWS:
        return roomy(rows)
    step = 1 << max(int(rows).bit_length() - 2, 0)
    return max(-(-rows // step) * step, FEWEST_ROWS)


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
    found = sorted({clause for predicate in predicates for clause in predicate.clauses})
    for clause in found:
        domain.check(Predicate((clause,)), "a query")
    sizes = tuple(len(column.codes) for column in domain.columns)
    number, sets = _number_clauses(domain, found)
    width = max((len(predicate.clauses) for predicate in predicates), default=1) or 1
    slots = np.full((len(predicates), width), sum(sizes), np.int32)
    for row, predicate in zip(slots, predicates, strict=True):
        row[: len(predicate.clauses)] = [number[clause] for clause in predicate.clauses]
    return Workload(sizes, sets, slots)


Clause = tuple[str, tuple[int, ...]]


def _number_clauses(domain: Domain, clauses: Sequence[Clause]) -> tuple[dict[Clause, int], tuple[Floats, ...]]:
    """The number of every clause, and the sets of codes of every column."""
    number: dict[Clause, int] = {}
    sets = []
    always = sum(len(column.codes) for column in domain.columns)
    next_set, first = always + 1, 0
    for column in domain.columns:
        member = {codes: np.isin(column.codes, codes) for name, codes in clauses if name == column.name}
        own = [codes for codes, inside in member.items() if inside.sum() not in (1, len(inside))]
        for codes, inside in member.items():
            if codes not in own:
                number[column.name, codes] = always if inside.all() else first + int(np.argmax(inside))
        number |= {(column.name, codes): next_set + place for place, codes in enumerate(own)}
        matrix = np.zeros((roomy(len(own)), len(column.codes)), np.float32)
        for place, codes in enumerate(own):
            matrix[place] = member[codes]
        sets.append(matrix)
        next_set, first = next_set + len(matrix), first + len(column.codes)
    return number, tuple(sets)


def place_codes(domain: Domain, codes: npt.NDArray[np.integer], what: str) -> Indices:
    """The place of each code among the codes of its column; `codes` ends in one axis of columns."""
    if codes.shape[-1] != len(domain.columns):
        raise DataError(f"{what} has {codes.shape[-1]} columns, the domain has {len(domain.columns)}: give the same columns")
    places = np.empty(codes.shape, np.int32)
    for number, column in enumerate(domain.columns):
        own, known = codes[..., number], np.asarray(column.codes)
        order = np.argsort(known)
        at = positions(known[order], own)
        wrong = own[at < 0]
        if wrong.size:
            raise DataError(
                f"{what} holds {column.name}={wrong.flat[0]}, which is not a code of the domain (known: {known.tolist()})"
            )
        places[..., number] = order[at]
    return places
