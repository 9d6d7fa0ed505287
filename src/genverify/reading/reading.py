"""The reading of files: a role and a reason for every cell that is not empty, the tables that follow, and what stays open."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

from genverify.core.errors import ConfigError, DataError
from genverify.reading.axes import (
    ADDITIVE,
    MEASURES,
    PARTS,
    TIME,
    Axis,
    Question,
    RowAxes,
    column_axis,
    find_tree,
    rounding,
    row_axes,
)  # fmt: skip
from genverify.reading.layout import Block, find_bands
from genverify.reading.numbers import (
    DECIMAL,
    EMPTY,
    LIMIT,
    MIXED,
    NUMBERS,
    PERCENT,
    RANGE,
    SYMBOL,
    TEXT,
    WHOLE,
    Numerals,
    decide_numerals,
    kind_of,
    number_of,
    split,
)  # fmt: skip
from genverify.reading.roles import (
    COUNT,
    FIGURES,
    FLAG,
    LABEL,
    LABELS,
    LEFT_OUT,
    MEASURE,
    MONEY,
    NOTE,
    PERCENT_WORDS,
    PERCENTAGE,
    RATE,
    RATE_WORDS,
    ROW_NUMBER,
    STATISTIC,
    STATISTIC_WORDS,
    Column,
    Facts,
    Number,
    column_facts,
    find_base,
    find_columns,
    heads_of,
    measure_role,
    symbol_like,
    values_of,
)  # fmt: skip
from genverify.reading.source import NO_VALUE, Cube, Grid, Sheet, Source, column_name
from genverify.reading.symbols import SUPPRESSED, Symbol, find_legend, is_symbol, told_symbol, usual_meaning

HEADER, SYMBOL_ROLE = "header", "symbol"
# the six words of the line of conservation, and the roles that each adds up
KEPT: Mapping[str, tuple[str, ...]] = {
    "labels": ("label", "code", "period", "measure", HEADER),
    "counts": (COUNT,),
    "symbols": (SYMBOL_ROLE,),
    "statistics": (PERCENTAGE, RATE, STATISTIC, MONEY),
    "notes": (NOTE, FLAG, ROW_NUMBER),
    "left out": (LEFT_OUT,),
}
SHOWN = 12  # lines of one kind that are printed; the reading file has all
FEW_SYMBOLS = 400  # different texts in place of numbers; a file with more has texts there, not symbols


@dataclass(frozen=True)
class Told:
    """What a user says about files: by options, or in a reading file."""

    sheets: frozenset[str] = frozenset()
    roles: Mapping[str, str] = field(default_factory=dict)  # column name or header, to role
    rows: frozenset[int] = frozenset()  # rows to skip, from 1
    columns: frozenset[str] = frozenset()  # columns to skip
    period: str = ""
    totals: Mapping[str, str] = field(default_factory=dict)  # axis, to the label that adds up the others
    symbols: Mapping[str, str] = field(default_factory=dict)  # text, to meaning
    rule: tuple[str, ...] = ()
    numerals: Numerals | None = None
    blocks: Mapping[str, tuple["Block", ...]] | None = None  # by sheet
    tags: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    columns_of: Mapping[tuple[str, int], tuple[Column, ...]] = field(default_factory=dict)  # sheet and number of the table
    axes_of: Mapping[str, tuple[Axis, ...]] = field(default_factory=dict)  # table
    known: Mapping[str, Symbol] = field(default_factory=dict)  # symbols of a reading file


class Entry(NamedTuple):
    """One cell of a table: its text and place, and its number or the text of its symbol."""

    text: str
    place: str
    number: int | None
    symbol: str


@dataclass(frozen=True)
class Share:
    """A percentage or rate beside counts: its cell, and the counts of which it is the part and the whole where they are known."""

    key: tuple[str, ...]
    entry: Entry
    value: Number | None
    head: str
    part: str = ""
    whole: str = ""


@dataclass(frozen=True)
class LeftOut:
    """Cells that have no place in the tables: where the first stands, how many, why, and what to do."""

    place: str
    cells: int
    why: str
    remedy: str = ""


@dataclass(frozen=True)
class Counts:
    """A column of counts: its label, and the text, kind and number of each row."""

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
    counts: tuple[Counts, ...] = ()
    figures: tuple[Counts, ...] = ()
    excluded: frozenset[int] = frozenset()  # rows, by their number in the body, whose counts are not placed
    population: Mapping[str, str] = field(default_factory=dict)
    bases: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)  # percentage: counts it can be of
    cube: Cube | None = None
    hidden: bool = False
    base: int = 1

    @cached_property
    def entries(self) -> dict[tuple[str, ...], Entry]:
        """The cells by their labels; symbols and counts, nothing that no cell prints."""
        found = dict[tuple[str, ...], Entry]()
        if self.cube and not self.counts:
            return found
        if self.cube:
            keys = product(*(axis.labels for axis in self.axes))
            for at, (key, text) in enumerate(zip(keys, self.cube.texts, strict=True)):
                if text and self.counts:
                    found[key] = _entry(text, f"value {at + 1}", self.counts[0].kinds[at], self.counts[0].values[at])
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
    def shares(self) -> tuple[Share, ...]:
        """The percentages and rates beside the counts, as facts: what they are of is said where numbers decide it."""
        found = list[Share]()
        names = {own.at: own.label for own in self.counts}
        for own in self.figures:
            base = self.bases.get(own.at, ())
            part, whole = (names.get(base[0][0], ""), names.get(base[0][1], "")) if len(base) == 1 else ("", "")
            for row, (text, value) in enumerate(zip(own.texts, own.values, strict=True)):
                if text and row not in self.excluded:
                    place = f"{self.sheet}!{column_name(own.at)}{self.block.body[row] + 1}"
                    key = tuple(labels[row] for labels in self.rows)
                    found.append(Share(key, Entry(text, place, None, ""), value, own.label, part, whole))
        return tuple(found)


PLACED = frozenset((WHOLE, LIMIT, RANGE, SYMBOL, MIXED))


def _entry(text: str, place: str, kind: str, value: Number | None) -> Entry:
    number = int(value) if value is not None and kind in (WHOLE, MIXED) else None
    return Entry(text, place, number, "" if number is not None else text)


@dataclass(frozen=True)
class Reading:
    """What files say: the role of every cell, the tables, the symbols and their meaning, and the questions that stay open."""

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
        inside = self.roles.get(COUNT, 0) + self.roles.get("symbol among counts", 0)
        return self.cells == sum(self.conservation.values()) and placed == inside

    def line(self) -> str:
        """
        The line of conservation.
        """
        parts = " + ".join(f"{cells:,} {word}" for word, cells in self.conservation.items())
        return f"{self.cells:,} cells = {parts}"


@dataclass
class _Tally:
    """What was found so far in one file."""

    roles: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    like: Counter[str] = field(default_factory=Counter)
    left: dict[tuple[str, str, str], list[object]] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    flags: dict[str, Symbol] = field(default_factory=dict)

    def leave(self, place: str, why: str, remedy: str = "", cells: int = 1, group: str = "") -> None:
        self.roles[LEFT_OUT] += cells
        held = self.left.setdefault((group or place, why, remedy), [place, 0])
        held[1] = int(str(held[1])) + cells


def read(sources: Sequence[Source], told: Told = Told(), own: Mapping[str, Told] | None = None) -> Reading:  # noqa: B008  (frozen)
    """The reading of files, as they are and as told, `own` of each by its name; it always ends with one."""
    general = told
    tallies, numerals, tags = list[_Tally](), dict[str, Numerals](), dict[str, tuple[int, ...]]()
    cells, said, symbols = 0, list[str](), dict[str, Symbol]()
    for source in sources:
        tally, told = _Tally(), (own or {}).get(source.name, general)
        if source.cube:
            numerals[source.name] = told.numerals or decide_numerals(source.cube.texts)
            cells += _read_cube(source, source.cube, numerals[source.name], told, tally)
        else:
            numerals[source.name] = told.numerals or decide_numerals(
                {t for s in source.sheets for row in s.rows for t in row}
            )
            for sheet in source.sheets:
                cells += _read_sheet(source, sheet, numerals[source.name], told, tally, tags)
        found = _meanings(tally, source, told)
        symbols |= {text: own for text, own in found.items() if text not in symbols or symbols[text].how == "offered"}
        said += [f"{source.name}: {one}" for one in _said(source, numerals[source.name])]
        if numerals[source.name].unsure:
            why = numerals[source.name].why
            tally.questions.append(Question(f"{source.name}: {why}", "in the reading file (--write), numbers: decimal"))
        tallies.append(tally)
    met = sum((tally.met for tally in tallies), Counter[str]())
    roles = sum((tally.roles for tally in tallies), Counter[str]())
    like = sum((tally.like for tally in tallies), Counter[str]())
    if unmet := [text for text in general.symbols if not met[text]]:
        raise ConfigError(f"--symbol {unmet[0]}: never stands in place of a number in these files; correct or leave it out")
    left = tuple(LeftOut(str(place), int(str(often)), why, remedy)
                 for tally in tallies for (_, why, remedy), (place, often) in tally.left.items())  # fmt: skip
    questions = [one for tally in tallies for one in tally.questions]
    asked = [Question(f"{text!r} stands {met[text]:,} times in place of a number: {own.meaning} is offered",
                      f"--symbol '{text}={own.meaning}'") for text, own in symbols.items() if own.how.startswith(("offered", "not in"))]  # fmt: skip
    return Reading(tuple(sources), tuple(_named(tallies)), cells, roles, symbols, met, left, tuple([*asked, *questions]),
                   tuple(said), numerals, tags, like)  # fmt: skip


def _named(tallies: Sequence[_Tally]) -> Iterator[Table]:
    """The tables with names of their own."""
    seen = Counter[str]()
    for tally in tallies:
        for table in tally.tables:
            seen[table.name] += 1
            yield table if seen[table.name] == 1 else replace(table, name=f"{table.name} ({seen[table.name]})")


def _said(source: Source, numerals: Numerals) -> list[str]:
    said = list(source.said)
    if numerals.why.startswith(("no number",)) is False:
        said.append(f"decimal sign {numerals.decimal!r}: {numerals.why}")
    for sheet in source.sheets:
        if sheet.hidden:
            said.append(f"sheet {sheet.name!r} is hidden; it is read, since everything that a file holds is published")
        if sheet.hidden_rows or sheet.hidden_columns:
            what = f"{len(sheet.hidden_rows)} rows and {len(sheet.hidden_columns)} columns"
            said.append(f"sheet {sheet.name!r}: {what} are hidden; they are read")
    return said


def _meanings(tally: _Tally, source: Source, told: Told) -> dict[str, Symbol]:
    """What each symbol of a file means: as told, by its legend, or as offered."""
    found = dict[str, Symbol]()
    given = source.cube.symbols if source.cube else {}
    for text, _ in sorted(tally.met.items(), key=lambda one: (-one[1], one[0]))[:FEW_SYMBOLS]:
        if text in told.symbols:
            found[text] = told_symbol(text, told.symbols[text])
        elif text in told.known:
            found[text] = told.known[text]
        elif text in tally.flags:
            found[text] = tally.flags[text]
        elif text in given:
            found[text] = Symbol(text, usual_meaning(text).meaning, given[text], "named in the file")
        else:
            found[text] = find_legend(text, tally.notes) or usual_meaning(text)
    return found


def _read_sheet(
    source: Source, sheet: Sheet, numerals: Numerals, told: Told, tally: _Tally, tags: dict[str, tuple[int, ...]]
) -> int:
    """The roles of the cells of one sheet, and its tables; how many cells it holds."""
    cells = sum(1 for row in sheet.rows for text in row if text)
    if told.sheets and sheet.name not in told.sheets:
        tally.leave(sheet.name, "this sheet was not asked for", "--sheet", cells) if cells else None
        return cells
    known = dict[str, str]()
    for row in sheet.rows:
        for text in row:
            if text not in known:
                known[text] = SYMBOL if text in told.symbols or text in told.known else _kind(text, numerals)
    kinds = [[known[text] for text in row] for row in sheet.rows]
    if told.blocks is not None:
        blocks, own = list(told.blocks.get(sheet.name, ())), told.tags.get(sheet.name, ())
    else:
        bands = find_bands(sheet, kinds, frozenset(row - 1 for row in told.rows))
        blocks, own = [block for band in bands for block in band.blocks], tuple(tag for band in bands for tag in band.tags)
    if own:
        tags[sheet.name] = own
    inside = [set[int]() for _ in sheet.rows]
    for number, block in enumerate(blocks):
        for at in (*block.header, *block.body, *block.headings, *block.repeated):
            inside[at] |= set(block.columns)
        _read_block(source, sheet, kinds, block, numerals, told, tally, number, len(blocks))
    _outside(sheet, kinds, inside, set(own), tally)
    return cells


def _kind(text: str, numerals: Numerals) -> str:
    kind = kind_of(text, numerals)
    return SYMBOL if kind == TEXT and len(text) <= 40 and is_symbol(text) else kind


def _outside(sheet: Sheet, kinds: Grid, inside: Sequence[set[int]], tags: set[int], tally: _Tally) -> None:
    """Cells outside of every table: texts are notes, numbers are left out unless they number a text."""
    for at, row in enumerate(kinds):
        rest = [column for column, kind in enumerate(row) if kind != EMPTY and column not in inside[at]]
        if not rest:
            continue
        texts = [column for column in rest if row[column] not in NUMBERS]
        for column in rest:
            text = sheet.rows[at][column]
            numbering = column == rest[0] and texts and not inside[at]
            if column in tags or row[column] not in NUMBERS or numbering:
                tally.roles[NOTE] += 1
                if column not in tags:
                    tally.notes.append((f"{sheet.name}!{column_name(column)}{at + 1}", text))
                    if row[column] == SYMBOL:
                        tally.like[text] += 1
            else:
                place = f"{sheet.name}!{column_name(column)}{at + 1}"
                tally.leave(place, "a number outside of every table", "", group=f"{sheet.name}!{at + 1}")
        if len(rest) == 2 and len(sheet.rows[at][rest[0]]) <= 12:  # a line of a legend: a symbol and what it means
            tally.notes.append((f"{sheet.name}!{at + 1}", f"{sheet.rows[at][rest[0]]} = {sheet.rows[at][rest[1]]}"))


def _read_block(
    source: Source,
    sheet: Sheet,
    kinds: Grid,
    block: Block,
    numerals: Numerals,
    told: Told,
    tally: _Tally,
    number: int,
    of: int,
) -> None:
    """One table of a sheet."""
    heads = heads_of(sheet, block)
    facts = column_facts(sheet, kinds, block)
    parsed = dict[str, Number | None]()
    values = {column: values_of(own, numerals, parsed) for column, own in facts.items()}
    given = told.columns_of.get((sheet.name, number))
    if given is not None:
        columns = list(given)
    else:
        columns = find_columns(block, heads, facts, values, _context(sheet, block), _told_roles(block, heads, told))
    flagged = _flagged(columns, facts, values, tally)
    _count_cells(sheet, block, columns, facts, tally)
    tally.roles[FLAG] -= flagged
    texts = label_texts(sheet, block, columns, facts)
    labels = [column for column in columns if column.role in LABELS]
    if block.headings:
        labels.insert(0, Column(HEADING_AT, LABEL, "heading", "rows of the body that hold only a heading"))
    measure = {column: roles for column, roles in _by_measure(columns, facts, values).items()}
    counts, figures = _figures(columns, heads, facts, values, measure)
    name = source.name.rsplit(".", 1)[0] if len(source.sheets) == 1 else sheet.name
    name = name if of == 1 else f"{name}, table {number + 1}"
    given_axes = told.axes_of.get(name, ())
    if not labels or not texts:
        rows = RowAxes((), (), {})
    else:
        numbers = {own.label: own.values for own in counts}
        rows = row_axes(labels, texts, numbers, told.totals, _indents(sheet, block, labels))
    axes = list(rows.axes)
    if len(counts) > 1:
        axis, asked = column_axis({own.label: own.values for own in counts}, told.totals.get("columns", ""))
        axes.append(axis)
        rows = replace(rows, questions=(*rows.questions, *asked))
    axes = [_as_given(axis, given_axes, told.totals) for axis in axes]
    excluded = _twice(rows, len(block.body))
    base = rounding(value for own in counts for value in own.values)
    bases = {own.at: tuple(find_base(own.at, [c.at for c in counts], values)) for own in figures if own.at in values}
    title = block.title
    table = Table(name, source.name, sheet.name, title, block, tuple(columns), tuple(axes), rows.labels, tuple(counts),
                  tuple(figures), excluded, _population(rows.population, sheet, told), bases, hidden=sheet.hidden, base=base)  # fmt: skip
    if excluded and counts:
        _leave_rows(table, tally)
    tally.tables.append(table)
    tally.questions += [replace(one, text=f"{name}: {one.text}") for one in rows.questions]
    tally.questions += [Question(f"{name}: {doubt}", "--skip ROW") for doubt in block.doubts]
    if counts and not block.header:
        tally.questions.append(
            Question(f"{name}: no header stands above it; its columns have no names", "in the reading file, header")
        )
    if base > 1 and not told.rule:
        tally.questions.append(Question(f"{name}: all counts are multiples of {base}", f"--rule round={base}"))
    for column in columns:
        if column.role in LABELS:
            tally.like += symbol_like(facts[column.at].texts)


def _flagged(
    columns: Sequence[Column], facts: dict[int, Facts], values: dict[int, list[Number | None]], tally: _Tally
) -> int:
    """
    Counts that a flag beside them says to be withheld: zeros in every row with the flag, or blanks, become symbols.

    Returns how many flags stand for a count that is blank; such a flag is the symbol itself.
    """
    counts, moved = [column.at for column in columns if column.role == COUNT], 0
    for flag in (column for column in columns if column.role == FLAG):
        telling = bool(HIDING.search(flag.head))
        for text in sorted(set(facts[flag.at].texts) - {""}):
            if not telling and usual_meaning(text).meaning != SUPPRESSED:
                continue
            rows = [row for row, own in enumerate(facts[flag.at].texts) if own == text]
            for at in counts:
                own = facts[at]
                held = {own.texts[row] for row in rows}
                others = any(value for row, value in enumerate(values[at]) if facts[flag.at].texts[row] != text)
                blank = held == {""} and len(counts) == 1
                if not others or not (blank or (held == {"0"} and len(rows) > 1)):
                    continue
                symbol = f"({text})" if blank else f"0 ({text})"
                texts, kinds = list(own.texts), list(own.kinds)
                for row in rows:
                    texts[row], kinds[row], values[at][row] = symbol, SYMBOL, None
                facts[at] = Facts(texts, kinds, Counter(kinds))
                tally.flags[symbol] = Symbol(symbol, SUPPRESSED, "", f"the flag {text} in column {flag.name}")
                moved += len(rows) if blank else 0
    return moved


HIDING = re.compile(r"disclos|suppress|confid|conf status", re.I)
HEADING_AT = -1  # the column of headings, which stand in rows of their own


def _context(sheet: Sheet, block: Block) -> str:
    """The texts above a table, which can say what is measured."""
    top = min((*block.header, *block.body))
    rows = [*range(min(12, top)), *range(max(12, top - 12), top)]
    return " ".join(text for at in rows for text in sheet.rows[at][:3] if text)[:4000]


def _told_roles(block: Block, heads: Mapping[int, str], told: Told) -> dict[int, str]:
    found = dict[int, str]()
    for column in block.columns:
        for name in (column_name(column), heads[column]):
            if name in told.roles:
                found[column] = told.roles[name]
            if name in told.columns:
                found[column] = LEFT_OUT
    return found


def _population(constant: Mapping[str, str], sheet: Sheet, told: Told) -> dict[str, str]:
    return dict(constant) | ({"period": told.period} if told.period else {})


def _as_given(axis: Axis, given: Sequence[Axis], totals: Mapping[str, str]) -> Axis:
    """The axis with the type and tree of the reading file, unless an option says otherwise."""
    own = next((one for one in given if one.name == axis.name), None)
    if own is None or axis.name in totals:
        return axis
    found = replace(axis, kind=own.kind, tree=own.tree, why=own.why)
    if fault := found.check():
        raise DataError(f"{fault}; correct the tree in the reading file")
    return found


def label_texts(
    sheet: Sheet, block: Block, columns: Sequence[Column], facts: Mapping[int, Facts]
) -> dict[int, Sequence[str]]:
    """The labels of every row by column: merged cells cover the rows below, and headings are a column of their own."""
    found: dict[int, Sequence[str]] = {}
    place = {at: row for row, at in enumerate(block.body)}
    for column in columns:
        if column.role not in LABELS:
            continue
        texts = list(facts[column.at].texts)
        for top, left, bottom, right in sheet.merged:
            if left <= column.at <= right and top in place:
                for at in range(top, bottom + 1):
                    if at in place:
                        texts[place[at]] = texts[place[at]] or sheet.rows[top][left]
        found[column.at] = texts
    if block.headings:
        current, headings = "", list[str]()
        marks = sorted(block.headings)
        for at in block.body:
            while marks and marks[0] < at:
                current = block.headings[marks.pop(0)]
            headings.append(current)
        found[HEADING_AT] = headings
    return found


def _indents(sheet: Sheet, block: Block, labels: Sequence[Column]) -> dict[int, list[int]]:
    """How far right the labels of each row stand, of the columns in which they differ."""
    found = {column.at: [sheet.indents.get((at, column.at), 0) for at in block.body] for column in labels if column.at >= 0}
    return {at: own for at, own in found.items() if len(set(own)) > 1}


def _by_measure(
    columns: Sequence[Column], facts: Mapping[int, Facts], values: Mapping[int, Sequence[Number | None]]
) -> dict[int, list[str]]:
    """Where a column names what each row measures: the role of every row's figures in each column of counts."""
    measure = next((column for column in columns if column.role == MEASURE), None)
    if measure is None:
        return {}
    names = {text: measure_role(text) for text in set(facts[measure.at].texts)}
    if all(role == COUNT for role in names.values()):
        return {}
    found = dict[int, list[str]]()
    for column in columns:
        if column.role != COUNT:
            continue
        roles = [names[text] for text in facts[measure.at].texts]
        for role in set(roles) - {COUNT}:
            own = [value for value, one in zip(values[column.at], roles, strict=True) if one == role and value is not None]
            if role == PERCENTAGE and any(value > 100 for value in own) and all(isinstance(value, int) for value in own):
                roles = [COUNT if one == role else one for one in roles]
        found[column.at] = roles
    return found


