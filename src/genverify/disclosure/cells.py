"""The cells of a release: every line of every table that a release file describes, with a stable id."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from genverify.core.errors import DataError, nearest
from genverify.core.predicates import EVERY, Predicate, Rule
from genverify.core.queries import Query
from genverify.core.release import TOTAL
from genverify.disclosure.codes import Codings
from genverify.disclosure.form import CellForm, ReleaseForm, RuleForm, TableForm

ALL = "all"
CELLS = "cells"
SIZES = "area_sizes"


@dataclass(frozen=True)
class Line:
    """A line of a table, before areas: its cell as a user writes it, and whether it is counted across all areas."""

    query: Query
    across: bool


@dataclass(frozen=True)
class _Word:
    """A code, a group of codes or a total: its part of the id, its label, its condition."""

    text: str
    label: str
    predicate: Predicate


def lines_of(form: ReleaseForm, codings: Codings) -> list[Line]:
    """Every line in the order of the file; an error where two lines have the same id."""
    lines = [line for name, table in form.tables.items() for line in _table(name, table, codings)]
    lines += [_cell(cell, codings) for cell in form.predicates]
    seen = {TOTAL}
    for line in lines:
        if line.query.id in seen:
            raise DataError(
                f"two cells are called {line.query.id!r} (N counts everyone); rename one of table {line.query.table}"
            )
        seen.add(line.query.id)
    return lines


def _table(name: str, table: TableForm, codings: Codings) -> Iterator[Line]:
    location = f"table {name}"
    if name in (CELLS, SIZES):
        raise DataError(f"{location}: this name is taken; choose another")
    if len(set(table.columns)) < len(table.columns):
        raise DataError(f"{location}: a column is duplicated among {table.columns}")
    filtered = codings.predicate(table.where, location)
    totals = table.columns if table.totals is True else table.totals or []
    for column in (*table.groups, *totals):
        if column not in table.columns:
            raise DataError(
                f"{location}: groups or totals of {column!r}, no column of this table: {nearest(column, table.columns)}"
            )
    words = [_words(column, table, codings, location, column in totals) for column in table.columns]
    title = [f"of those with {_label(filtered, codings)}"] if table.where else []
    for line in product(*words):
        predicate = filtered
        for word in line:
            predicate = predicate & word.predicate
        if all(codes for _, codes in predicate.clauses):
            label = ", ".join([*(word.label for word in line if word.label), *title]) or "everyone"
            yield Line(Query(".".join([name, *(word.text for word in line)]), name, label, predicate), table.across)


def _words(column: str, table: TableForm, codings: Codings, location: str, total: bool) -> list[_Word]:
    """The lines of one column: each group, each code that stands in none, and the total where asked."""
    if column not in codings.by_name:
        raise DataError(f"{location}: unknown column {column!r}: {nearest(column, list(codings.by_name))}")
    coding = codings[column]
    grouped: dict[str, str] = {}
    for label, texts in table.groups.get(column, {}).items():
        if label in coding.code_of and label not in texts:
            raise DataError(
                f"{location}: the group {label!r} of {column} has the name of a code outside it; rename the group"
            )
        for text in texts:
            if text in grouped:
                raise DataError(f"{location}: {text!r} is in two groups of {column}, {grouped[text]!r} and {label!r}")
            coding.code(text, location)
            grouped[text] = label
    words: dict[str, list[str]] = {}
    for text in coding.texts:
        words.setdefault(grouped.get(text, text), []).append(text)
    made = [_word(column, word, texts, codings, location, word in grouped.values()) for word, texts in words.items()]
    return [*made, _Word(ALL, "", EVERY)] if total else made


def _word(column: str, word: str, texts: Sequence[str], codings: Codings, location: str, group: bool) -> _Word:
    coding = codings[column]
    meaning = word if group else coding.column.meaning[coding.code_of[texts[0]]]
    return _Word(word, f"{coding.column.label}: {meaning}", codings.predicate({column: texts}, location))


def _cell(cell: CellForm, codings: Codings) -> Line:
    predicate = codings.predicate(cell.where, f"cell {cell.cell}")
    return Line(Query(cell.cell, CELLS, cell.label or _label(predicate, codings), predicate), cell.across)


def _label(predicate: Predicate, codings: Codings) -> str:
    parts = []
    for name, codes in predicate.clauses:
        column = codings[name].column
        parts.append(f"{column.label}: {' or '.join(column.meaning[code] for code in codes)}")
    return ", ".join(parts) or "everyone"


def rules_of(rules: Sequence[RuleForm], codings: Codings) -> tuple[Rule, ...]:
    """The structural rules in codes."""
    found = []
    for rule in rules:
        location = f"rule {rule.name}"
        options = tuple(codings.predicate(option, location) for option in rule.then)
        found.append(Rule(rule.name, codings.predicate(rule.when, location), options))
    return tuple(found)


def area_queries(lines: Sequence[Line], area: str, codes: Mapping[str, int]) -> list[Query]:
    """The queries of a release whose areas are one column of its records: sizes, lines per area, lines across areas."""
    queries = [
        Query(f"{SIZES}.{text}", SIZES, f"{area}: {text}", Predicate.of({area: [code]})) for text, code in codes.items()
    ]
    for line in lines:
        query = line.query
        if line.across:
            queries.append(query)
            continue
        for text, code in codes.items():
            inside = query.predicate & Predicate.of({area: [code]})
            queries.append(Query(area_cell(text, query.id), query.table, f"{query.label}, {area}: {text}", inside))
    return queries


def area_cell(area: str, cell: str) -> str:
    """
    The id of a cell of one area, where all areas stand in one program.

    >>> area_cell("north", "by_sex.f")
    'north/by_sex.f'
    """
    return f"{area}/{cell}"
