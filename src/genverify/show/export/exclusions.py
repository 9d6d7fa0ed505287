"""What rules records out, as rows that a proof may add: zero cells, totals that their parts exhaust, structural rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from genverify.checker.cells import Cell
from genverify.checker.form import Lemma
from genverify.core.arraytypes import Flags
from genverify.core.domain import Domain
from genverify.core.predicates import Predicate, Rule
from genverify.core.release import TOTAL, Release
from genverify.show.export.program import Row
from genverify.show.export.signatures import Record, Region

CELL, RULE = "cell:", "rule:"


@dataclass(frozen=True)
class Exclusion:
    """Rows that add up to at most 0, although every record of the region adds 1 or more and no record less than 0."""

    region: Region
    rows: tuple[tuple[str, int], ...]


def cell_rows(release: Release, cells: Mapping[str, Cell]) -> dict[str, Row]:
    """The published cells, and the structural rules as cells that hold nobody."""
    labels, domain = {TOTAL: "all records", **{query.id: query.label for query in release.queries}}, release.schema.domain
    rows = {
        CELL + name: Row(name, _words(cell, labels[name]), _parts(cell, domain), cell.lo, cell.hi)
        for name, cell in cells.items()
    }
    for place, rule in enumerate(release.schema.rules):  # by place: two rules may have one name
        broken = ((1, Region.of(rule.when, rule.one_of)),)
        rows[f"{RULE}{place}"] = Row(RULE + rule.name, f"broken by nobody: {_rule_words(rule)}", broken, 0, 0)
    return rows


def _words(cell: Cell, label: str) -> str:
    return f"sum of {cell.sums}, {label}" if cell.sums else label


def _rule_words(rule: Rule) -> str:
    options = " or ".join(f"({option})" for option in rule.one_of) or "nothing"
    return f"if {rule.when} then {options}"


def _parts(cell: Cell, domain: Domain) -> tuple[tuple[int, Region], ...]:
    """What a record adds to a cell: 1 inside it, or its code in the summed column."""
    if cell.sums is None:
        return ((1, Region.of(cell.predicate)),)
    codes = [code for code in domain[cell.sums].codes if code > 0]
    inside = [(code, cell.predicate & Predicate.of({cell.sums: [code]})) for code in codes]
    return tuple((code, Region.of(p)) for code, p in inside if all(allowed for _, allowed in p.clauses))


class Exclusions:
    """All exclusions of a block, and which of them hold which records."""

    def __init__(self, release: Release, cells: Mapping[str, Cell], lemmas: Sequence[Lemma]) -> None:
        domain = release.schema.domain
        found = [
            Exclusion(Region.of(cell.adding(domain)), ((CELL + name, 1),)) for name, cell in cells.items() if cell.hi == 0
        ]
        for lemma in lemmas:
            parts = [cells[name].predicate for name in lemma.cells]
            rows = ((CELL + lemma.universe, 1), *((CELL + name, -1) for name in lemma.cells))
            found.append(Exclusion(Region.of(cells[lemma.universe].predicate, parts), rows))
        for place, rule in enumerate(release.schema.rules):
            found.append(Exclusion(Region.of(rule.when, rule.one_of), ((f"{RULE}{place}", 1),)))
        self.all = found
        self.predicates = list(dict.fromkeys(p for one in found for p in one.region.predicates))
        at = {predicate: row for row, predicate in enumerate(self.predicates)}
        self.when = [at[one.region.any_of[0]] for one in found]
        self.unless = {row: [at[p] for p in one.region.unless] for row, one in enumerate(found) if one.region.unless}
        self.allowed = [self._allowed(column.name, max(column.codes)) for column in domain.columns]

    def _allowed(self, name: str, largest: int) -> Flags:
        """Whether each condition allows each code of a column."""
        flags = np.ones((len(self.predicates), largest + 1), dtype=bool)
        for row, predicate in enumerate(self.predicates):
            if name in predicate.where:
                flags[row] = False
                flags[row, [code for code in predicate.where[name] if code <= largest]] = True
        return flags

    def holding(self, records: Sequence[Record]) -> Flags:
        """Whether each exclusion (rows) holds each record."""
        codes = np.array(records, dtype=np.int64).reshape(len(records), len(self.allowed))
        met: Flags = np.ones((len(self.predicates), len(records)), dtype=bool)
        for column, allowed in enumerate(self.allowed):
            met &= allowed[:, codes[:, column]]
        held: Flags = met[self.when]
        for row, unless in self.unless.items():
            held[row] &= ~met[unless].any(axis=0)
        return held