def _figures(
    columns: Sequence[Column], heads: Mapping[int, str], facts: Mapping[int, Facts], values: Mapping[int, Sequence[Number | None]],
    measure: Mapping[int, list[str]],
) -> tuple[list[Counts], list[Counts]]:  # fmt: skip
    """The columns of counts, and those of percentages and rates, with labels of their own."""
    often = Counter(column.head for column in columns if column.role == COUNT)
    counts, figures = list[Counts](), list[Counts]()
    for column in columns:
        label = column.head if column.head and often[column.head] < 2 else f"{column.head} (column {column.name})".strip()
        own = facts[column.at]
        if column.role == COUNT:
            kinds, numbers = [placed(kind, text) for kind, text in zip(own.kinds, own.texts, strict=True)], values[column.at]
            if column.at in measure:
                kept = [role == COUNT for role in measure[column.at]]
                kinds = [kind if keep else EMPTY for kind, keep in zip(kinds, kept, strict=True)]
                numbers = [value if keep else None for value, keep in zip(numbers, kept, strict=True)]
            counts.append(Counts(column.at, label, own.texts, kinds, numbers))
        elif column.role in (PERCENTAGE, RATE):
            figures.append(Counts(column.at, label, own.texts, own.kinds, values[column.at]))
    return counts, figures


