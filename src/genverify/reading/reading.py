"""The reading of files: a role for every cell that is not empty, the tables that follow, and what stays open."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import NamedTuple

from genverify.model.errors import ConfigError, nearest
from genverify.reading.axes import Axis
from genverify.reading.blocks import Block
from genverify.reading.numerals import LIMIT, MIXED, RANGE, SYMBOL, WHOLE, Numerals
from genverify.reading.roles import (
    COUNT,
    FLAG,
    LEFT_OUT,
    MONEY,
    NOTE,
    PERCENTAGE,
    RATE,
    ROW_NUMBER,
    STATISTIC,
    Column,
    Number,
)  # fmt: skip
from genverify.reading.source import Cube, Source, column_name
from genverify.reading.symbols import Symbol
from genverify.reading.totals import Question, surely_rounded

HEADER, SYMBOL_ROLE = "header", "symbol"
AMONG_COUNTS = "symbol among counts"  # told apart beside the roles: these symbols stand in the tables
# the six words of the line of conservation, and the roles that each adds up
KEPT: Mapping[str, tuple[str, ...]] = {
    "labels": ("label", "code", "period", "measure", HEADER),
    "counts": (COUNT,),
    "symbols": (SYMBOL_ROLE,),
    "statistics": (PERCENTAGE, RATE, STATISTIC, MONEY),
    "notes": (NOTE, FLAG, ROW_NUMBER),
    "left out": (LEFT_OUT,),
}
Sums = Mapping[str, Sequence[Sequence[str]]]
BLANK = "blank"  # the word for a cell without a text, where a count could stand
PLACED = frozenset((WHOLE, LIMIT, RANGE, SYMBOL, MIXED))  # kinds of text that stand in a table of counts


@dataclass(frozen=True)
class Corrections:
    """What a user says about files: by options, or in a reading file."""

    sheets: frozenset[str] = frozenset()
    roles: Mapping[str, str] = field(default_factory=dict)  # column name or header, to role
    rows: frozenset[int] = frozenset()  # rows to skip, from 1
    columns: frozenset[str] = frozenset()  # columns to skip
    period: str = ""
    totals: Mapping[str, str] = field(default_factory=dict)  # axis, to the label that adds up the others
    no_totals: frozenset[str] = frozenset()  # labels that are no totals, whatever their names say
    labels: frozenset[str] = frozenset()  # labels that look like symbols
    hierarchies: Mapping[str, tuple[Path, str]] = field(default_factory=dict)  # axis, to a .hrc file and its lead string
    sums: Mapping[tuple[str, str], Sums] = field(default_factory=dict)  # table and axis, to what adds up to what
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)  # table, to the names of its axes
    decimal: str = ""
    amounts: bool = False  # amounts of money are added up as counts are
    symbols: Mapping[str, str] = field(default_factory=dict)  # text, to meaning
    rule: tuple[str, ...] = ()
    numerals: Numerals | None = None
    blocks: Mapping[str, tuple[Block, ...]] | None = None  # by sheet
    tags: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    columns_of: Mapping[tuple[str, int], tuple[Column, ...]] = field(default_factory=dict)  # sheet and number of the table
    axes_of: Mapping[str, tuple[Axis, ...]] = field(default_factory=dict)  # table
    known: Mapping[str, Symbol] = field(default_factory=dict)  # symbols of a reading file


class Entry(NamedTuple):
    """One cell of a table: its text and place, and its number or the text of its symbol."""

    text: str
    place: str
    number: int | None = None
    symbol: str = ""


@dataclass(frozen=True)
class LeftOut:
    """Cells that have no place in the tables: where the first stands, how many, why, and what to do."""

    place: str
    cells: int
    why: str
    remedy: str = ""


@dataclass(frozen=True)
class Figures:
    """A column of counts, percentages or rates: its label, and the text, kind and number of each row."""

    at: int
    label: str
    texts: Sequence[str]
    kinds: Sequence[str]
    values: Sequence[Number | None]


@dataclass(frozen=True)
class Table:
    """A table as it was read: where it stands, its columns and axes, and its cells by labels (a tuple, one of each axis)."""

    name: str
    file: str
    sheet: str
    title: str
    block: Block
    columns: tuple[Column, ...]
    axes: tuple[Axis, ...]
    rows: tuple[tuple[str, ...], ...] = ()  # labels by row axis
    counts: tuple[Figures, ...] = ()
    figures: tuple[Figures, ...] = ()
    excluded: frozenset[int] = frozenset()  # rows, by their number in the body, whose counts are not placed
    population: Mapping[str, str] = field(default_factory=dict)
    bases: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)  # percentage: counts it can be of
    measured: Mapping[int, Sequence[str]] = field(default_factory=dict)  # column: roles of rows, where a measure names them
    cube: Cube | None = None
    hidden: bool = False
    base: int = 1
    flags: Mapping[int, Sequence[str]] = field(default_factory=dict)  # column of flags: those beside printed counts

    @cached_property
    def entries(self) -> dict[tuple[str, ...], Entry]:
        """The cells by their labels; symbols and counts, nothing that no cell prints."""
        found = dict[tuple[str, ...], Entry]()
        if self.cube:
            keys = product(*(axis.labels for axis in self.axes))
            for own in self.counts:
                for at, (key, text, kind, value) in enumerate(zip(keys, own.texts, own.kinds, own.values, strict=True)):
                    if kind in PLACED:
                        found[key] = _entry(text, f"value {at + 1}", kind, value)
            return found
        wide = len(self.counts) > 1
        for own in self.counts:
            letter = column_name(own.at)
            for row, (text, kind, value) in enumerate(zip(own.texts, own.kinds, own.values, strict=True)):
                if kind in PLACED and row not in self.excluded:
                    key = tuple(labels[row] for labels in self.rows) + ((own.label,) if wide else ())
                    found[key] = _entry(text, f"{self.sheet}!{letter}{self.block.body[row] + 1}", kind, value)
        return found

    @cached_property
    def rounded(self) -> dict[str, dict[str, int]]:
        """By axis: labels whose counts were rounded, alone or as a level (totals, or their parts), and to which base."""
        found = dict[str, dict[str, int]]()
        for at, axis in enumerate(self.axes):
            numbers = defaultdict[str, set[int]](set)
            for labels, entry in self.entries.items():
                numbers[labels[at]].add(entry.number or 0)
            totals = dict(axis.tree)
            level = {high: surely_rounded(n for label, own in numbers.items() if (label in totals) == high for n in own)
                     for high in (False, True) if totals}  # fmt: skip
            bases = {label: max(surely_rounded(own), level.get(label in totals, 1)) for label, own in numbers.items()}
            if bases := {label: base for label, base in bases.items() if base > 1 and base != self.base}:
                found[axis.name] = bases
        return found


def _entry(text: str, place: str, kind: str, value: Number | None) -> Entry:
    number = int(value) if value is not None and kind in (WHOLE, MIXED) else None
    return Entry(text, place, number, "" if number is not None else text)


@dataclass(frozen=True)
class Reading:
    """What files say: the role of every cell, the tables, what symbols mean, and the questions that stay open."""

    sources: tuple[Source, ...]
    tables: tuple[Table, ...]
    cells: int
    roles: Mapping[str, int]
    symbols: Mapping[str, Symbol]
    met: Mapping[str, int]  # how often each symbol stands in place of a number
    left_out: tuple[LeftOut, ...]
    questions: tuple[Question, ...]
    said: tuple[str, ...]
    numerals: Mapping[str, Numerals]
    tags: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    labels_like_symbols: Mapping[str, int] = field(default_factory=dict)

    @property
    def conservation(self) -> dict[str, int]:
        """The cells by the six words of the line of conservation."""
        return {word: sum(self.roles.get(role, 0) for role in roles) for word, roles in KEPT.items()}

    @property
    def conserved(self) -> bool:
        """Whether every cell has one role, and every count and symbol among counts stands in one table, once."""
        placed = sum(len(table.entries) for table in self.tables)
        inside = self.roles.get(COUNT, 0) + self.roles.get(AMONG_COUNTS, 0)
        return self.cells == sum(self.conservation.values()) and placed == inside

    def line(self) -> str:
        """The line of conservation."""
        parts = " + ".join(f"{cells:,} {word}" for word, cells in self.conservation.items())
        return f"{self.cells:,} cells = {parts}"


def read(
    sources: Sequence[Source], told: Corrections | None = None, own: Mapping[str, Corrections] | None = None
) -> Reading:
    """The reading of files, as they are and as told, `own` of each by its name; it always ends with one."""
    from genverify.reading.table_cells import Tally, read_file

    general = told or Corrections()
    total, tables, numerals, said = Tally(), list[Table](), dict[str, Numerals](), list[str]()
    for source in sources:
        tally = Tally()
        numerals[source.name] = read_file(source, (own or {}).get(source.name, general), tally)
        total.add(tally)
        said += [f"{source.name}: {one}" for one in (*source.said, *_said(source, numerals[source.name]))]
    seen = Counter[str]()
    for table in total.tables:
        seen[table.name] += 1
        tables.append(table if seen[table.name] == 1 else replace(table, name=f"{table.name} ({seen[table.name]})"))
    _check_told(general, tables, total.met, sources)
    left = tuple(LeftOut(place, cells, why, remedy) for (_, why, remedy), (place, cells) in total.left.items())
    asked = [
        Question(f"{text!r} stands {total.met[text]:,} times in place of a number: {symbol.meaning} is offered",
                 f"--symbol '{text}={symbol.meaning}'")
        for text, symbol in total.symbols.items() if symbol.how.startswith(("offered", "not in"))
    ]  # fmt: skip
    return Reading(tuple(sources), tuple(tables), total.cells, total.roles, total.symbols, total.met, left,
                   (*asked, *total.questions), tuple(said), numerals, total.tags, total.like)  # fmt: skip


def _said(source: Source, numerals: Numerals) -> list[str]:
    """What a user should know of a file before reading on: its signs, and what is hidden on the page."""
    said = [] if numerals.why.startswith("no number") else [f"decimal sign {numerals.decimal!r}: {numerals.why}"]
    for sheet in source.sheets:
        if sheet.hidden:
            said.append(f"sheet {sheet.name!r} is hidden; it is read, since everything that a file holds is published")
        if sheet.hidden_rows or sheet.hidden_columns:
            what = f"{len(sheet.hidden_rows)} rows and {len(sheet.hidden_columns)} columns"
            said.append(f"sheet {sheet.name!r}: {what} are hidden; they are read")
    return said


def _check_told(told: Corrections, tables: Sequence[Table], met: Mapping[str, int], sources: Sequence[Source]) -> None:
    """An error for what is told of something that no file holds: it would change nothing, silently."""
    if unmet := [text for text in told.symbols if not met.get(text) and text != BLANK]:
        raise ConfigError(f"--symbol {unmet[0]}: never stands in place of a number in these files; correct or leave it out")
    sheets = [sheet.name for source in sources for sheet in source.sheets]
    if unknown := sorted(told.sheets - set(sheets)):
        raise ConfigError(f"--sheet {unknown[0]}: no such sheet: {nearest(unknown[0], sheets)}")
    names = {name for table in tables for column in table.columns for name in (column.name, column.head) if name}
    if tables and (lost := [name for name in (*told.roles, *sorted(told.columns)) if name not in names]):
        raise ConfigError(f"column {lost[0]!r} stands in no table: {nearest(lost[0], sorted(names)[:40])}")
    axes = [axis for table in tables for axis in table.axes]
    for option, name in [*(("total", own) for own in told.totals), *(("hierarchy", own) for own in told.hierarchies)]:
        if not any(axis.name == name for axis in axes):
            known = sorted({axis.name for axis in axes})
            raise ConfigError(f"--{option} {name}: no table has this column: {nearest(name, known)}")
    every = {label for axis in axes for label in axis.labels}
    if lost := sorted(told.no_totals - every):
        raise ConfigError(f"--no-total {lost[0]}: no table has this label: {nearest(lost[0], sorted(every)[:200])}")
    for name, label in told.totals.items():
        labels = [own for axis in axes if axis.name == name for own in axis.labels]
        if label not in labels:
            raise ConfigError(f"--total {name}={label}: no label of {name}: {nearest(label, labels[:20])}")
