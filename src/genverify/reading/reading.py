"""The reading of files: a role for every cell, the tables that follow, what stays open; and its form as YAML."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from genverify.model.errors import MALFORMED, ConfigError, DataError, naming, nearest, refuse_unknown, refusing
from genverify.model.files import FileLimits, read_yaml
from genverify.reading.axes import KINDS, Axis
from genverify.reading.blocks import Block, runs
from genverify.reading.numerals import LIMIT, MEANINGS, MIXED, RANGE, SYMBOL, WHOLE, Numerals, Symbol
from genverify.reading.roles import AMONG_COUNTS, CONSERVATION, COUNT, ROLES, Column, Facts
from genverify.reading.source import CellAddress, Cube, Source, cell_place, column_at, column_name, numbered, read_source
from genverify.reading.totals import Question, surely_rounded

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
    """One cell of a table: its text and place, its number or the text of its symbol, and its address in its file."""

    text: str
    place: str
    number: int | None = None
    symbol: str = ""
    address: CellAddress | None = None


@dataclass(frozen=True)
class LeftOut:
    """Cells that have no place in the tables: where the first stands, how many, why, and what to do."""

    place: str
    cells: int
    why: str
    remedy: str = ""


@dataclass(frozen=True)
class Figures(Facts):
    """A column of counts, percentages or rates, with its label."""

    at: int
    label: str


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
        result = dict[tuple[str, ...], Entry]()
        for labels, row, own in self.cells():
            text, kind, value = own.texts[row], own.kinds[row], own.values[row]
            if kind in PLACED:
                number = int(value) if value is not None and kind in (WHOLE, MIXED) else None
                result[labels] = entry_at(self.address(row, own.at), text, number, "" if number is not None else text)
        return result

    @property
    def blanks(self) -> dict[tuple[str, ...], Entry]:
        """The cells without a text where a count could stand."""
        empty = ((labels, row, own) for labels, row, own in self.cells() if not own.texts[row] and not own.kinds[row])
        return {labels: entry_at(self.address(row, own.at), "") for labels, row, own in empty
                if own.at not in self.measured or self.measured[own.at][row] == COUNT}  # fmt: skip

    @cached_property
    def keys(self) -> Sequence[tuple[str, ...]]:
        """The labels of each row; of a cube, those of each value."""
        rows = product(*(axis.labels for axis in self.axes)) if self.cube else zip(*self.rows, strict=True)
        return list(rows) if self.cube or self.rows else [()] * len(self.block.body)

    def cells(self) -> Iterator[tuple[tuple[str, ...], int, Figures]]:
        """The labels, row and column of every cell among counts, but of rows that are not placed."""
        for own in self.counts:
            for row, key in enumerate(self.keys):
                if row not in self.excluded:
                    yield (*key, own.label) if len(self.counts) > 1 else key, row, own

    def address(self, row: int, column: int) -> CellAddress:
        """Where the cell of a row of the body stands; of a cube, the value of this number."""
        if self.cube:
            return CellAddress(self.file, "", row, 0)
        return CellAddress(self.file, self.sheet, self.block.body[row], column)

    @cached_property
    def rounded(self) -> dict[str, dict[str, int]]:
        """By axis: labels whose counts were rounded, alone or as a level (totals, or their parts), and to which base."""
        result = dict[str, dict[str, int]]()
        for at, axis in enumerate(self.axes):
            numbers = defaultdict[str, set[int]](set)
            for labels, entry in self.entries.items():
                numbers[labels[at]].add(entry.number or 0)
            totals = dict(axis.tree)
            level = {high: surely_rounded(n for label, own in numbers.items() if (label in totals) == high for n in own)
                     for high in (False, True) if totals}  # fmt: skip
            bases = {label: max(surely_rounded(own), level.get(label in totals, 1)) for label, own in numbers.items()}
            if bases := {label: base for label, base in bases.items() if base > 1 and base != self.base}:
                result[axis.name] = bases
        return result


def entry_at(address: CellAddress, text: str, number: int | None = None, symbol: str = "") -> Entry:
    """The cell at an address."""
    return Entry(text, address.place, number, symbol, address)


@dataclass(frozen=True, repr=False)
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
    told: tuple["Corrections | None", Mapping[str, "Corrections"] | None] = field(default=(None, None), compare=False)

    @property
    def conservation(self) -> dict[str, int]:
        """The cells by the six words of the line of conservation."""
        return {word: sum(self.roles.get(role, 0) for role in roles) for word, roles in CONSERVATION.items()}

    @property
    def conserved(self) -> bool:
        """Whether every cell has one role, and every count and symbol among counts stands in one table, once."""
        placed = sum(len(table.entries) for table in self.tables)
        inside = self.roles.get(COUNT, 0) + self.roles.get(AMONG_COUNTS, 0)
        return self.cells == sum(self.conservation.values()) and placed == inside

    def __repr__(self) -> str:
        return f"Reading: {len(self.tables)} tables, {len(self.questions)} questions; {self.line()}"

    def line(self) -> str:
        """The line of conservation."""
        parts = " + ".join(f"{cells:,} {word}" for word, cells in self.conservation.items())
        return f"{self.cells:,} cells = {parts}"


class CellRole(NamedTuple):
    """What one cell is, and why."""

    file: str
    place: str
    role: str
    why: str


def cell_roles(reading: Reading) -> Iterator[CellRole]:
    """The role of every cell that is not empty, in the order of the files: they are read once more, each cell listed."""
    listed: dict[str, dict[str, tuple[str, str]]] = {}
    read(reading.sources, *reading.told, listed)
    for source in reading.sources:
        roles = listed[source.name]
        cells = ((sheet, at, row) for sheet in source.sheets for at, row in enumerate(sheet.rows))
        places = [cell_place(sheet, column, at) for sheet, at, row in cells for column, text in enumerate(row) if text]
        for place in places or roles:  # of a cube, what its file names
            yield CellRole(source.name, place.rpartition("!")[2] if source.cube else place, *roles[place])


def read(
    sources: Sequence[Source], told: Corrections | None = None, own: Mapping[str, Corrections] | None = None,
    listed: dict[str, dict[str, tuple[str, str]]] | None = None,
) -> Reading:  # fmt: skip
    """The reading of files as told, `own` of each by its name; `listed` takes each cell's role and why by file and place."""
    from genverify.reading.table_cells import Tally, read_file

    general = told or Corrections()
    total, numerals, said = Tally(), dict[str, Numerals](), list[str]()
    for source in sources:
        total.places = None if listed is None else listed.setdefault(source.name, {})
        numerals[source.name] = read_file(source, (own or {}).get(source.name, general), total)
        said += [f"{source.name}: {one}" for one in (*source.said, *_said(source, numerals[source.name]))]
    names = numbered([table.name for table in total.tables])
    tables = [replace(table, name=name) for table, name in zip(total.tables, names, strict=True)]
    _check_told(general, tables, total.met, sources)
    left = tuple(LeftOut(place, cells, why, remedy) for (_, why, remedy), (place, cells) in total.left.items())
    asked = [
        Question(f"{text!r} appears {total.met[text]:,} times in place of a number; suggested meaning: {symbol.meaning}",
                 f"--symbol '{text}={symbol.meaning}'")
        for text, symbol in total.symbols.items() if symbol.how.startswith(("suggested", "not in"))
    ]  # fmt: skip
    return Reading(tuple(sources), tuple(tables), total.cells, +total.roles, total.symbols, +total.met, left,
                   (*asked, *total.questions), tuple(said), numerals, total.tags, +total.like, (told, own))  # fmt: skip


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
        raise ConfigError(f"--symbol {unmet[0]}: never appears in place of a number in these files; correct it")
    sheets = [sheet.name for source in sources for sheet in source.sheets]
    for name in sorted(told.sheets):
        refuse_unknown(name, sheets, f"--sheet {name}: no such sheet", ConfigError)
    names = sorted({name for table in tables for column in table.columns for name in (column.name, column.head) if name})
    for name in (*told.roles, *sorted(told.columns)) if tables else ():
        refuse_unknown(name, names, f"column {name!r} is in no table", ConfigError)
    axes = [axis for table in tables for axis in table.axes]
    named = [axis.name for axis in axes]
    for option, name in [*(("total", own) for own in told.totals), *(("hierarchy", own) for own in told.hierarchies)]:
        refuse_unknown(name, dict.fromkeys(sorted(named)), f"--{option} {name}: no table has this column", ConfigError)
    every = dict.fromkeys(sorted(label for axis in axes for label in axis.labels))
    for name in sorted(told.no_totals):
        refuse_unknown(name, every, f"--no-total {name}: no table has this label", ConfigError)
    for name, label in told.totals.items():
        labels = [own for axis in axes if axis.name == name for own in axis.labels]
        refuse_unknown(label, labels, f"--total {name}={label}: no label of {name}", ConfigError)


