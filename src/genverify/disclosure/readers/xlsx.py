"""Excel workbooks (.xlsx, .xlsm): every visible sheet, merged headers filled, numbers as they are printed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from genverify.core.errors import DataError
from genverify.core.extras import needed
from genverify.core.limits import FileLimits
from genverify.disclosure.readers.grid import Grid, letters, tables_of
from genverify.disclosure.readers.model import PrintedTable

MOST_ROWS = 200_000


def read_xlsx(path: Path, limits: FileLimits) -> list[PrintedTable]:
    """Every table of every visible sheet; sheets of text alone (notes, contents) are passed over."""
    openpyxl = needed("openpyxl", f"{path}: an Excel workbook", "or save it as CSV")
    limits.check(path, 0, path.stat().st_size)
    try:
        book = openpyxl.load_workbook(path, data_only=True)
    except (BadZipFile, KeyError, ValueError, OSError) as error:
        raise DataError(
            f"{path}: cannot be read as an Excel workbook ({error}); save it again as .xlsx, or as CSV"
        ) from None
    found, skipped = list[PrintedTable](), list[str]()
    visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    for sheet in visible:
        limits.check(path, sheet.max_row, 0)
        name = path.stem if len(visible) == 1 else sheet.title.replace(" ", "_")
        grid, indents = _grid(sheet, path)
        if sum(text.replace(",", "").isdecimal() for row in grid for text in row) < 2:
            skipped.append(sheet.title)
            continue
        found += tables_of(grid, name, f"{path}, sheet {sheet.title}", indents)
    if not found:
        raise DataError(f"{path}: no sheet holds a table of counts")
    return [table.noted(f"sheets without counts: {', '.join(skipped)}") if skipped else table for table in found]


def _grid(sheet: Any, path: Path) -> tuple[Grid, dict[str, int]]:
    merged: dict[tuple[int, int], Any] = {}
    for span in sheet.merged_cells.ranges:
        first = sheet.cell(span.min_row, span.min_col)
        merged |= dict.fromkeys(_inside(span), first)
    indents, grid = dict[str, int](), list[list[str]]()
    for row in sheet.iter_rows():
        texts = []
        for cell in row:
            shown = merged.get((cell.row, cell.column), cell)
            texts.append(_text(shown.value, cell.number_format or "", f"{path}, {letters(cell.column - 1)}{cell.row}"))
            if texts[-1] and cell.alignment is not None and cell.alignment.indent:
                indents[" ".join(texts[-1].split())] = int(cell.alignment.indent)
        grid.append(texts)
    return grid, indents


def _inside(span: Any) -> Iterator[tuple[int, int]]:
    """The cells that a merged one stands for: to its right in its first row, and below in its first column."""
    yield from ((span.min_row, column) for column in range(span.min_col, span.max_col + 1))
    yield from ((row, span.min_col) for row in range(span.min_row + 1, span.max_row + 1))


def _text(value: Any, form: str, place: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        if value.startswith("#") and value.rstrip("!?").isupper():
            raise DataError(f"{place}: holds the error {value}; correct the formula, or save values only")
        return " ".join(value.split())
    if isinstance(value, bool):
        return str(value)
    if "%" in form and isinstance(value, int | float):
        return f"{value * 100:g}%"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
