"""Which records a release rules out: zero cells, implied zeros and structural rules."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Flags, Ints
from genverify.core.domain import Domain
from genverify.core.kept import kept
from genverify.core.predicates import EVERY, Predicate, Rule
from genverify.core.queries import Query
from genverify.core.release import TOTAL, Release, Schema

MOST_CELLS = 2000
KEPT_FAMILIES = 1000


@dataclass(frozen=True)
class Lemma:
    """Disjoint published cells inside a universe whose counts add up to its total: no other record of it exists."""

    universe: str
    cells: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"universe": self.universe, "cells": list(self.cells)}


def zero_cells(release: Release) -> list[Rule]:
    """Every published cell with count 0, as a rule that no record may break."""
    zero = [q for q, hi in zip(release.queries, release.hi, strict=True) if hi == 0]
    return [Rule(q.id, adding(q, release.schema.domain), ()) for q in zero]


def adding(query: Query, domain: Domain) -> Predicate:
    """The records that add to a query: those inside it, and where a column is summed, with a code above 0."""
    if query.sums is None:
        return query.predicate
    return query.predicate & Predicate.of({query.sums: [code for code in domain[query.sums].codes if code > 0]})


def one_code_each(queries: Sequence[Query], domain: Domain) -> list[Predicate]:
    """Conditions that tell every code of a summed column from the others."""
    summed = dict.fromkeys(query.sums for query in queries if query.sums)
    return [Predicate.of({name: [code]}) for name in summed for code in domain[name].codes]


def lemma_rule(lemma: Lemma, predicates: dict[str, Predicate]) -> Rule:
    """A lemma as a rule: a record of the universe lies in one of the cells."""
    when = predicates.get(lemma.universe, EVERY)
    return Rule(f"all of {lemma.universe}", when, tuple(predicates[cell] for cell in lemma.cells))


def implied_zeros(release: Release) -> list[Lemma]:
    """
    The lemmas of a release: for each universe (N, or a published cell) and each set of columns, greedily the largest
    disjoint cells inside it, kept where they exhaust its total. Which lemmas are found changes the speed, never a result.
    """
    found = Implied(release)
    return [lemma for columns in found.families for lemma in found.lemmas(columns)]


class Implied:
    """The cells of a release that count some record, and the lemmas about those that name the same columns."""

    def __init__(self, release: Release) -> None:
        self.release, self.queries = release, release.schema.queries
        # by position in the schema; the whole block comes last
        self.lo, self.hi = np.zeros((2, len(self.queries) + 1), dtype=np.int64)
        self.lo[release.cells], self.hi[release.cells] = release.lo, release.hi
        self.lo[-1] = self.hi[-1] = release.n

    @cached_property
    def universes(self) -> Ints:
        """The cells that count some record, and the whole block."""
        counted = np.flatnonzero(self.lo[:-1] > 0).tolist()
        return np.array([*(cell for cell in counted if not self.queries[cell].sums), len(self.queries)], dtype=np.int64)

    @property
    def families(self) -> list[tuple[str, ...]]:
        """The columns that cells name together, those of the largest counts first."""
        return list(dict.fromkeys(self.queries[cell].predicate.columns for cell in self._largest(self.universes[:-1])))

    def _largest(self, cells: Ints) -> list[int]:
        return sorted(cells.tolist(), key=lambda cell: (-self.lo[cell], self.queries[cell].id))

    def lemmas(self, columns: tuple[str, ...]) -> Iterator[Lemma]:
        """The universes that the cells about these columns exhaust."""
        family = _family(self.release.schema, columns)
        own = self._largest(family.members[self.lo[family.members] > 0])
        if not own:
            return
        cells = family.cells(own)
        rows = [cells.row[cell] for cell in own]
        inside = cells.inside[rows][:, self.universes]
        # the cheap test first: what does not exhaust the universe does not do so without overlaps either
        enough = self.lo[own] @ inside >= self.hi[self.universes]
        for place in np.flatnonzero(enough).tolist():
            chosen = cells.disjoint([row for row, held in zip(rows, inside[:, place].tolist(), strict=True) if held])
            universe = int(self.universes[place])
            if chosen and self.lo[chosen].sum() == self.hi[universe]:
                yield Lemma(self._name(universe), tuple(self.queries[cell].id for cell in chosen))

    def _name(self, cell: int) -> str:
        return self.queries[cell].id if cell < len(self.queries) else TOTAL


class _Family:
    """The queries of a schema that name the same columns."""

    def __init__(self, schema: Schema, columns: tuple[str, ...]) -> None:
        self.schema, self.columns = schema, columns
        own = [not query.sums and query.predicate.columns == columns for query in schema.queries]
        self.members: Ints = np.flatnonzero(own)

    def cells(self, own: Sequence[int]) -> "_Cells":
        """What is known of some cells of the family, and of the others where they are not too many to be kept."""
        return self._every if len(self.members) <= MOST_CELLS else _Cells(self, own)

    @cached_property
    def _every(self) -> "_Cells":
        return _Cells(self, self.members.tolist())


class _Cells:
    """Cells about the same columns: inside which queries (the whole block comes last) they lie, and which two overlap."""

    def __init__(self, family: _Family, cells: Sequence[int]) -> None:
        schema, named = family.schema, set(family.columns)
        self.own, self.row = cells, {cell: row for row, cell in enumerate(cells)}
        allowed = np.vstack([schema.allowed, np.ones_like(schema.allowed[:1])])
        self.inside: Flags = _products(allowed[cells], 1 - allowed) == 0
        self.inside &= [*(named.issuperset(query.predicate.columns) for query in schema.queries), True]
        self.inside[np.arange(len(cells)), cells] = False
        starts = np.cumsum([0, *(len(column.codes) for column in schema.domain.columns)]).tolist()
        overlap: Flags = np.ones((len(cells), len(cells)), dtype=bool)
        for start, end in pairwise(starts):
            overlap &= _products(allowed[cells, start:end], allowed[cells, start:end]) > 0
        self.overlaps = [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in overlap]

    def disjoint(self, rows: Sequence[int]) -> list[int]:
        """Pairwise disjoint cells of these rows, the first preferred."""
        taken, chosen = 0, list[int]()
        for row in rows:
            if not taken & self.overlaps[row]:
                taken |= 1 << row
                chosen.append(self.own[row])
        return chosen


def _products(rows: npt.NDArray[np.float32], others: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scalar products of zeros and ones: small whole numbers, whatever flags BLAS raises for lanes that it only pads."""
    with np.errstate(all="ignore"):
        return np.asarray(rows @ others.T)


_FAMILIES: OrderedDict[tuple[int, tuple[str, ...]], _Family] = OrderedDict()


def _family(schema: Schema, columns: tuple[str, ...]) -> _Family:
    # by identity, which is safe as long as the schema is kept with what is known of it
    return kept(_FAMILIES, (id(schema), columns), lambda: _Family(schema, columns), KEPT_FAMILIES)
