"""Which records a release rules out: zero cells, implied zeros and structural rules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Ints
from genverify.core.domain import Domain
from genverify.core.predicates import EVERY, Predicate, Rule
from genverify.core.queries import Query
from genverify.core.release import TOTAL, Release


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
    """The cells of a release that count some record, by the columns that they name, and the lemmas about each family."""

    def __init__(self, release: Release) -> None:
        self.release = release

    @cached_property
    def places(self) -> list[int]:
        """The published cells that count some record."""
        queries, cells = self.release.schema.queries, self.release.cells
        return [place for place in np.flatnonzero(self.release.lo > 0).tolist() if not queries[cells[place]].sums]

    @cached_property
    def cells(self) -> "list[_Cell]":
        """The cells that count some record, and the whole block."""
        schema, lo, hi = self.release.schema, self.release.lo.tolist(), self.release.hi.tolist()
        queries = [schema.queries[cell] for cell in self.release.cells[self.places].tolist()]
        cells = [_Cell(q.id, q.predicate, lo[at], hi[at]) for q, at in zip(queries, self.places, strict=True)]
        return [*cells, _Cell(TOTAL, EVERY, self.release.n, self.release.n)]

    @cached_property
    def families(self) -> dict[tuple[str, ...], list[int]]:
        """The cells about the same columns, as places among the cells, the largest counts first."""
        cells, found = self.cells, dict[tuple[str, ...], list[int]]()
        for place in sorted(range(len(cells) - 1), key=lambda place: (-cells[place].lo, cells[place].id)):
            found.setdefault(cells[place].predicate.columns, []).append(place)
        return found

    @cached_property
    def allowed(self) -> npt.NDArray[np.float32]:
        """Per cell and code of each column, 1 where the cell allows it; a column that it does not name allows all."""
        schema, places = self.release.schema, self.places
        return np.vstack([schema.allowed[self.release.cells[places]], np.ones_like(schema.allowed[:1])])

    def lemmas(self, columns: tuple[str, ...]) -> Iterator[Lemma]:
        """The universes that the cells about these columns exhaust."""
        family, named = self.families.get(columns, []), set(columns)
        if not family:
            return
        inside = self._within(family)
        # the cheap test first: what does not exhaust the universe does not do so without overlaps either
        enough = np.array([self.cells[place].lo for place in family]) @ inside >= [cell.hi for cell in self.cells]
        for place in np.flatnonzero(enough).tolist():
            universe = self.cells[place]
            if named.issuperset(universe.predicate.columns):
                chosen = _disjoint([self.cells[family[row]] for row in np.flatnonzero(inside[:, place]).tolist()])
                if chosen and sum(cell.lo for cell in chosen) == universe.hi:
                    yield Lemma(universe.id, tuple(cell.id for cell in chosen))

    def _within(self, family: Sequence[int]) -> Ints:
        """Whether (1 or 0) each cell of a family lies inside each other one that names no column which it does not name."""
        outside = 1 - self.allowed
        inside: Ints = (self.allowed[family] @ outside.T == 0).astype(np.int64)
        inside[np.arange(len(family)), family] = 0
        return inside


class _Cell(NamedTuple):
    id: str
    predicate: Predicate
    lo: int
    hi: int


def _disjoint(cells: Sequence[_Cell]) -> list[_Cell]:
    """Pairwise disjoint cells, the largest counts (which come first) preferred."""
    chosen: list[_Cell] = []
    for cell in cells:
        if all(_apart(cell, other) for other in chosen):
            chosen.append(cell)
    return chosen


def _apart(one: _Cell, other: _Cell) -> bool:
    """Whether no record lies in both cells."""
    codes = one.predicate.masks
    return any(name in codes and codes[name] & allowed == 0 for name, allowed in other.predicate.masks.items())