VERSION = 1  # of the form of the file; another form gets the next number
GIVE_IT = "give the file on the command line too"
FIRST = "# What was read. To correct it: change a line, then give this file to `genverify read` in place of the tables."


def write_reading(
    reading: Reading, disclose: Mapping[str, Any] | None = None, percent_of: Mapping[str, str] | None = None
) -> str:
    """The reading as a file to be corrected and read again; `disclose`, `percent_of`: what was said beside for an audit."""
    files = [_file(reading, source, percent_of or {}) for source in reading.sources]
    beside = {"disclose": _lines(disclose or {})} if disclose else {}
    return "\n".join([FIRST, *_block({"reading": str(VERSION), **beside, "files": files})]) + "\n"


def _file(reading: Reading, source: Source, percent_of: Mapping[str, str]) -> dict[str, Any]:
    tags = [(own.name, reading.tags[own.name]) for own in source.sheets if own.name in reading.tags]
    said = {"symbols": _lines({_flow(text): {"meaning": own.meaning, "how": own.how, "said": own.said}
                               for text, own in reading.symbols.items() if text}),
            "tags": _lines({_flow(name): " ".join(map(column_name, columns)) for name, columns in tags}),
            "tables": [_table(table, percent_of) for table in reading.tables if table.file == source.name]}  # fmt: skip
    about = {"file": _flow(source.name), "sha256": source.sha256, "numbers": _flow(asdict(reading.numerals[source.name]))}
    return about | {name: own for name, own in said.items() if own}