def _twice(rows: RowAxes, size: int) -> frozenset[int]:
    """The rows that have the labels of another row: nothing says which of them is meant."""
    keys = list(zip(*rows.labels, strict=True)) if rows.labels else [()] * size
    often = Counter(keys)
    return frozenset(row for row, key in enumerate(keys) if often[key] > 1)


def _leave_rows(table: Table, tally: _Tally) -> None:
    """Counts of rows with the same labels are left out, all of them."""
    cells = Counter[str]()
    for own in table.counts:
        for row in table.excluded:
            kind = own.kinds[row]
            if kind in PLACED:
                cells[COUNT if kind in (WHOLE, MIXED) else SYMBOL_ROLE] += 1
                if kind not in (WHOLE, MIXED):
                    tally.met[own.texts[row]] -= 1
                    tally.roles["symbol among counts"] -= 1
    for role, often in cells.items():
        tally.roles[role] -= often
    first = min(table.excluded)
    tally.leave(f"{table.sheet}!{table.block.body[first] + 1}", "rows with the same labels as another row",
                "--labels COLUMN, for what tells them apart", cells.total(), group=table.name)  # fmt: skip


def _count_cells(sheet: Sheet, block: Block, columns: Sequence[Column], facts: Mapping[int, Facts], tally: _Tally) -> None:
    """The role of each cell of a table, by the role of its column and the kind of its text."""
    wanted = set(block.columns)
    for at in (*block.header, *block.headings, *block.repeated):
        cells = sum(bool(text) for column, text in enumerate(sheet.rows[at]) if column in wanted)
        tally.roles[HEADER] += cells
        tally.notes += [
            (f"{sheet.name}!{at + 1}", text)
            for column, text in enumerate(sheet.rows[at])
            if column in wanted and len(text) > 12
        ]
    values = {column: [None] for column in ()}
    del values
    measured = _by_measure(columns, facts, _quick_values(columns, facts))
    for column in columns:
        own = facts[column.at]
        if column.role == LEFT_OUT:
            tally.leave(f"{sheet.name}!{column.name}", "told to skip this column", "", own.filled) if own.filled else None
        elif column.role not in FIGURES:
            tally.roles[column.role] += own.filled
        else:
            roles = measured.get(column.at)
            for row, (text, kind) in enumerate(zip(own.texts, own.kinds, strict=True)):
                if kind:
                    _count_cell(sheet, block.body[row], column, text, kind, roles[row] if roles else column.role, tally)


