"""
Printed tables in one system of sums: cells that two tables share are one cell, and every total is the sum of its parts.

Records stay implicit. For every set of columns that a table has, or that two tables have in common, the counts of all
combinations of labels (and of everyone) are cells, and each label that adds up others is a row. Where the tables' sets of
columns form no circle, counts that satisfy all rows are those of some dataset (Vorob'ev: tables that agree pairwise on what
they share come from one dataset, in whole numbers too), so ranges are exact. Where they form one, a table of all columns of
the circle joins as unknown cells if it is small; else the ranges hold, but their ends may lie outside what people can be.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from math import prod

from genverify.core.errors import DataError
from genverify.core.sums import LARGEST_COUNT, OPEN, Row, Sums, make_sums
from genverify.disclosure.marks import Value
from genverify.disclosure.readers.model import Entry, Hierarchy, Labels, Parts, PrintedTable, make_hierarchy
from genverify.disclosure.readers.totals import by_interval

ALL = ""
Key = tuple[tuple[str, str], ...]
Fact = Row
LARGEST_JOINT = 20_000
ANONYMOUS = ("rows", "columns")
COMMON = {"yes", "no", "true", "false", "0", "1", "other", "unknown"}


@dataclass(frozen=True)
class Column:
    """A column of the linked tables: its labels, and what adds up to what; ALL, its top, is everyone."""

    name: str
    labels: tuple[str, ...]
    sums: Hierarchy


@dataclass(frozen=True)
class Placed:
    """A table in the system: the name of each of its columns there, its labels there, and the cell of every entry."""

    table: PrintedTable
    columns: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    keys: Mapping[Labels, Key]


@dataclass(frozen=True)
class Linked:
    """The tables in one system: its columns, what is printed of each cell, the sums, and whether ranges are exact."""

    columns: Mapping[str, Column]
    placed: tuple[Placed, ...]
    printed: Mapping[Key, tuple[tuple[PrintedTable, Entry, Value], ...]]
    sums: Sums
    keys: tuple[Key, ...]
    joint: bool
    assumed: tuple[str, ...]
    beside: Mapping[int, int] = field(default_factory=dict)  # a row that is a percentage: the cell beside which it stands

    def cell(self, key: Key) -> int:
        return self.sums.place[name_of(key)]


def name_of(key: Key) -> str:
    """
    The name of a cell, which no other cell has: what could be taken for something else is quoted.

    >>> name_of((("age", "0-4"), ("sex", "f"))), name_of((("A", "x, B=y"),)), name_of(())
    ('age=0-4, sex=f', 'A="x, B=y"', 'everyone')
    """
    return ", ".join(f"{quoted(column)}={quoted(label)}" for column, label in key) or "everyone"


def quoted(text: str) -> str:
    plain = text and text == text.strip() and not set(text) & set(',="') and text.isprintable()
    return text if plain else json.dumps(text, ensure_ascii=False)


def link(
    tables: Sequence[PrintedTable],
    values: Mapping[tuple[int, Labels], Value],
    extra: Callable[[Mapping[str, Column]], Iterable[Fact]] = lambda columns: (),
    beside: Callable[[int, Placed], Iterable[Fact]] = lambda at, placed: (),
) -> Linked:
    """
    One system of all tables; `values` says what each text means, `extra` are facts beside the counts (rows by cell), once
    columns and labels are known, and `beside` those of one table, once its cells have their names.
    """
    columns, names, assumed = _columns(tables)
    placed = tuple(_place(table, names[at], columns) for at, table in enumerate(tables))
    printed: dict[Key, list[tuple[PrintedTable, Entry, Value]]] = {}
    for at, one in enumerate(placed):
        for labels, entry in one.table.entries.items():
            _refuse_large(entry, values[at, labels])
            printed.setdefault(one.keys[labels], []).append((one.table, entry, values[at, labels]))
    frames, joint = _frames(placed, columns)
    rows = dict(_rows(frames, columns))
    keys = dict.fromkeys([*printed, *(key for cells in rows.values() for key in cells)])
    ends = {name_of(key): _ends(printed.get(key, [])) for key in keys}
    shares = [fact for at, one in enumerate(placed) for fact in beside(at, one)]
    facts = [*{fact[0]: fact for fact in extra(columns)}.values(), *shares]
    for _, weights, _, _ in facts:
        for cell in weights:
            if cell not in ends:
                raise DataError(f"no table has a cell {cell!r}; a fact speaks of columns and labels that stand in one table")
    named: list[Row] = [(name, {name_of(key): own for key, own in cells.items()}, 0, 0) for name, cells in rows.items()]
    sums = make_sums(ends, [*named, *facts])
    first = len(named) + len(facts) - len(shares)
    of = {first + at: sums.place[next(iter(fact[1]))] for at, fact in enumerate(shares)}
    exact = joint and all(len(column.sums.finest([ALL])) == 1 for column in columns.values())
    return Linked(columns, placed, {k: tuple(v) for k, v in printed.items()}, sums, tuple(keys), exact, tuple(assumed), of)


def _refuse_large(entry: Entry, value: Value) -> None:
    if max(value.lo, value.hi or 0) > LARGEST_COUNT:
        raise DataError(
            f"{entry.place}: {entry.text[:40]!r} is above {LARGEST_COUNT}, more than can be computed with exactly"
        )


def _ends(said: Sequence[tuple[PrintedTable, Entry, Value]]) -> tuple[int, int]:
    """What all texts of one cell say together; an error where two of them cannot both be right."""
    lo = max((value.lo for _, _, value in said), default=0)
    hi = min((_most(value) for _, _, value in said), default=OPEN)
    if lo > hi:
        first = max(said, key=lambda one: one[2].lo)
        second = min(said, key=lambda one: _most(one[2]))
        raise DataError(
            f"{first[1].place} prints {first[1].text!r} and {second[1].place} prints {second[1].text!r} of the same people; "
            "correct one. If one table counts some of the people of the other, say so: --inside SMALL=LARGE"
        )
    return lo, hi


def _most(value: Value) -> int:
    return OPEN if value.hi is None else value.hi


@dataclass
class _Draft:
    """A column while tables are looked through: its labels, its sums, and the labels of tables that print no total of it."""

    labels: dict[str, None] = field(default_factory=dict)
    sums: dict[tuple[str, Parts], None] = field(default_factory=dict)
    untold: dict[Parts, str] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)

    def add(self, table: PrintedTable, column: str) -> None:
        own = table.sums.get(column, Hierarchy())
        labels = _labels(table, column)
        self.labels |= dict.fromkeys(labels)
        self.sums |= dict.fromkeys((ALL if parent == own.top else parent, parts) for parent, parts in own)
        if own.top is None:
            self.untold.setdefault(own.outer(labels), f"{table.name}: {column}")
        self.tables.append(f"{table.source}: {column}")

    def column(self, name: str, assumed: list[str]) -> Column:
        """The column, checked: the labels of tables without a total cover everyone where no table says what does."""
        self.sums |= dict.fromkeys(by_interval(list(self.labels)))
        where = " and ".join(dict.fromkeys(self.tables[:3])) or name
        sums = make_hierarchy(self.sums, (), where)
        if ALL not in sums.parts and len(set().union(*(sums.finest(parts) for parts in self.untold))) == 1:
            for parts, table in self.untold.items():
                self.sums[ALL, parts] = None
                assumed.append(f"{table} has no total; its {len(parts)} labels are taken to cover everyone")
            sums = make_hierarchy(self.sums, (), where)
        elif ALL not in sums.parts:
            assumed.append(f"{' and '.join(self.untold.values())} list different labels and no total: not compared")
        return Column(name, tuple(self.labels), replace(sums, top=ALL))


def _labels(table: PrintedTable, column: str) -> Parts:
    """The labels of a column, those that only its hierarchy names included; without the one that means everyone."""
    own = table.sums.get(column, Hierarchy())
    return tuple(label for label in dict.fromkeys([*table.labels(column), *own.labels]) if label != own.top)


def _columns(tables: Sequence[PrintedTable]) -> tuple[dict[str, Column], list[dict[str, str]], list[str]]:
    """The columns of all tables; two are one where they have one name, or, one without a name, the same labels."""
    drafts: dict[str, _Draft] = {}
    names, assumed = list[dict[str, str]](), list[str]()
    for table in tables:
        own = dict[str, str]()
        for column in table.columns:
            labels = _labels(table, column)
            if "" in table.labels(column):
                place = next(e.place for own, e in table.entries.items() if own[table.columns.index(column)] == "")
                raise DataError(f"{place}: the label of {column} is empty; give the row or column a label")
            if column in own:
                raise DataError(f"{table.source}: two columns of table {table.name} are called {column!r}; rename one")
            others = {known: draft for known, draft in drafts.items() if known not in own.values()}
            name = _same(others, column, labels) or _free(drafts, column)
            if name != column and name in drafts:
                assumed.append(f"{table.name}: {column} is taken for {name}, which has the same labels")
            own[column] = name
            drafts.setdefault(name, _Draft()).add(table, column)
        for column, label in table.where.items():
            known = drafts.setdefault(column, _Draft())
            known.labels |= dict.fromkeys((label, f"not {label}"))
            known.sums[ALL, (label, f"not {label}")] = None
        names.append(own)
    return {name: draft.column(name, assumed) for name, draft in drafts.items()}, names, assumed


def _same(columns: Mapping[str, _Draft], name: str, labels: Sequence[str]) -> str | None:
    folded = name.casefold()
    for known in columns:
        if known.casefold() == folded and not _anonymous(name):
            return known
    alike = {label.casefold() for label in labels}
    for known, column in columns.items():
        if (
            alike == {label.casefold() for label in column.labels}
            and (_anonymous(name) or _anonymous(known))
            and not alike <= COMMON
        ):
            return known
    return None


def _anonymous(name: str) -> bool:
    return name.rstrip("0123456789 ()") in ANONYMOUS


def _free(columns: Mapping[str, _Draft], name: str) -> str:
    number, free = 2, name
    while free in columns:
        free, number = f"{name} {number}", number + 1
    return free


def _place(table: PrintedTable, names: Mapping[str, str], columns: Mapping[str, Column]) -> Placed:
    tops = {column: table.sums[column].top if column in table.sums else None for column in table.columns}
    labels = {names[c]: _labels(table, c) for c in table.columns}
    labels |= {column: (label, f"not {label}") for column, label in table.where.items()}
    keys = {}
    for own in table.entries:
        parts = [(names[c], label) for c, label in zip(table.columns, own, strict=True) if label != tops[c]]
        keys[own] = tuple(sorted([*parts, *table.where.items()]))
    return Placed(table, tuple(labels), labels, keys)


Frame = dict[str, tuple[str, ...]]


def _frames(placed: Sequence[Placed], columns: Mapping[str, Column]) -> tuple[list[Frame], bool]:
    """The sets of columns, with labels, over which rows are written; and whether they leave no circle open."""
    frames: list[Frame] = [dict(one.labels) for one in placed]
    for one, other in combinations(placed, 2):
        shared = [column for column in one.columns if column in other.columns]
        frames.append({c: tuple(dict.fromkeys([*one.labels[c], *other.labels[c]])) for c in shared})
    circle = _circle([set(one.columns) for one in placed])
    if not circle:
        return frames, True
    joint = {column: tuple(columns[column].labels) for column in sorted(circle)}
    if prod(len(labels) + 1 for labels in joint.values()) > LARGEST_JOINT:
        return frames, False
    return [*frames, joint], True


def _circle(sets: Sequence[set[str]]) -> set[str]:
    """
    The columns that are left when columns of one set alone and sets inside others are taken away in turn (Graham): none
    where the sets form no circle.

    >>> _circle([{"a", "b"}, {"b", "c"}]), sorted(_circle([{"a", "b"}, {"b", "c"}, {"a", "c"}]))
    (set(), ['a', 'b', 'c'])
    """
    left = [set(own) for own in sets]
    while True:
        before = [set(own) for own in left]
        for own in left:
            own -= {column for column in own if sum(column in other for other in left) == 1}
        left = [own for at, own in enumerate(left) if own and not _inside_another(own, at, left)]
        if left == before:
            return set().union(*left) if left else set()


def _inside_another(own: set[str], at: int, sets: Sequence[set[str]]) -> bool:
    return any(own < other or (own == other and at > place) for place, other in enumerate(sets))


def _rows(frames: Iterable[Frame], columns: Mapping[str, Column]) -> Iterator[tuple[str, dict[Key, int]]]:
    """Every total as a row: it less its parts is 0. A row has the name of its total and of the column that is added up."""
    for frame in frames:
        for column, labels in frame.items():
            others = [[(other, label) for label in (*own, ALL)] for other, own in frame.items() if other != column]
            sums = columns[column].sums.parts
            for parent, number, children in ((p, at, own) for p, sets in sums.items() for at, own in enumerate(sets)):
                if not set(children) <= set(labels) or (parent != ALL and parent not in labels):
                    continue
                for rest in product(*others):
                    yield _row(column, parent, children, number, rest)


def _row(
    column: str, parent: str, children: Parts, number: int, rest: Sequence[tuple[str, str]]
) -> tuple[str, dict[Key, int]]:
    base = [part for part in rest if part[1] != ALL]
    total = tuple(sorted([*base, *([(column, parent)] if parent != ALL else [])]))
    parts = [tuple(sorted([*base, (column, child)])) for child in children]
    own = [quoted(child) for child in children]
    listed = ", ".join(own if len(own) <= 4 else (*own[:2], f"... {len(own)} in all ...", own[-1]))
    which = f" [{number + 1}]" if number else ""  # another set of parts of the same total may be listed alike
    name = f"{name_of(total)} = sum over {quoted(column)} ({listed}){which}"
    return name, {total: -1, **dict.fromkeys(parts, 1)}