def _table(table: Table, percent_of: Mapping[str, str]) -> dict[str, Any]:
    block, about = table.block, {"name": table.name, "sheet": table.sheet}
    if not table.cube:
        about |= {"header": _spans(block.header), "body": _spans(block.body)}
        about |= {name: _spans(rows) for name, rows in (("headings", block.headings), ("repeated", block.repeated)) if rows}
        about["title"] = block.title
    columns = {_flow(own.name): {"role": own.role, "head": own.head, "why": own.why} for own in table.columns}
    said = {"percent_of": percent_of[table.name]} if table.name in percent_of else {}
    return {**_lines(about), **said, "columns": _lines(columns), "axes": list(map(_axis_lines, table.axes))}


def _axis_lines(axis: Axis) -> dict[str, Any]:
    about = {"name": _flow(axis.name), "kind": axis.kind, "why": _flow(axis.why)}
    about |= {"unprinted": _flow(list(axis.unprinted))} if axis.unprinted else {}
    return about | ({"tree": [_flow([parent, list(parts)]) for parent, parts in axis.tree]} if axis.tree else {})


def _flow(value: Any) -> str:
    """A value on one line; JSON is YAML, and says where a text begins and ends."""
    return json.dumps(value, ensure_ascii=False)


def _lines(about: Mapping[str, Any]) -> dict[str, str]:
    return {name: _flow(own) for name, own in about.items()}


def _block(about: Mapping[str, Any]) -> Iterator[str]:
    """A mapping as lines of YAML: texts stand as they are, what lists and mappings hold on lines of their own."""
    for name, own in about.items():
        if isinstance(own, str):
            yield f"{name}: {own}"
            continue
        yield f"{name}:"
        if isinstance(own, Mapping):
            yield from (f"  {line}" for line in _block(own))
            continue
        for one in own:
            lines = [one] if isinstance(one, str) else _block(one)
            yield from (f"{'  ' if at else '- '}{line}" for at, line in enumerate(lines))


def _spans(rows: Iterable[int]) -> str:
    """
    Rows from 1, runs as first-last.

    >>> _spans([0, 1, 2, 5])
    '1-3 6'
    """
    return " ".join(f"{run[0] + 1}-{run[-1] + 1}" if len(run) > 1 else str(run[0] + 1) for run in runs(rows))


def is_reading(path: Path) -> bool:
    """Whether a file is a reading rather than a table."""
    return path.suffix.lower() in (".yaml", ".yml")