def _quick_values(columns: Sequence[Column], facts: Mapping[int, Facts]) -> dict[int, Sequence[Number | None]]:
    if not any(column.role == MEASURE for column in columns):
        return {}
    known = dict[str, Number | None]()
    return {column.at: values_of(facts[column.at], Numerals(), known) for column in columns if column.role == COUNT}


def _count_cell(sheet: Sheet, at: int, column: Column, text: str, kind: str, role: str, tally: _Tally) -> None:
    """The role of one cell in a column of figures."""
    if kind in (SYMBOL, LIMIT, RANGE):
        tally.roles[SYMBOL_ROLE] += 1
        tally.met[text] += 1
        if role == COUNT:
            tally.roles["symbol among counts"] += 1
    elif role == COUNT and placed(kind, text) not in PLACED:
        _leave_cell(sheet, at, column, text, "negative" if kind == WHOLE else kind, tally)
    elif kind in NUMBERS or kind == MIXED:
        tally.roles[role] += 1
    else:
        _leave_cell(sheet, at, column, text, kind, tally)


def placed(kind: str, text: str) -> str:
    """
    The kind of a cell among counts, EMPTY where it is none that a table holds: a decimal, a negative number, a word.

    >>> placed(WHOLE, "5"), placed(WHOLE, "-5"), placed(MIXED, "5 (7)"), placed(MIXED, "~5"), placed(DECIMAL, "0.5")
    ('i', '', 'm', '', '')
    """
    if kind == WHOLE:
        return EMPTY if text.startswith(("-", "\u2212")) else WHOLE
    if kind == MIXED:
        first, _, how = split(text, Numerals())
        return MIXED if isinstance(first, int) and first >= 0 and how == "a number with another in parentheses" else EMPTY
    return kind if kind in PLACED else EMPTY


