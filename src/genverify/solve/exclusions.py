"""Which records a release rules out: zero cells, implied zeros and structural rules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

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
    def cells(self) -> "list[_Cell]":
        """The cells that count some record, and the whole block."""
        release = self.release
        counted = [(release.schema.queries[release.cells[at]], at) for at in np.flatnonzero(release.lo > 0).tolist()]
        cells = [_Cell(q.id, q.predicate, int(release.lo[at]), int(release.hi[at])) for q, at in counted if not q.sums]
        return [*cells, _Cell(TOTAL, EVERY, release.n, release.n)]

    @cached_property
    def families(self) -> "dict[tuple[str, ...], list[_Cell]]":
        """The cells about the same columns, the largest counts first."""
        found: dict[tuple[str, ...], list[_Cell]] = {}
        for cell in sorted(self.cells[:-1], key=lambda cell: (-cell.lo, cell.id)):
            found.setdefault(cell.predicate.columns, []).append(cell)
        return found

    def lemmas(self, columns: tuple[str, ...]) -> Iterator[Lemma]:
        """The universes that the cells about these columns exhaust."""
        family, named = self.families.get(columns, []), set(columns)
        for universe in self.cells:
            if named.issuperset(universe.predicate.columns):
                inside = [cell for cell in family if cell is not universe and _within(cell, universe)]
                # the cheap test first: what does not exhaust the universe does not do so without overlaps either
                if sum(cell.lo for cell in inside) >= universe.hi:
                    chosen = _disjoint(inside)
                    if chosen and sum(cell.lo for cell in chosen) == universe.hi:
                        yield Lemma(universe.id, tuple(cell.id for cell in chosen))


@dataclass(frozen=True)
class _Cell:
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


def _within(inner: _Cell, outer: _Cell) -> bool:
    """Whether every record of the inner cell lies in the outer one."""
    codes = inner.predicate.masks
    return all(name in codes and codes[name] & ~allowed == 0 for name, allowed in outer.predicate.masks.items())


def _apart(one: _Cell, other: _Cell) -> bool:
    """Whether no record lies in both cells."""
    codes = one.predicate.masks
    return any(name in codes and codes[name] & allowed == 0 for name, allowed in other.predicate.masks.items())
