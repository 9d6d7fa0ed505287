"""What a release publishes: tables as lists of counting queries, built from a compact table file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from genverify.core.domain import DomainFile, Universe
from genverify.core.errors import DataError, nearest
from genverify.core.predicates import EVERY, Predicate
from genverify.core.vocabulary import Vocabulary, read_vocabulary


@dataclass(frozen=True)
class Query:
    """
    A counting query: a line of a published table, with a stable id, its words and its condition.

    With `sums`, the line publishes not how many records match but the sum of their codes in a column (persons, children).

    >>> query = Query("H4.rent", "H4", "renter occupied", Predicate.of({"TEN": [3]}))
    >>> print(query.predicate)
    TEN=3
    """

    id: str
    table: str
    label: str
    predicate: Predicate
    sums: str | None = None


class Published:
    """Some queries of a schema, and what every release that publishes just these shares: their places, and lines of text."""

    def __init__(self, queries: list[Query]) -> None:
        self.queries = queries

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The place of each query, by id."""
        return {query.id: place for place, query in enumerate(self.queries)}

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        return tuple(query.predicate for query in self.queries)

    @cached_property
    def summed(self) -> frozenset[str]:
        """The columns that some query sums."""
        return frozenset(query.sums for query in self.queries if query.sums)

    @cached_property
    def lines(self) -> str:
        """A line per query with room for its lo and hi."""
        return "\n".join(query.id.replace("%", "%%") + " %d %d" for query in self.queries)


def build_queries(
    text: Mapping[str, Any],
    domain: DomainFile,
    universe: Universe,
    tables: str | Sequence[str] = "all",
    groups: Mapping[str, Sequence[int] | None] | None = None,
) -> tuple[Query, ...]:
    """The distinct queries of the chosen tables: where two lines have the same condition, the first one stays."""
    queries: dict[tuple[Predicate, str | None], Query] = {}
    for query in published_lines(text, domain, universe, tables, groups):
        queries.setdefault((query.predicate, query.sums), query)
    return tuple(queries.values())


def published_lines(
    text: Mapping[str, Any],
    domain: DomainFile,
    universe: Universe,
    tables: str | Sequence[str] = "all",
    groups: Mapping[str, Sequence[int] | None] | None = None,
) -> Iterator[Query]:
    """Every line of the chosen tables, also where two say the same."""
    changes = {name: codes for name, codes in (groups or {}).items() if codes is not None}
    known = read_vocabulary(text, domain.domain, changes)
    wanted = _chosen({name: entry.get("level") for name, entry, _ in _iterated(text)}, tables)
    for name, base, iteration in _iterated(text):
        if name in wanted:
            yield from _lines(known, domain, universe, name, base, iteration)


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


def _chosen(levels: Mapping[str, str | None], tables: str | Sequence[str]) -> set[str]:
    """The tables that a list of names, patterns (`P16*`) or levels (`level=tract`) selects."""
    if tables == "all":
        return set(levels)
    chosen: set[str] = set()
    for pattern in [tables] if isinstance(tables, str) else list(tables):
        found = {name for name, level in levels.items() if fnmatchcase(name, pattern) or pattern == f"level={level}"}
        if not found:
            known = [*levels, *sorted({f"level={level}" for level in levels.values() if level})]
            raise DataError(f"release.tables: unknown table {pattern!r}: {nearest(pattern, known)}")
        chosen |= found
    return chosen


def _line_ids(known: Vocabulary, entry: Mapping[str, Any]) -> list[str]:
    """The lines that are written out, then every combination of the crossed lists."""
    lines = [str(line) for line in entry.get("lines", [])]
    if "cross" in entry:
        try:
            crossed = [list(known.listed(str(part))) for part in entry["cross"]]
        except DataError as error:
            raise DataError(f"table {entry.get('title')}: {error}") from None
        lines += [".".join(line) for line in product(*crossed)]
    return lines


def _lines(
    known: Vocabulary,
    domain: DomainFile,
    universe: Universe,
    name: str,
    entry: Mapping[str, Any],
    iteration: str,
) -> Iterator[Query]:
    """The lines of one table; its universe becomes a clause unless the study is about that universe."""
    of_table = domain.universe(entry.get("universe", "everything"))
    clause = EVERY if of_table.name == universe.name else of_table.keeps
    groups, sums = known.groups, entry.get("sums")
    if sums is not None:
        domain.domain[sums]
    for line in _line_ids(known, entry):
        words = [word for word in (*line.split("."), *iteration.split(".")) if word]
        for word in words:
            if word not in groups:
                raise DataError(f"table {name}, line {line}: unknown group {word!r}: {nearest(word, list(groups))}")
        predicate = clause
        for word in words:
            predicate = _both(predicate, groups[word].predicate)
        yield Query(f"{name}.{line}", name, ", ".join(groups[word].label for word in words), predicate, sums)


@lru_cache(maxsize=20_000)
def _both(one: Predicate, other: Predicate) -> Predicate:
    """Both conditions; a study is read several times, with the same lines."""
    return one & other