def _leave_cell(sheet: Sheet, at: int, column: Column, text: str, kind: str, tally: _Tally) -> None:
    place = f"{sheet.name}!{column.name}{at + 1}"
    if text == NO_VALUE:
        tally.leave(place, "a formula without a value, or an error", "open the file, let it compute, and save it")
    elif kind == DECIMAL:
        tally.leave(place, "not a whole number, in a column of counts", "", group=f"{sheet.name}!{column.name}")
    elif kind == "negative":
        tally.leave(place, "a negative number, in a column of counts", "", group=f"{sheet.name}!{column.name}")
    elif kind in (MIXED, PERCENT):
        tally.leave(place, "a mixed cell that cannot be split into a count", "", group=f"{sheet.name}!{column.name}")
    else:
        shown = text if len(text) <= 30 else f"{text[:27]}..."
        tally.leave(
            place, f"the text {shown!r} among numbers", f"--symbol '{shown}={SUPPRESSED}'", group=f"{sheet.name}!{text}"
        )


def _read_cube(source: Source, cube: Cube, numerals: Numerals, told: Told, tally: _Tally) -> int:
    """The cells of a cube: its axes are told by the file; its units say whether it counts."""
    texts = [text for text in cube.texts if text]
    labels = sum(len(axis.labels) for axis in cube.axes)
    codes = sum(len(axis.codes) for axis in cube.axes)
    tally.roles[LABEL] += labels
    tally.roles["code"] += codes
    tally.roles[NOTE] += len(cube.notes)
    tally.notes += [("note", text) for text in cube.notes]
    cells = len(texts) + labels + codes + len(cube.notes)
    name = source.name.rsplit(".", 1)[0]
    if cube.left_out:
        if texts:
            tally.leave(name, cube.left_out, "", len(texts))
        return cells
    symbols = {*told.symbols, *told.known}
    known = {text: SYMBOL if text in symbols else _kind(text, numerals) for text in set(cube.texts)}
    kinds = [known[text] for text in cube.texts]
    often = Counter(kinds)
    given = told.columns_of.get((name, 0))
    role = given[0].role if given else cube_role(cube, often)
    values = [number_of(text, numerals) if kind in NUMBERS else None for text, kind in zip(cube.texts, kinds, strict=True)]
    column = Column(0, role, cube.units, f"units: {cube.units}" if cube.units else "no units are named")
    for text, kind in zip(cube.texts, kinds, strict=True):
        if kind in (SYMBOL, LIMIT, RANGE):
            tally.roles[SYMBOL_ROLE] += 1
            tally.met[text] += 1
            tally.roles["symbol among counts"] += role == COUNT
        elif kind in NUMBERS and (role != COUNT or placed(kind, text)):
            tally.roles[role] += 1
        elif kind in NUMBERS:
            tally.leave(name, "a negative number or one with decimals, among counts", "", group="number")
        elif kind:
            tally.leave(name, f"the text {text[:30]!r} among numbers", f"--symbol '{text[:30]}={SUPPRESSED}'", group=text)
    axes = _cube_axes(cube, values, told, tally, name) if role == COUNT else [
        Axis(axis.name, TIME if axis.kind == "time" else MEASURES if axis.kind == "measure" else PARTS, apart(axis.labels))
        for axis in cube.axes]  # fmt: skip
    own = [placed(kind, text) for kind, text in zip(kinds, cube.texts, strict=True)]
    counts = (Counts(0, cube.units or "value", cube.texts, own, values),) if role == COUNT else ()
    held = replace(cube, texts=tuple(text if kind else "" for text, kind in zip(cube.texts, own, strict=True)))
    block = Block((), (), ())
    base = rounding(values) if role == COUNT else 1
    axes = [_as_given(axis, told.axes_of.get(name, ()), told.totals) for axis in axes]
    tally.tables.append(
        Table(name, source.name, name, cube.title, block, (column,), tuple(axes), counts=counts, cube=held, base=base)
    )
    if base > 1 and not told.rule:
        tally.questions.append(Question(f"{name}: all counts are multiples of {base}", f"--rule round={base}"))
    return cells


