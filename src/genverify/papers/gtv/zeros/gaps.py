"""Gaps: sets of lines that a release might lack altogether, whatever their answers are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from string import ascii_uppercase

from genverify.core.errors import ConfigError, nearest
from genverify.core.queries import Query
from genverify.core.release import Schema


@dataclass(frozen=True)
class Gap:
    """Lines that are not published, as positions in schema.queries, and what they have in common."""

    name: str
    cells: frozenset[int]

    def __or__(self, other: "Gap") -> "Gap":
        return Gap(" + ".join(filter(None, (self.name, other.name))), self.cells | other.cells)


NO_GAP = Gap("", frozenset())
KINDS = ("line", "table", "tables", "every", "columns")


def named_gap(schema: Schema, patterns: Sequence[str], where: str) -> Gap:
    """The lines whose ids match one of the patterns, such as `H3.occupied` or `H13?.*`."""
    found: set[int] = set()
    for pattern in patterns:
        own = {place for name, place in schema.position.items() if fnmatchcase(name, pattern)}
        if not own:
            raise ConfigError(f"{where}: {pattern!r} is no line of the release: {nearest(pattern, list(schema.position))}")
        found |= own
    return Gap(" + ".join(patterns), frozenset(found))


def possible_gaps(schema: Schema) -> list[Gap]:
    """
    What the search tries: tables (alone, and with their iterations), lines (in a table and its iterations), everything
    with the same clause, everything about the same columns. Of gaps with the same lines the first stays.
    """
    groups: dict[str, set[int]] = {}
    family = _families({query.table for query in schema.queries})
    for place, query in enumerate(schema.queries):
        for name in _names(query, family[query.table]):
            groups.setdefault(name, set()).add(place)
    distinct: dict[frozenset[int], str] = {}
    for kind in KINDS:
        for name, cells in groups.items():
            if name.startswith(f"{kind} "):
                distinct.setdefault(frozenset(cells), name)
    return [Gap(name, cells) for cells, name in distinct.items()]


def _families(tables: set[str]) -> Mapping[str, str]:
    """
    The name under which a table and its iterations go.

    >>> sorted(_families({"P16", "P16A", "H3"}).items())
    [('H3', 'H3'), ('P16', 'P16*'), ('P16A', 'P16*')]
    """
    base = {table: table.rstrip(ascii_uppercase) for table in tables}
    iterated = {base[table] for table in tables if base[table] != table} & tables
    return {table: f"{base[table]}*" if base[table] in iterated else table for table in tables}


def _names(query: Query, family: str) -> Iterator[str]:
    """The gaps that a line belongs to."""
    yield f"table {query.table}"
    yield f"tables {family}"
    yield f"line {family}.{query.id.partition('.')[2]}"
    yield from (f"every {column}={_codes(codes)}" for column, codes in query.predicate.clauses)
    yield f"columns {' x '.join(query.predicate.columns)}"


def _codes(codes: Sequence[int]) -> str:
    return "/".join(map(str, codes))