def read_reading(
    path: Path, beside: Sequence[Source], limits: FileLimits, options: Corrections
) -> tuple[list[Source], dict[str, Corrections]]:
    """The files that a reading is about (or `beside` it), and what it says of each, with options laid over it."""
    text = read_yaml(path)
    over = {name: getattr(options, name) for name in ("totals", "symbols", "rule", "period")}
    if options.roles or options.rows or options.columns or options.sheets:
        raise ConfigError("--sheet, --labels, --counts and --skip do not go with a reading file: change its lines")
    if text.get("reading") != VERSION or not isinstance(text.get("files"), list):
        what = f"reading: {VERSION} and a list of files"
        raise DataError(f"{path}: is not a reading file ({what}); `genverify read --write` writes one")
    sources, told = list[Source](), dict[str, Corrections]()
    for own in text["files"]:
        name, digest = str(own.get("file", "")), str(own.get("sha256", ""))
        source = next((one for one in beside if one.sha256 == digest), None)
        if source is None:
            if Path(name).name != name or name in ("", ".", ".."):
                raise DataError(f"{path}: {name!r} is not a file name in this folder; {GIVE_IT}")
            if not (path.parent / name).exists():
                raise DataError(f"{path}: {name} is not in the same folder; {GIVE_IT}")
            source = replace(read_source(path.parent / name, limits), path=path.parent / name)
        if source.sha256 != digest:
            raise DataError(f"{path}: {name} has changed since it was read; read it again (`genverify read --write`)")
        sources.append(source)
        with naming(path), refusing(MALFORMED, f"{name}: cannot be understood", "write it again"):
            told[source.name] = replace(_told(own, source), **over)
    return sources, told


def _told(own: Mapping[str, Any], source: Source) -> Corrections:
    signs = own["numbers"]
    numerals = Numerals(str(signs["decimal"]), str(signs["thousands"]), str(signs["why"]), bool(signs.get("unsure")))
    known = {str(text): _symbol(str(text), said) for text, said in (own.get("symbols") or {}).items()}
    blocks, axes = dict[str, tuple[Block, ...]](), dict[str, tuple[Axis, ...]]()
    columns = dict[tuple[str, int], tuple[Column, ...]]()
    sheets = {sheet.name: sheet for sheet in source.sheets}
    for table in own.get("tables") or ():
        sheet, name = str(table["sheet"]), str(table["name"])
        held = tuple(_column(name, letter, said) for letter, said in table["columns"].items())
        columns[sheet, len(blocks.get(sheet, ()))] = held
        if source.cube is None:
            refuse_unknown(sheet, sheets, f"{name}: no sheet is called {sheet!r}")
            rows = sheets[sheet].rows
            headings = {at: next(text for text in rows[at] if text) for at in _rows(table.get("headings", ""), len(rows))}
            header, body = _rows(table["header"], len(rows)), _rows(table["body"], len(rows))
            repeated, title = _rows(table.get("repeated", ""), len(rows)), str(table.get("title", ""))
            block = Block(tuple(column.at for column in held), header, body, headings, repeated, title)
            blocks[sheet] = (*blocks.get(sheet, ()), block)
        axes[name] = tuple(_axis(name, said) for said in table.get("axes") or ())
    tags = {str(sheet): tuple(map(column_at, said.split())) for sheet, said in (own.get("tags") or {}).items()}
    return Corrections(numerals=numerals, known=known, blocks=blocks, columns_of=columns, axes_of=axes, tags=tags)


def _symbol(text: str, said: Mapping[str, Any]) -> Symbol:
    meaning = str(said["meaning"])
    if not meaning.startswith(MEANINGS):
        raise DataError(f"symbol {text!r}: {meaning!r} is not a meaning: {nearest(meaning, list(MEANINGS))}")
    return Symbol(text, meaning, str(said.get("said", "")), str(said.get("how", "as given")))


def _column(table: str, letter: str, said: Mapping[str, Any]) -> Column:
    refuse_unknown(said["role"], ROLES, f"{table}, column {letter}: {said['role']!r} is not a role")
    return Column(column_at(letter), str(said["role"]), str(said.get("head", "")), str(said.get("why", "as given")))


def _axis(table: str, said: Mapping[str, Any]) -> Axis:
    refuse_unknown(said["kind"], KINDS, f"{table}, axis {said['name']}: kind {said['kind']!r}")
    tree = tuple((str(parent), tuple(map(str, children))) for parent, children in said.get("tree") or ())
    unprinted = tuple(map(str, said.get("unprinted") or ()))
    return Axis(str(said["name"]), str(said["kind"]), (), (), tree, str(said.get("why", "")), unprinted)


def _rows(text: Any, most: int) -> tuple[int, ...]:
    """
    >>> _rows("1-3 6", 10)
    (0, 1, 2, 5)
    """
    result = list[int]()
    for part in str(text).split():
        span = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if not span or not 1 <= int(span[1]) <= int(span[2] or span[1]) <= most:
            raise DataError(f"rows {part!r}: give numbers from 1 to {most}, as 2-308")
        result += range(int(span[1]) - 1, int(span[2] or span[1]))
    return tuple(result)
