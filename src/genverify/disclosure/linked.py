"""
Printed tables in one system of sums: cells that two tables share are one cell, and every total is the sum of its parts.

Records stay implicit. For every set of columns that a table has, or that two tables have in common, the counts of all
combinations of labels (and of everyone) are cells, and each label that adds up others is a row. Where the tables' sets of
columns form no circle, counts that satisfy all rows are those of some dataset (Vorob'ev: tables that agree pairwise on what
they share come from one dataset, in whole numbers too), so ranges are exact. Where they form one, a table of all columns of
the circle joins as unknown cells if it is small; else the ranges hold, but their ends may lie outside what people can be.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from math import prod

from genverify.core.errors import DataError
from genverify.core.sums import Row, Sums, make_sums
from genverify.disclosure.marks import Value
from genverify.disclosure.readers.model import Entry, Labels, PrintedTable
from genverify.disclosure.readers.totals import _by_interval

ALL = ""
Key = tuple[tuple[str, str], ...]
Adds = tuple[str, tuple[str, ...]]
Fact = Row
LARGEST_JOINT = 20_000
ANONYMOUS = ("rows", "columns")
COMMON = {"yes", "no", "true", "false", "0", "1", "other", "unknown"}


@dataclass
class Column:
    """A column of the linked tables: its labels, and which of them (or everyone) adds up which others."""

    name: str
    labels: dict[str, None] = field(default_factory=dict)
    sums: dict[Adds, None] = field(default_factory=dict)

    @property
    def one_set_of_parts(self) -> bool:
        """Whether everyone is made up of one set of finest labels, however it is added up."""
        parents = {parent: children for parent, children in self.sums if parent != ALL}
        sets = {frozenset(_finest(children, parents)) for parent, children in self.sums if parent == ALL}
        return len(sets) <= 1


def _finest(labels: Iterable[str], parents: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for label in labels:
        yield from _finest(parents[label], parents) if label in parents else (label,)


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
    ceiling: int
    assumed: tuple[str, ...]
    beside: Mapping[int, int] = field(default_factory=dict)  # a row that is a percentage: the cell beside which it stands

    def cell(self, key: Key) -> int:
        return self.sums.place[name_of(key)]


def name_of(key: Key) -> str:
    """
    >>> name_of((("age", "0-4"), ("sex", "f"))), name_of(())
    ('age=0-4, sex=f', 'everyone')
    """
    return ", ".join(f"{column}={label}" for column, label in key) or "everyone"


def link(
    tables: Sequence[PrintedTable],
    values: Mapping[tuple[int, Labels], Value],
    extra: Iterable[Fact] = (),
    beside: Callable[[int, Placed], Iterable[Fact]] = lambda at, placed: (),
) -> Linked:
    """
    One system of all tables; `values` says what each text means, `extra` are facts beside the counts (rows by cell), and
    `beside` those of one table, once its cells have their names.
    """
    columns, names, assumed = _columns(tables)
    placed = tuple(_place(table, names[at], columns) for at, table in enumerate(tables))
    printed: dict[Key, list[tuple[PrintedTable, Entry, Value]]] = {}
    for at, one in enumerate(placed):
        for labels, entry in one.table.entries.items():
            printed.setdefault(one.keys[labels], []).append((one.table, entry, values[at, labels]))
    frames, joint = _frames(placed, columns)
    rows = dict(_rows(frames, columns))
    keys = dict.fromkeys([*printed, *(key for cells in rows.values() for key in cells)])
    ceiling = _ceiling(values.values())
    ends = {name_of(key): _ends(printed.get(key, []), ceiling) for key in keys}
    shares = [fact for at, one in enumerate(placed) for fact in beside(at, one)]
    extra = [*extra, *shares]
    for _, weights, _, _ in extra:
        for cell in weights:
            if cell not in ends:
                raise DataError(f"no table has a cell {cell!r}; a fact speaks of columns and labels that stand in one table")
    named: list[Row] = [(name, {name_of(key): own for key, own in cells.items()}, 0, 0) for name, cells in rows.items()]
    sums = make_sums(ends, [*named, *extra])
    first = len(named) + len(extra) - len(shares)
    of = {first + at: sums.place[next(iter(fact[1]))] for at, fact in enumerate(shares)}
    exact = joint and all(column.one_set_of_parts for column in columns.values())
    return Linked(
        columns, placed, {k: tuple(v) for k, v in printed.items()}, sums, tuple(keys), exact, ceiling, tuple(assumed), of
    )


def _ceiling(values: Iterable[Value]) -> int:
    """A number above all counts that could matter: what reaches half of it has no upper end."""
    largest = max((value.hi or value.lo for value in values), default=0)
    return max(10**6, 100 * largest)


def _ends(said: Sequence[tuple[PrintedTable, Entry, Value]], ceiling: int) -> tuple[int, int]:
    """What all texts of one cell say together; an error where two of them cannot both be right."""
    lo = max((value.lo for _, _, value in said), default=0)
    hi = min((ceiling if value.hi is None else value.hi for _, _, value in said), default=ceiling)
    if lo > hi:
        first = max(said, key=lambda one: one[2].lo)
        second = min(said, key=lambda one: ceiling if one[2].hi is None else one[2].hi)
        raise DataError(
            f"{first[1].place} prints {first[1].text!r} and {second[1].place} prints {second[1].text!r} of the same people; "
            "correct one. If one table counts some of the people of the other, say so: --inside SMALL=LARGE"
        )
    return lo, hi


def _columns(tables: Sequence[PrintedTable]) -> tuple[dict[str, Column], list[dict[str, str]], list[str]]:
    """The columns of all tables; two are one where they have one name, or, one without a name, the same labels."""
    columns: dict[str, Column] = {}
    names, assumed = list[dict[str, str]](), list[str]()
    for table in tables:
        own = {}
        for column in table.columns:
            tops = _tops(table, column)
            labels = [label for label in table.labels(column) if label not in tops]
            name = _same(columns, column, labels) or _free(columns, column)
            if name != column and name in columns:
                assumed.append(f"{table.name}: {column} is taken for {name}, which has the same labels")
            own[column] = name
            known = columns.setdefault(name, Column(name))
            known.labels |= dict.fromkeys(labels)
            _add_sums(known, table, column, tops, labels, assumed)
        for column, label in table.where.items():
            known = columns.setdefault(column, Column(column))
            known.labels |= dict.fromkeys((label, f"not {label}"))
            known.sums[ALL, (label, f"not {label}")] = None
        names.append(own)
    for known in columns.values():
        known.sums |= dict.fromkeys(_by_interval(list(known.labels)))
    return columns, names, assumed


def _tops(table: PrintedTable, column: str) -> tuple[str, ...]:
    """The labels that mean everyone: totals that are part of no other."""
    sums = table.sums.get(column, ())
    parts = {child for _, children in sums for child in children}
    return tuple(parent for parent, _ in sums if parent not in parts and _covers(parent, sums, table.labels(column)))


def _covers(parent: str, sums: Sequence[Adds], labels: Sequence[str]) -> bool:
    """Whether a label adds up, over some levels, every finest label."""
    parents = dict(sums)
    inside, open_ = set[str](), [parent]
    while open_:
        label = open_.pop()
        inside.add(label)
        open_ += [child for child in parents.get(label, ()) if child not in inside]
    return inside >= {label for label in labels if label not in parents}


def _add_sums(
    column: Column, table: PrintedTable, own: str, tops: Sequence[str], labels: Sequence[str], assumed: list[str]
) -> None:
    for parent, children in table.sums.get(own, ()):
        column.sums[ALL if parent in tops else parent, tuple(child for child in children if child not in tops)] = None
    if not tops:
        inner = {child for parent, children in column.sums if parent != ALL for child in children}
        outer = tuple(label for label in labels if label not in inner)
        if any(parent == ALL for parent, _ in column.sums):
            return
        column.sums[ALL, outer] = None
        assumed.append(f"{table.name}: {own} has no total; its {len(outer)} labels are taken to cover everyone")


def _same(columns: Mapping[str, Column], name: str, labels: Sequence[str]) -> str | None:
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


def _free(columns: Mapping[str, Column], name: str) -> str:
    number, free = 2, name
    while free in columns:
        free, number = f"{name} {number}", number + 1
    return free


def _place(table: PrintedTable, names: Mapping[str, str], columns: Mapping[str, Column]) -> Placed:
    tops = {column: set(_tops(table, column)) for column in table.columns}
    labels = {names[c]: tuple(x for x in table.labels(c) if x not in tops[c]) for c in table.columns}
    labels |= {column: (label, f"not {label}") for column, label in table.where.items()}
    keys = {}
    for own in table.entries:
        parts = [(names[c], label) for c, label in zip(table.columns, own, strict=True) if label not in tops[c]]
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
            for parent, children in columns[column].sums:
                if not set(children) <= set(labels) or (parent != ALL and parent not in labels):
                    continue
                for rest in product(*others):
                    yield _row(column, parent, children, rest)


def _row(column: str, parent: str, children: Sequence[str], rest: Sequence[tuple[str, str]]) -> tuple[str, dict[Key, int]]:
    base = [part for part in rest if part[1] != ALL]
    total = tuple(sorted([*base, *([(column, parent)] if parent != ALL else [])]))
    parts = [tuple(sorted([*base, (column, child)])) for child in children]
    listed = ", ".join(children if len(children) <= 4 else (*children[:2], f"... {len(children)} in all ...", children[-1]))
    name = f"{name_of(total)} = sum over {column} ({listed})"
    return name, {total: -1, **dict.fromkeys(parts, 1)}