def apart(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels of which none stands twice: a second one gets a number."""
    seen = Counter[str]()
    found = []
    for label in labels:
        seen[label] += 1
        found.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return tuple(found)


def cube_role(cube: Cube, often: Mapping[str, int]) -> str:
    """What the numbers of a cube are: by its units, else by whether they are whole."""
    words = f"{cube.units} {'' if cube.units else cube.title}"
    if PERCENT_WORDS.search(words):
        return PERCENTAGE
    if RATE_WORDS.search(words):
        return RATE
    if often.get(DECIMAL, 0) > 0.1 * (often.get(WHOLE, 0) + often.get(DECIMAL, 0)):
        return STATISTIC
    return STATISTIC if cube.units and STATISTIC_WORDS.search(cube.units) else COUNT


def _cube_axes(cube: Cube, values: Sequence[Number | None], told: Told, tally: _Tally, name: str) -> list[Axis]:
    """The axes of a cube: time and measures as its file says, totals by name (or by its word) and by numbers."""
    axes, size = list[Axis](), len(values)
    step = size
    for axis in cube.axes:
        labels = apart(axis.labels)
        step //= len(labels)
        if axis.kind or PERIOD_LIKE(axis.name):
            axes.append(Axis(axis.name, MEASURES if axis.kind == "measure" else TIME, labels, why="the file says so"))
            continue
        samples = list[dict[str, Number | None]]()
        starts = [
            block * step * len(labels) + inner for block in range(size // (step * len(labels))) for inner in range(step)
        ]
        for start in starts[:: max(1, len(starts) // 300)]:
            samples.append({label: values[start + at * step] for at, label in enumerate(labels)})
        given = told.totals.get(axis.name, "")
        tree, why, asked = find_tree(axis.name, labels, samples, given)
        tally.questions += [replace(one, text=f"{name}: {one.text}") for one in asked]
        axes.append(Axis(axis.name, ADDITIVE if tree else PARTS, labels, (), tree, why or "no label adds up the others"))
    return axes


def PERIOD_LIKE(name: str) -> bool:
    from genverify.reading.roles import TIME_WORDS

    return bool(TIME_WORDS.search(name))
