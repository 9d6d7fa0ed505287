"""Reading files: a reading as YAML, a line for each column, symbol and total, so that a wrong one is one line to correct."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from genverify.model.errors import ConfigError, DataError, nearest
from genverify.model.files import LIMITS, FileLimits, read_yaml
from genverify.reading.axes import KINDS, Axis
from genverify.reading.blocks import Block
from genverify.reading.numerals import Numerals
from genverify.reading.reading import Corrections, Reading, Table
from genverify.reading.roles import ROLES, Column
from genverify.reading.source import Source, column_at, column_name, read_source
from genverify.reading.symbols import MEANINGS, Symbol

VERSION = 1  # of the form of the file; another form gets the next number
GIVE_IT = "give the file on the command line too"
FIRST = "# What was read. To correct it: change a line, then give this file to `genverify read` in place of the tables."


def write_reading(
    reading: Reading, disclose: Mapping[str, Any] | None = None, percent_of: Mapping[str, str] | None = None
) -> str:
    """
    The reading as a file that can be corrected and read again: the same reading gives the same text. `disclose` is what
    was said for an audit beside it, and `percent_of` what the percentages of a table are of.
    """
    beside = [f"  {name}: {_flow(own)}" for name, own in (disclose or {}).items()]
    head = [FIRST, f"reading: {VERSION}", *_lines("disclose:", beside), "files:"]
    return "\n".join([*head, *_files(reading, percent_of or {})]) + "\n"


def _files(reading: Reading, percent_of: Mapping[str, str]) -> Iterator[str]:
    for source in reading.sources:
        numerals = reading.numerals[source.name]
        yield f"- file: {_flow(source.name)}"
        yield f"  sha256: {source.sha256}"
        yield f"  numbers: {_flow(asdict(numerals))}"
        symbols = [
            f"    {_flow(text)}: {_flow({'meaning': own.meaning, 'how': own.how, 'said': own.said})}"
            for text, own in reading.symbols.items()
            if text
        ]
        yield from _lines("  symbols:", symbols)
        tags = {name: own for name, own in reading.tags.items() if name in {sheet.name for sheet in source.sheets}}
        yield from _lines("  tags:", [f"    {_flow(name)}: {_flow(_letters(own))}" for name, own in tags.items()])
        tables = [table for table in reading.tables if table.file == source.name]
        yield from _lines("  tables:", [line for table in tables for line in _table(table, percent_of)])


def _lines(head: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield head
        yield from lines


def _flow(value: Any) -> str:
    """A value on one line; JSON is YAML, and says where a text begins and ends."""
    return json.dumps(value, ensure_ascii=False)


def _letters(columns: Iterable[int]) -> str:
    return " ".join(column_name(at) for at in columns)


def _table(table: Table, percent_of: Mapping[str, str]) -> Iterator[str]:
    block = table.block
    yield f"  - name: {_flow(table.name)}"
    yield f"    sheet: {_flow(table.sheet)}"
    if not table.cube:
        yield f"    header: {_flow(_spans(block.header))}"
        yield f"    body: {_flow(_spans(block.body))}"
        for name, rows in (("headings", block.headings), ("repeated", block.repeated)):
            if rows:
                yield f"    {name}: {_flow(_spans(rows))}"
        yield f"    title: {_flow(block.title)}"
    if table.name in percent_of:
        yield f"    percent_of: {percent_of[table.name]}"
    yield "    columns:"
    for column in table.columns:
        yield f"      {_flow(column.name)}: {_flow({'role': column.role, 'head': column.head, 'why': column.why})}"
    yield "    axes:"
    for axis in table.axes:
        yield f"    - name: {_flow(axis.name)}"
        yield f"      kind: {axis.kind}"
        yield f"      why: {_flow(axis.why)}"
        if axis.unprinted:
            yield f"      unprinted: {_flow(list(axis.unprinted))}"
        yield from _lines("      tree:", [f"      - {_flow([parent, list(children)])}" for parent, children in axis.tree])


def _spans(rows: Iterable[int]) -> str:
    """
    Rows from 1, runs as first-last.

    >>> _spans([0, 1, 2, 5])
    '1-3 6'
    """
    parts, run = list[str](), list[int]()
    for at in [*sorted(rows), -2]:
        if run and at != run[-1] + 1:
            parts.append(f"{run[0] + 1}-{run[-1] + 1}" if len(run) > 1 else str(run[0] + 1))
            run = []
        run.append(at)
    return " ".join(parts)


def is_reading(path: Path) -> bool:
    """Whether a file is a reading rather than a table."""
    return path.suffix.lower() in (".yaml", ".yml")


def read_reading(
    path: Path, beside: Sequence[Source], limits: FileLimits = LIMITS
) -> tuple[list[Source], dict[str, Corrections]]:
    """The files that a reading is about, and what it says of each; `beside` are files that were given with it."""
    text = read_yaml(path)
    if text.get("reading") != VERSION or not isinstance(text.get("files"), list):
        what = f"reading: {VERSION} and a list of files"
        raise DataError(f"{path}: is no reading ({what}); `genverify read --write` writes one")
    sources, told = list[Source](), dict[str, Corrections]()
    for own in text["files"]:
        name, digest = str(own.get("file", "")), str(own.get("sha256", ""))
        source = next((one for one in beside if one.sha256 == digest), None)
        if source is None:
            if Path(name).name != name or name in ("", ".", ".."):
                raise DataError(f"{path}: {name!r} is no name of a file in this folder; {GIVE_IT}")
            if not (path.parent / name).exists():
                raise DataError(f"{path}: {name} does not lie beside it; {GIVE_IT}")
            source = replace(read_source(path.parent / name, limits), path=path.parent / name)
        if source.sha256 != digest:
            raise DataError(f"{path}: {name} has changed since it was read; read it again (`genverify read --write`)")
        sources.append(source)
        try:
            told[source.name] = _told(own, source)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}"
            raise DataError(f"{path}: {name}: cannot be understood ({why}); write it again") from None
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
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
            if sheet not in sheets:
                raise DataError(f"{name}: no sheet is called {sheet!r}: {nearest(sheet, list(sheets))}")
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
        raise DataError(f"symbol {text!r}: {meaning!r} is no meaning: {nearest(meaning, list(MEANINGS))}")
    return Symbol(text, meaning, str(said.get("said", "")), str(said.get("how", "told")))


def _column(table: str, letter: str, said: Mapping[str, Any]) -> Column:
    if said["role"] not in ROLES:
        raise DataError(f"{table}, column {letter}: {said['role']!r} is no role: {nearest(said['role'], list(ROLES))}")
    return Column(column_at(letter), str(said["role"]), str(said.get("head", "")), str(said.get("why", "told")))


def _axis(table: str, said: Mapping[str, Any]) -> Axis:
    if said["kind"] not in KINDS:
        raise DataError(f"{table}, axis {said['name']}: {said['kind']!r} is no kind: {nearest(said['kind'], list(KINDS))}")
    tree = tuple((str(parent), tuple(map(str, children))) for parent, children in said.get("tree") or ())
    unprinted = tuple(map(str, said.get("unprinted") or ()))
    return Axis(str(said["name"]), str(said["kind"]), (), (), tree, str(said.get("why", "")), unprinted)


def _rows(text: Any, most: int) -> tuple[int, ...]:
    """
    >>> _rows("1-3 6", 10)
    (0, 1, 2, 5)
    """
    found = list[int]()
    for part in str(text).split():
        span = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if not span or not 1 <= int(span[1]) <= int(span[2] or span[1]) <= most:
            raise DataError(f"rows {part!r}: give numbers from 1 to {most}, as 2-308")
        found += range(int(span[1]) - 1, int(span[2] or span[1]))
    return tuple(found)


def with_options(told: Mapping[str, Corrections], options: Corrections) -> dict[str, Corrections]:
    """What a reading file says, with options laid over it."""
    if options.roles or options.rows or options.columns or options.sheets:
        raise ConfigError("--sheet, --labels, --counts and --skip do not go with a reading file: change its lines")
    return {
        name: replace(own, totals=options.totals, symbols=options.symbols, rule=options.rule, period=options.period)
        for name, own in told.items()
    }
