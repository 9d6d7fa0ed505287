"""What a release publishes: tables as lists of counting queries, built from a compact table file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

from genverify.domain import DomainFile, Universe
from genverify.errors import DataError, nearest
from genverify.predicates import EVERY, Predicate


@dataclass(frozen=True)
class Query:
    """A counting query: a line of a published table, with a stable id, its words and its condition."""

    id: str
    table: str
    label: str
    predicate: Predicate


@dataclass(frozen=True)
class Group:
    """A named set of codes of one column, the word of which line ids are made."""

    name: str
    label: str
    predicate: Predicate


def build_queries(
    text: Mapping[str, Any],
    domain: DomainFile,
    universe: Universe,
    tables: str | Sequence[str] = "all",
    groups: Mapping[str, Sequence[int] | None] | None = None,
) -> tuple[Query, ...]:
    """The distinct queries of the chosen tables: where two lines have the same condition, the first one stays."""
    known = _groups(text, domain, {name: codes for name, codes in (groups or {}).items() if codes is not None})
    wanted = _chosen(list(_table_names(text)), tables)
    queries: dict[Predicate, Query] = {}
    for name, base, iteration in _iterated(text):
        if name in wanted:
            for query in _lines(text, known, domain, universe, name, base, iteration):
                queries.setdefault(query.predicate, query)
    return tuple(queries.values())


def _groups(text: Mapping[str, Any], domain: DomainFile, changes: Mapping[str, Sequence[int]]) -> dict[str, Group]:
    known = {}
    for name, entry in text["groups"].items():
        where = {column: codes for column, codes in entry.items() if column != "label"}
        if len(where) != 1:
            raise DataError(f"group {name}: give exactly one column with its codes, and a label")
        column, codes = next(iter(where.items()))
        predicate = Predicate.of({str(column): changes.get(str(name), codes)})
        known[str(name)] = Group(str(name), str(entry.get("label", name)), domain.domain.check(predicate, f"group {name}"))
    for name in changes:
        if name not in known:
            raise DataError(f"release.groups: unknown group {name!r}: {nearest(name, list(known))}")
    return known


def _iterated(text: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Every table: its name, its base entry, and the groups that the iteration adds."""
    letters = {str(letter): str(groups) for letter, groups in text.get("iterations", {}).items()}
    for name, entry in text["tables"].items():
        yield str(name), entry, ""
        if "iterations" in entry:
            first, last = str(entry["iterations"]).split("-")
            for letter, groups in letters.items():
                if first <= letter <= last:
                    yield f"{name}{letter}", entry, groups


def table_titles(text: Mapping[str, Any]) -> dict[str, str]:
    """What each table is about: its title, and the groups that its iteration keeps to."""
    labels = {str(name): str(entry.get("label", name)) for name, entry in text["groups"].items()}
    titles = {}
    for name, entry, iteration in _iterated(text):
        kept = ", ".join(labels.get(word, word) for word in iteration.split(".") if word)
        titles[name] = f"{entry.get('title', name)}{f' ({kept})' if kept else ''}"
    return titles


def _table_names(text: Mapping[str, Any]) -> Iterator[str]:
    return (name for name, _, _ in _iterated(text))


def _chosen(names: list[str], tables: str | Sequence[str]) -> set[str]:
    """The tables that a list of names or patterns (`P16*`) selects."""
    if tables == "all":
        return set(names)
    patterns = [tables] if isinstance(tables, str) else list(tables)
    chosen: set[str] = set()
    for pattern in patterns:
        found = {name for name in names if fnmatchcase(name, pattern)}
        if not found:
            raise DataError(f"release.tables: unknown table {pattern!r}: {nearest(pattern, names)}")
        chosen |= found
    return chosen


def _line_ids(text: Mapping[str, Any], entry: Mapping[str, Any]) -> list[str]:
    if "lines" in entry:
        return [str(line) for line in entry["lines"]]
    lists = text.get("lists", {})
    missing = [name for name in entry["cross"] if name not in lists]
    if missing:
        raise DataError(f"table {entry.get('title')}: unknown list {missing[0]!r}: {nearest(missing[0], list(lists))}")
    return [".".join(map(str, line)) for line in product(*(lists[name] for name in entry["cross"]))]


def _lines(
    text: Mapping[str, Any],
    groups: Mapping[str, Group],
    domain: DomainFile,
    universe: Universe,
    name: str,
    entry: Mapping[str, Any],
    iteration: str,
) -> Iterator[Query]:
    """The lines of one table; its universe becomes a clause unless the study is about that universe."""
    own = domain.universe(entry.get("universe", "everything"))
    clause = EVERY if own.name == universe.name else own.keeps
    for line in _line_ids(text, entry):
        words = [word for word in (*line.split("."), *iteration.split(".")) if word]
        for word in words:
            if word not in groups:
                raise DataError(f"table {name}, line {line}: unknown group {word!r}: {nearest(word, list(groups))}")
        predicate = clause
        for word in words:
            predicate = predicate & groups[word].predicate
        yield Query(f"{name}.{line}", name, ", ".join(groups[word].label for word in words), predicate)
