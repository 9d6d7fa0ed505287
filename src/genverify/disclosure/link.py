"""Tables of counts in one system of sums: what texts say of counts, cells that two tables share, totals, facts."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import lcm, prod
from operator import ge, gt, le

import numpy as np

from genverify.model.errors import ConfigError, DataError, naming, nearest
from genverify.model.linear import LARGEST_COUNT, OPEN, LinearSystem, Row, make_system
from genverify.protect.publishing import Publishing
from genverify.reading.numerals import MISSING, MOST_DIGITS, NOT_APPLICABLE, Symbol
from genverify.reading.reading import Entry
from genverify.reading.totals import Hierarchy, Parts, by_interval, make_hierarchy

# What the printed texts say of counts: numbers by the rule of the publisher, symbols by what they are said to mean.

RULES = {"round": "nearest", "random": "random", "random-nonzero": "random_nonzero", "midpoint": "midpoint", "key": "stated"}
EXACT, LEVELS = "exact", "levels"  # no number was rounded; or only those of levels that show it
Labels = tuple[str, ...]


@dataclass(frozen=True)
class Share:
    labels: Labels  # of the count beside it
    entry: Entry
    head: str
    of: str = ""  # what it is of by its header: row, column, everyone, or unsaid
    whole: Labels | None = None  # the count of which it is, where the numbers of two columns say so

    @cached_property
    def number(self) -> str:
        return percent_of(self.entry.text)

    @cached_property
    def ends(self) -> tuple[Fraction, Fraction]:
        return rounded(self.number)

    @property
    def decimals(self) -> int:
        return len(self.number.partition(".")[2])


def percent_of(text: str) -> str:
    """The number of a percentage as it is printed (12,5 % is 12.5); nothing where it is none."""
    plain = text.strip().removesuffix("%").strip().replace(",", ".")
    return plain if re.fullmatch(r"\d+(\.\d+)?", plain) else ""


@dataclass(frozen=True)
class PrintedTable:
    """A table of counts: its columns (names of what is counted by), and the entry of every cell by labels."""

    name: str
    source: str
    columns: tuple[str, ...]
    entries: Mapping[Labels, Entry]
    sums: Mapping[str, Hierarchy] = field(default_factory=dict)  # of a column, what adds up to what
    where: Mapping[str, str] = field(default_factory=dict)  # keeps it to some people (column: label)
    title: str = ""
    shares: tuple[Share, ...] = ()  # percentages beside the counts
    rows: int = 1  # how many of the columns stand at the left, as rows
    left_out: tuple[str, ...] = ()  # what stands in the file and is no part of the table
    notes: tuple[str, ...] = ()
    apart: str = ""  # people of whom nothing is known beside those of other tables
    separate: frozenset[str] = frozenset()  # columns whose labels add up to nothing (times, measures): populations each
    earlier: bool = False  # of an earlier release: what it prints is known, and cannot be taken back

    @cached_property
    def _labels(self) -> Mapping[str, tuple[str, ...]]:
        sets = zip(*self.entries, strict=True) if self.entries else ((),) * len(self.columns)
        return {column: tuple(dict.fromkeys(own)) for column, own in zip(self.columns, sets, strict=True)}

    def labels(self, column: str) -> tuple[str, ...]:
        return self._labels[column]

    def totals(self, column: str) -> tuple[str, ...]:
        return tuple(self.sums[column].parts) if column in self.sums else ()

    def noted(self, *notes: str) -> "PrintedTable":
        return replace(self, notes=(*self.notes, *notes))


@dataclass(frozen=True)
class Value:
    """What a text says of a count: lo to hi (None: no upper end), and whether the count itself was suppressed."""

    lo: int
    hi: int | None
    hidden: bool


def read_rule(words: Sequence[str]) -> Publishing:
    """
    How numbers were treated before they were printed.

    >>> read_rule(["random=3"])
    Publishing(suppress=0, zeros=True, rounding='random', base=3)
    """
    result = Publishing()
    for word in (word for word in words if word not in (EXACT, LEVELS)):
        name, _, number = word.partition("=")
        whole = number.isdecimal() and len(number) <= MOST_DIGITS and int(number) > 0
        if not whole or name not in ("suppress", *RULES):
            known = ", ".join(f"{rule}=3" for rule in RULES)
            raise ConfigError(f"--rule {word[:60]}: give one of exact, levels, suppress=5, {known}")
        size = int(number)
        result = replace(result, suppress=size) if name == "suppress" else replace(result, rounding=RULES[name], base=size)
    return result


def symbol_value(symbol: Symbol) -> Value:
    if symbol.limits is None:
        return Value(0, None, symbol.meaning not in (MISSING, NOT_APPLICABLE))
    low, high = symbol.limits
    return Value(low, high, low != high)


def value_of(entry: Entry, symbols: Mapping[str, Value], rule: Publishing) -> Value:
    if entry.number is None:
        return symbols[entry.symbol]
    values = np.array([entry.number])
    with naming(entry.place):
        if not rule.possible(values)[0]:
            raise DataError(f"{entry.text} cannot come from rounding to base {rule.base}; check --rule, or the number")
        lo, hi = rule.known(values)
    return Value(int(lo[0]), int(hi[0]), False)


# Tables of counts in one system of sums: cells that two tables share are one cell, and every total is the sum of its parts.
#
# Records stay implicit. For every set of columns that a table has, or that two tables have in common, the counts of all
# combinations of labels (and of everyone) are cells, and each label that adds up others is a row. Where the tables' sets of
# columns form no circle, counts that satisfy all rows are those of some dataset (Vorob'ev: tables that agree pairwise on
# what they share come from one dataset, in whole numbers too), so ranges are exact. Where they form one, a table of all
# columns of the circle joins as unknown cells if it is small; else the ranges hold, but their ends may lie outside what
# people can be.

ALL, PEOPLE, NOT_INSIDE = "", "people", "not yes"  # the last: people of one table who are not in another inside it
Key = tuple[tuple[str, str], ...]
LARGEST_JOINT = 20_000  # cells of the table of all columns of a circle, each a variable; beyond, the circle is left open
LARGEST_CROSSED = 100_000  # cells of a table if all its labels were crossed, up to which each is a variable
ANONYMOUS = ("rows", "columns")
MOST_DIFFERING = 8  # cells that a message names
COMMON = {"yes", "no", "true", "false", "0", "1", "other", "unknown"}


@dataclass(frozen=True)
class Column:
    """A column of the linked tables: its labels, and what adds up to what; ALL, its top, is everyone."""

    name: str
    labels: tuple[str, ...]
    sums: Hierarchy


@dataclass(frozen=True)
class TableCells:
    """A table in the system: the labels of each of its columns there, by its name there, and the cell of every entry."""

    table: PrintedTable
    labels: Mapping[str, tuple[str, ...]]
    keys: Mapping[Labels, Key]


@dataclass(frozen=True)
class LinkedTables:
    """The tables in one system: its columns, what is printed of each cell, the sums, and whether ranges are exact."""

    columns: Mapping[str, Column]
    placed: tuple[TableCells, ...]
    printed: Mapping[Key, tuple[tuple[PrintedTable, Entry, Value], ...]]
    sums: LinearSystem
    keys: tuple[Key, ...]
    joint: bool
    assumed: tuple[str, ...]
    beside: Mapping[int, int] = field(default_factory=dict)  # a row that is a percentage: the cell beside which it stands
    earlier_facts: Mapping[int, str] = field(default_factory=dict)  # rows of percentages of earlier releases: the file

    @cached_property
    def now(self) -> tuple[TableCells, ...]:
        return tuple(own for own in self.placed if not own.table.earlier)  # the tables of this release

    @cached_property
    def current(self) -> Mapping[Key, tuple[tuple[PrintedTable, Entry, Value], ...]]:
        own = ((key, tuple(one for one in said if not one[0].earlier)) for key, said in self.printed.items())
        return {key: said for key, said in own if said}

    @cached_property
    def cell(self) -> Mapping[Key, int]:
        return {key: at for at, key in enumerate(self.keys)}  # in the order of the system

    @cached_property
    def differences(self) -> list[int]:
        """The cells of people of one table who are not in another inside it, and strips between old and new borders."""
        printed, older = {part for key in self.printed for part in key}, len(self.now) < len(self.placed)
        return [at for at, key in enumerate(self.keys)
                if any(part[1] == NOT_INSIDE or (older and part not in printed) for part in key)]  # fmt: skip


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
    extra: Callable[[Mapping[str, Column]], Iterable[Row]] = lambda columns: (),
    beside: Callable[[int, TableCells], Iterable[Row]] = lambda at, placed: (),
    tolerance: int = 0,
) -> LinkedTables:
    """One system of all tables: `values` says what texts mean, `extra` are facts of columns, `beside` those of one table."""
    columns, names, assumed = _columns(tables)
    placed = tuple(_place(table, names[at]) for at, table in enumerate(tables))
    printed: dict[Key, list[tuple[PrintedTable, Entry, Value]]] = {}
    for at, one in enumerate(placed):
        for labels, entry in one.table.entries.items():
            value = values[at, labels]
            if max(value.lo, value.hi or 0) > LARGEST_COUNT:
                what = f"{entry.place}: {entry.text[:40]!r} is above {LARGEST_COUNT}"
                raise DataError(f"{what}, too large to compute with exactly")
            printed.setdefault(one.keys[labels], []).append((one.table, entry, value))
    frames, joint = _frames(placed, columns)
    rows = {name: (cells, closed) for name, cells, closed in _rows(frames, columns)}
    keys = dict.fromkeys([*printed, *(key for cells, _ in rows.values() for key in cells)])
    _refuse_differing([said for said in printed.values() if len(said) > 1 and gt(*cell_ends(said))])
    ends = {name_of(key): cell_ends(printed.get(key, [])) for key in keys}
    shares = [(one.table, row) for at, one in enumerate(placed) for row in beside(at, one)]
    facts = [*{fact[0]: fact for fact in extra(columns)}.values(), *(row for _, row in shares)]
    for cell in (cell for _, weights, _, _ in facts for cell in weights if cell not in ends):
        raise DataError(f"no table has a cell {cell!r}; a fact is about columns and labels of one table")
    named: list[Row] = [
        (name, {name_of(key): own for key, own in cells.items()}, -tolerance if closed else -OPEN, tolerance)
        for name, (cells, closed) in rows.items()
    ]
    sums = make_system(ends, [*named, *facts])
    first = len(named) + len(facts) - len(shares)
    of = {at: sums.place[next(iter(row[1]))] for at, (table, row) in enumerate(shares, first) if not table.earlier}
    older = {at: table.source for at, (table, _) in enumerate(shares, first) if table.earlier}
    exact = joint and all(closed for _, closed in rows.values())
    exact = exact and all(len(column.sums.finest([ALL])) == 1 for column in columns.values())
    all_printed = {key: tuple(said) for key, said in printed.items()}
    return LinkedTables(columns, placed, all_printed, sums, tuple(keys), exact, tuple(assumed), of, older)


def without_sums(linked: LinkedTables, names: Sequence[str]) -> LinkedTables:
    place = linked.sums.row_place
    for lost in (name for name in names if name not in place):
        raise DataError(f"no sum is called {lost!r}; read the tables again")
    return replace(linked, sums=linked.sums.relaxed({}, [place[name] for name in names])) if names else linked


def without_files(linked: LinkedTables, files: Collection[str]) -> LinkedTables:
    """The system as if these files of earlier releases had printed nothing; what adds up to what stays."""
    rest = {key: [one for one in said if one[0].source not in files] for key, said in linked.printed.items()}
    ends = {linked.cell[key]: cell_ends(said) for key, said in rest.items() if len(said) < len(linked.printed[key])}
    rows = [row for row, file in linked.earlier_facts.items() if file in files]
    return replace(linked, sums=linked.sums.relaxed(ends, rows))


def cell_ends(said: Sequence[tuple[PrintedTable, Entry, Value]]) -> tuple[int, int]:
    """What all texts of one cell say together; the first end is above the second where they cannot all be right."""
    highs = (value.hi for _, _, value in said if value.hi is not None)
    return max((value.lo for _, _, value in said), default=0), min(highs, default=OPEN)


def _refuse_differing(cells: Sequence[Sequence[tuple[PrintedTable, Entry, Value]]]) -> None:
    pairs = [(max(said, key=lambda own: own[2].lo), min(said, key=lambda own: cell_ends([own])[1])) for said in cells]
    texts = [f"{first.place} prints {first.text!r} and {last.place} prints {last.text!r} for the same people"
             for (_, first, _), (_, last, _) in pairs]  # fmt: skip
    older = ", ".join(sorted({table.source for pair in pairs for table, _, _ in pair if table.earlier}))
    if texts:
        more = f"; and {len(texts) - MOST_DIFFERING} more cells" if len(texts) > MOST_DIFFERING else ""
        remedy = f"leave the older of the two out of --previous ({older})" if older else "correct one"
        inside = "If one table counts some of the people of the other, say so: --inside SMALL=LARGE"
        others = "" if older else "; if they are other people, go on with --allow-partial"
        raise DataError(f"{'; '.join(texts[:MOST_DIFFERING])}{more}; {remedy}. {inside}{others}")


@dataclass
class _Draft:
    """A column while tables are looked through: its labels, its sums, and the labels of tables that print no total of it."""

    labels: dict[str, None] = field(default_factory=dict)
    sums: dict[tuple[str, Parts], None] = field(default_factory=dict)
    untold: dict[Parts, str] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)

    def add(self, table: PrintedTable, column: str) -> None:
        own, labels = table.sums.get(column, Hierarchy()), _labels(table, column)
        self.labels |= dict.fromkeys(labels)
        self.sums |= dict.fromkeys((ALL if parent == own.top else parent, parts) for parent, parts in own)
        if own.top is None and column not in table.separate:
            self.untold.setdefault(own.outer(labels), f"{table.name}: {column}")
        self.tables.append(f"{table.source}: {column}")

    def column(self, name: str, assumed: list[str]) -> Column:
        """The column, checked: the labels of tables without a total cover everyone where no table says what does."""
        self.sums |= dict.fromkeys(by_interval(list(self.labels)))
        where = " and ".join(dict.fromkeys(self.tables[:3])) or name
        sums = make_hierarchy(self.sums, (), where)
        untold = self.untold if ALL not in sums.parts else {}
        if untold and len(set().union(*map(sums.finest, untold))) == 1:
            self.sums |= dict.fromkeys((ALL, parts) for parts in untold)
            assumed += [f"{table} has no total; its {len(parts)} labels are assumed to cover everyone"
                        for parts, table in untold.items()]  # fmt: skip
            sums = make_hierarchy(self.sums, (), where)
        elif untold:
            assumed.append(f"{' and '.join(untold.values())} list different labels and print no total: not compared")
        return Column(name, tuple(self.labels), replace(sums, top=ALL))


def _labels(table: PrintedTable, column: str) -> Parts:
    """The labels of a column, those that only its hierarchy names included; without the one that means everyone."""
    own = table.sums.get(column, Hierarchy())
    return tuple(label for label in dict.fromkeys([*table.labels(column), *own.labels]) if label != own.top)


def _columns(tables: Sequence[PrintedTable]) -> tuple[dict[str, Column], list[dict[str, str]], list[str]]:
    """The columns of all tables; two are one where they have one name, or, one without a name, the same labels."""
    drafts = defaultdict[str, _Draft](_Draft)
    names, assumed = list[dict[str, str]](), list[str]()
    for table in tables:
        own = dict[str, str]()
        for at, column in enumerate(table.columns):
            if "" in table.labels(column):
                place = next(e.place for labels, e in table.entries.items() if labels[at] == "")
                raise DataError(f"{place}: the label of {column} is empty; give the row or column a label")
            if column in own:
                raise DataError(f"{table.source}: two columns of table {table.name} are called {column!r}; rename one")
            others = {known: draft for known, draft in drafts.items() if known not in own.values()}
            free = (column, *(f"{column} {number}" for number in range(2, len(drafts) + 3)))
            name = _same(others, column, _labels(table, column)) or next(own for own in free if own not in drafts)
            if name != column and name in drafts:
                assumed.append(f"{table.name}: {column} is taken for {name}, which has the same labels")
            own[column] = name
            drafts[name].add(table, column)
        for column, label in table.where.items():
            drafts[column].labels |= dict.fromkeys((label, f"not {label}"))
            drafts[column].sums[ALL, (label, f"not {label}")] = None
        names.append(own)
    columns = {name: draft.column(name, assumed) for name, draft in drafts.items()}
    if kinds := tuple(dict.fromkeys(table.apart for table in tables if table.apart)):
        columns[PEOPLE] = Column(PEOPLE, kinds, Hierarchy())
    return columns, names, assumed


def _same(columns: Mapping[str, _Draft], name: str, labels: Sequence[str]) -> str | None:
    alike = {label.casefold() for label in labels}
    by_name = (known for known in columns if known.casefold() == name.casefold() and not anonymous(name))
    by_labels = (known for known, column in columns.items() if (anonymous(name) or anonymous(known)) and not alike <= COMMON
                 and alike == {label.casefold() for label in column.labels})  # fmt: skip
    return next(by_name, None) or next(by_labels, None)


def anonymous(name: str) -> bool:
    return name.rstrip("0123456789 ()") in ANONYMOUS


def _place(table: PrintedTable, names: Mapping[str, str]) -> TableCells:
    tops = [table.sums[column].top if column in table.sums else None for column in table.columns]
    labels = {names[c]: _labels(table, c) for c in table.columns}
    labels |= {column: (label, f"not {label}") for column, label in table.where.items()}
    fixed = [*table.where.items(), *([(PEOPLE, table.apart)] if table.apart else [])]
    named = [(names[column], top) for column, top in zip(table.columns, tops, strict=True)]
    keys = {own: tuple(sorted([*((c, label) for (c, top), label in zip(named, own, strict=True) if label != top), *fixed]))
            for own in table.entries}  # fmt: skip
    return TableCells(table, labels, keys)


# a set of columns with their labels, and the cells in it of which something is printed; None where all cells count
Frame = tuple[Mapping[str, Parts], Collection[Key] | None]


def _frames(placed: Sequence[TableCells], columns: Mapping[str, Column]) -> tuple[list[Frame], bool]:
    """The sets of columns, with labels, over which rows are written; and whether they leave no circle open."""
    frames: dict[tuple[tuple[tuple[str, Parts], ...], str], set[Key]] = {}
    for one in placed:
        frames.setdefault((tuple(sorted(one.labels.items())), one.table.apart), set()).update(one.keys.values())
    for one, other in combinations(placed, 2):
        if one.table.apart == other.table.apart:
            shared = [column for column in one.labels if column in other.labels]
            labels = {c: tuple(dict.fromkeys([*one.labels[c], *other.labels[c]])) for c in shared}
            keys, wanted = (*one.keys.values(), *other.keys.values()), {*shared, PEOPLE}
            cells = {tuple(part for part in key if part[0] in wanted) for key in keys}
            frames.setdefault((tuple(sorted(labels.items())), one.table.apart), set()).update(cells)
    result: list[Frame] = [(dict(labels), cells) for (labels, _), cells in frames.items()]
    circle, joint = set[str](), True
    for apart in dict.fromkeys(one.table.apart for one in placed):
        own = _circle([set(one.labels) for one in placed if one.table.apart == apart])
        joint = joint and not (apart and own)  # people of other tables: the circle is left open
        circle |= own if not apart else set()
    whole = {column: columns[column].labels for column in sorted(circle)}
    if not circle or prod(len(labels) + 1 for labels in whole.values()) > LARGEST_JOINT:
        return result, joint and not circle
    return [*result, (whole, None)], joint


def _circle(sets: Sequence[set[str]]) -> set[str]:
    """
    The columns that are left when columns of one set alone and sets inside others are taken away in turn (Graham): none
    where the sets form no circle.

    >>> _circle([{"a", "b"}, {"b", "c"}]), sorted(_circle([{"a", "b"}, {"b", "c"}, {"a", "c"}]))
    (set(), ['a', 'b', 'c'])
    """
    left, before = [frozenset(own) for own in sets], list[frozenset[str]]()
    while left != before:
        before = left
        often = Counter(column for own in left for column in own)
        left = list(dict.fromkeys(frozenset(column for column in own if often[column] > 1) for own in left))
        left = [own for own in left if own and not any(own < other for other in left)]
    return set().union(*left)


def _rows(frames: Iterable[Frame], columns: Mapping[str, Column]) -> Iterator[tuple[str, dict[Key, int], bool]]:
    """
    Every total as a row: it less its parts is 0. A row has the name of its total and of the column that is added up.

    Only sums are written that have a part, over some levels, of which something is printed: the parts of any other can be
    whatever its total leaves, so that it says nothing. Where labels could be crossed to very many cells, most of which no
    table prints, parts of which nothing is printed are left out as well: the others are at most the total (not closed).
    """
    for frame, printed in frames:
        if printed is None:
            tops = {name: (ALL,) if ALL in columns[name].sums.parts else () for name in frame}
            keys: Iterable[Key] = product(*([(name, label) for label in (*own, *tops[name])] for name, own in frame.items()))
        else:
            above = _above(frame, columns)
            keys = (parts for key in sorted(printed) for parts in product(*(above.get(part, (part,)) for part in key)))
        cells = dict.fromkeys(tuple(part for part in key if part[1] != ALL) for key in keys)
        sparse = printed is not None and prod(len(labels) + 1 for labels in frame.values()) > LARGEST_CROSSED
        sums = defaultdict[tuple[str, str], list[tuple[str, int]]](list)  # by column and part
        for column, labels in frame.items():
            known = {*labels, ALL}
            for parent, sets in columns[column].sums.parts.items():
                for number, children in enumerate(sets):
                    for child in children if known.issuperset((parent, *children)) else ():
                        sums[column, child].append((parent, number))
        held = defaultdict[tuple[str, str, int, Key], list[Key]](list)  # what is printed of the parts of each sum
        for key in cells:
            for part in key:
                for parent, number in sums.get(part, ()):
                    rest = tuple(own for own in key if own[0] != part[0])
                    held[part[0], parent, number, rest].append(key)
        for (column, parent, number, rest), some in held.items():
            children = columns[column].sums.parts[parent][number]
            parts = some if sparse else [tuple(sorted([*rest, (column, child)])) for child in children]
            total = tuple(sorted([*rest, *([(column, parent)] if parent != ALL else [])]))
            weights = {total: -1, **dict.fromkeys(parts, 1)}
            yield _row_name(column, total, children, number), weights, len(parts) == len(children)


def _above(frame: Mapping[str, Parts], columns: Mapping[str, Column]) -> dict[tuple[str, str], Key]:
    """Each label of some columns, and all that it is part of."""
    above = dict[tuple[str, str], Key]()
    for column, labels in frame.items():
        direct = defaultdict[str, set[str]](set)
        for parent, children in columns[column].sums:
            for child in children:
                direct[child].add(parent)
        for label in labels:
            known, open_ = {label: None}, [label]
            while open_:
                new = [parent for parent in sorted(direct[open_.pop()]) if parent not in known]
                known |= dict.fromkeys(new)
                open_ += new
            above[column, label] = tuple((column, own) for own in known)
    return above


def _row_name(column: str, total: Key, children: Parts, number: int) -> str:
    first, many = [quoted(child) for child in children[:4]], len(children) > 4
    listed = [*first[:2], f"... {len(children)} in all ...", quoted(children[-1])] if many else first
    which = f" [{number + 1}]" if number else ""  # another set of parts of the same total may be listed alike
    return f"{name_of(total)} = sum over {quoted(column)} ({', '.join(listed)}){which}"


# Facts beside counts: limits, percentages, means and medians in words, as rows of the system.

FORMS = (
    "'age=0-4, sex=f >= 3' (also <=, <, >, =), 'percent sex=f of everyone = 12.5', 'mean children of everyone = "
    "1.4 over 0, 1, 2, 3', 'median children of sex=f = 1 over 0, 1, 2, 3'; numbers are rounded "
    "to the decimals that are written"
)
COMPARED = re.compile(r"(.+?)\s*(<=|>=|<|>|=)\s*(\d+)")
PERCENT = re.compile(r"percent\s+(.+\s+of\s+.+?)\s*=\s*(\d+(?:\.\d+)?)\s*%?", re.IGNORECASE)
MIDDLE = re.compile(r"(mean|median)\s+(.+?)\s+of\s+(.+?)\s*=\s*(-?\d+(?:\.\d+)?)\s*(?:over\s+(.+))?", re.IGNORECASE)
NUMERAL = re.compile(r"[+-]?\d+(?:\.\d+)?")
LONGEST = 10_000  # characters of a fact


def read_facts(texts: Sequence[str], columns: Mapping[str, Column]) -> list[Row]:
    check_facts(texts)
    return [row for text in texts for row in _fact_rows(text.strip(), columns)]


def check_facts(texts: Sequence[str]) -> None:
    """An error for a text that no table can make a fact."""
    for text in texts:
        if len(text) > LONGEST or re.search(rf"\d{{{MOST_DIGITS + 1}}}", text):
            most = f"longer than {LONGEST} characters, or has more than {MOST_DIGITS} digits"
            raise ConfigError(f"the fact {text[:50]!r}... is {most}")
        if not any(form.fullmatch(text.strip()) for form in (PERCENT, MIDDLE, COMPARED)):
            raise ConfigError(f"the fact {text!r} cannot be read; write it like {FORMS}")


def _fact_rows(text: str, columns: Mapping[str, Column]) -> Iterator[Row]:
    if result := PERCENT.fullmatch(text):
        part, whole = map(name_of, _two_cells(text, result[1], columns))
        if part == whole:
            raise ConfigError(f"{text!r}: a percentage of itself")
        low, high = rounded(result[2])  # low/100 whole <= part <= high/100 whole, each side as a row of whole multiples
        yield from between(text, {part: Fraction(100)}, whole, max(low, Fraction(0)), high)
    elif result := MIDDLE.fullmatch(text):
        yield from _middle(text, result, columns)
    elif result := COMPARED.fullmatch(text):
        name, sign, number = name_of(cell(result[1], columns)), result[2], int(result[3])
        least = {">=": number, ">": number + 1, "=": number}.get(sign, 0)
        most = {"<=": number, "<": number - 1, "=": number}.get(sign, OPEN)
        yield f"fact: {text}", {name: 1}, least, most


def cell(text: str, columns: Mapping[str, Column]) -> Key:
    """
    The cell that columns and labels in any order name. Either may be quoted; where a text could name two cells, it must be.

    >>> own = {"sex": ("f",), "age": ("0-4", "5, 6")}
    >>> columns = {name: Column(name, labels, Hierarchy()) for name, labels in own.items()}
    >>> cell("sex=f, age=0-4", columns), cell("age=5, 6", columns), cell("everyone", columns)
    ((('age', '0-4'), ('sex', 'f')), (('age', '5, 6'),), ())
    """
    if text.strip().lower() in ("everyone", "all", "total"):
        return ()
    result = list(dict.fromkeys(tuple(sorted(own)) for own in _readings(text.strip(), columns)))
    if len(result) > 1:
        names = " or ".join(map(name_of, result))
        raise ConfigError(f"{text!r} may be {names}; put the label or the column that is meant in double quotes, as here")
    if not result:
        known = [f"{column}={label}" for column, own in columns.items() for label in own.labels]
        form = "write column=label, column=label with labels of one table, or everyone"
        raise ConfigError(f"no table has a cell {text!r}; {form}. {nearest(text, known)}")
    return result[0]


def _readings(text: str, columns: Mapping[str, Column]) -> Iterator[list[tuple[str, str]]]:
    for column, rest in _starts(text, columns):
        if not rest.startswith("="):
            continue
        for label, more in _starts(rest[1:].lstrip(), columns[column].labels):
            if not more:
                yield [(column, label)]
            elif more.startswith(","):
                others = _readings(more[1:].lstrip(), columns)
                yield from ([(column, label), *own] for own in others if column not in dict(own))


def _starts(text: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names that a text begins with, as they are or quoted, and what follows."""
    for name in names:
        for written in {name, quoted(name), json.dumps(name, ensure_ascii=False)} - {""}:
            if text.startswith(written):
                yield name, text[len(written) :].lstrip()


