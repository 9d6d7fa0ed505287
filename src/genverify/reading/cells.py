"""The role of every cell of a reading, one by one, with its reason: worked out again from the tables, not from the tally."""

from collections.abc import Iterator
from typing import NamedTuple

from genverify.reading.numerals import LIMIT, MIXED, NUMBERS, RANGE, SYMBOL
from genverify.reading.reading import HEADER, PLACED, SYMBOL_ROLE, Corrections, Reading, Table
from genverify.reading.roles import COUNT, FIGURES, FLAG, LABEL, LEFT_OUT, NOTE
from genverify.reading.source import Sheet, Source, column_name
from genverify.reading.table_cells import kinds_of

Found = dict[tuple[int, int], tuple[str, str]]


class CellRole(NamedTuple):
    """What one cell is, and why."""

    file: str
    place: str
    role: str
    why: str


def cell_roles(reading: Reading) -> Iterator[CellRole]:
    """The role of every cell that is not empty, in the order of the files."""
    for source in reading.sources:
        tables = [table for table in reading.tables if table.file == source.name]
        if source.cube:
            yield from _cube_roles(reading, source, tables)
        for sheet in source.sheets:
            own = [table for table in tables if table.sheet == sheet.name]
            skipped = any(left.place == sheet.name for left in reading.left_out) and not own
            yield from _sheet_roles(reading, source, sheet, own, skipped)


def _kinds(reading: Reading, source: Source, texts: set[str]) -> dict[str, str]:
    return kinds_of(texts, reading.numerals[source.name], Corrections(known=reading.symbols))


def _sheet_roles(reading: Reading, source: Source, sheet: Sheet, tables: list[Table], skipped: bool) -> Iterator[CellRole]:
    kinds = _kinds(reading, source, {text for row in sheet.rows for text in row})
    found: Found = {}
    for table in tables:
        found |= _table_roles(sheet, table, kinds)
    tags, used = reading.tags.get(sheet.name, ()), {row for row, _ in found}
    for at, row in enumerate(sheet.rows):
        rest = [column for column, text in enumerate(row) if text and (at, column) not in found]
        words = any(kinds[row[column]] not in NUMBERS for column in rest)
        for column, text in enumerate(row):
            if not text:
                continue
            if (at, column) in found:
                role, why = found[at, column]
            elif skipped:
                role, why = LEFT_OUT, "this sheet was not asked for"
            elif column in tags or kinds[text] not in NUMBERS or (column == rest[0] and words and at not in used):
                role, why = NOTE, "a tag of the line" if column in tags else "a text outside of every table"
            else:
                role, why = LEFT_OUT, "a number outside of every table"
            yield CellRole(source.name, f"{sheet.name}!{column_name(column)}{at + 1}", role, why)


def _table_roles(sheet: Sheet, table: Table, kinds: dict[str, str]) -> Found:
    """The cells of one table: header rows, and the body by the role of each column and what was placed."""
    found: Found = {}
    block = table.block
    for at in (*block.header, *block.headings, *block.repeated):
        found |= {(at, column): (HEADER, "a row of headers") for column in block.columns}
    counts = {own.at: own for own in table.counts}
    for column in table.columns:
        for row, at in enumerate(block.body):
            text = sheet.rows[at][column.at] if column.at < len(sheet.rows[at]) else ""
            role, why = table.measured[column.at][row] if column.at in table.measured else column.role, column.why
            own = counts.get(column.at)
            if own is not None and own.kinds[row] in PLACED:
                held = own.kinds[row] in (SYMBOL, LIMIT, RANGE)
                role, why = (LEFT_OUT, "the same labels as another row") if row in table.excluded else (
                    (SYMBOL_ROLE, "in place of a count") if held else (COUNT, column.why))  # fmt: skip
                if held and not text:  # a blank that a flag explains: the flag is the symbol
                    for flag in (c.at for c in table.columns if c.role == FLAG):
                        found[at, flag] = (role, why)
            elif role in FIGURES and text:
                kind = kinds[text]
                if kind in (SYMBOL, LIMIT, RANGE):
                    role, why = SYMBOL_ROLE, "in place of a number"
                elif role == COUNT or (kind not in NUMBERS and kind != MIXED):
                    role, why = LEFT_OUT, "no number that can stand here"
            if text and (at, column.at) not in found:
                found[at, column.at] = (role, why)
    return found


def _cube_roles(reading: Reading, source: Source, tables: list[Table]) -> Iterator[CellRole]:
    cube = source.cube
    assert cube is not None
    for axis in cube.axes:
        yield from (
            CellRole(source.name, f"{axis.name} {at + 1}", LABEL, "a label of the file") for at in range(len(axis.labels))
        )
        yield from (
            CellRole(source.name, f"{axis.name} {at + 1}", "code", "a code of the file") for at in range(len(axis.codes))
        )
    yield from (CellRole(source.name, f"note {at + 1}", NOTE, "what the file says beside") for at in range(len(cube.notes)))
    kinds = _kinds(reading, source, set(cube.texts))
    table = tables[0] if tables else None
    for at, text in enumerate(cube.texts):
        if not text:
            continue
        if table is None:
            role, why = LEFT_OUT, cube.left_out
        elif kinds[text] in (SYMBOL, LIMIT, RANGE):
            role, why = SYMBOL_ROLE, "in place of a number"
        elif kinds[text] in NUMBERS and (not table.counts or table.counts[0].kinds[at] in PLACED):
            role, why = table.columns[0].role, table.columns[0].why
        else:
            role, why = LEFT_OUT, "no number that can stand here"
        yield CellRole(source.name, f"value {at + 1}", role, why)