def _two_cells(text: str, both: str, columns: Mapping[str, Column]) -> tuple[Key, Key]:
    """`sex=f of everyone`: the part and the whole; a label may have an `of` of its own."""
    result, errors = dict[tuple[Key, Key], None](), list[ConfigError]()
    for split in re.finditer(r"\s+of\s+", both):
        try:
            result[cell(both[: split.start()], columns), cell(both[split.end() :], columns)] = None
        except ConfigError as wrong:
            errors.append(wrong)
    if len(result) > 1:
        raise ConfigError(f"the fact {text!r} can be read in two ways; put labels in double quotes")
    if not result:
        raise errors[0] if errors else ConfigError(f"the fact {text!r} cannot be read; write it like {FORMS}")
    return next(iter(result))


def rounded(text: str) -> tuple[Fraction, Fraction]:
    """The numbers that may have been rounded to a text, ends included."""
    half = Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
    return Fraction(text) - half, Fraction(text) + half


def between(text: str, weights: Mapping[str, Fraction], whole: str, low: Fraction, high: Fraction) -> Iterator[Row]:
    """low whole <= sum of weight times cell <= high whole."""
    for side, end in (("at least", low), ("at most", high)):
        held = {**weights, whole: weights.get(whole, Fraction(0)) - end}
        scale = lcm(*(weight.denominator for weight in held.values()))
        whole_weights = {name: int(weight * scale) for name, weight in held.items() if weight}
        yield f"fact: {text} ({side})", whole_weights, *((0, OPEN) if side == "at least" else (-OPEN, 0))


def _middle(text: str, found: re.Match[str], columns: Mapping[str, Column]) -> Iterator[Row]:
    """A mean or a median of a column whose labels are numbers; `over 1, 2, 3` lists them."""
    kind, column, where, number, listed = found.groups()
    if not listed:
        raise ConfigError(f"{text!r}: list the labels of {column}, which must be numbers, at the end: over 0, 1, 2, 3")
    key = cell(where, columns)
    whole, cells = name_of(key), dict[str, Fraction]()
    for label in (own.strip() for own in listed.split(",")):
        if not NUMERAL.fullmatch(label):  # no powers of ten: 1e999999999 has as many digits
            raise ConfigError(f"{text!r}: the label {label!r} of {column} is not a number")
        cells[name_of(tuple(sorted([*key, (column, label)])))] = Fraction(label)
    if kind.lower() == "mean":
        yield from between(text, cells, whole, *rounded(number))
        return
    for side, compare in (("at most", le), ("at least", ge)):
        weights = {name: 2 for name, value in cells.items() if compare(value, Fraction(number))}
        yield f"fact: {text} (half are {side} it)", {**weights, whole: weights.get(whole, 0) - 1}, 0, OPEN
