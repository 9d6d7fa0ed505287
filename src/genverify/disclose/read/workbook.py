"""Excel workbooks and R data frames."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter
from zipfile import ZipFile

from genverify.disclose.read.grid import Grid, decimal_sign, frame_tables, tables_of, with_point
from genverify.disclose.read.printed_table import PrintedTable, Told, is_number, is_value
from genverify.model.errors import DataError, GenverifyError, needed
from genverify.model.files import FileLimits, one_line

# Excel workbooks (.xlsx, .xlsm): every sheet, hidden ones too, merged headers filled, numbers as they are printed.

FORMULA = b"<f"  # how a formula begins in the XML of a sheet


def read_xlsx(path: Path, told: Told) -> list[PrintedTable]:
    """Every table of every sheet; sheets of text alone (notes, contents) are passed over."""
    openpyxl = needed("openpyxl", f"{path}: an Excel workbook", "or save it as CSV")
    try:
        formulas = _measured(path, told.limits)
        book = _loaded(openpyxl, path, data_only=True)
        _refuse_without_value(book, _loaded(openpyxl, path, data_only=False) if formulas else None, path)
    except (GenverifyError, MemoryError):
        raise
    except Exception as error:  # a broken part may raise anything: XML, dates, numbers, missing relations
        raise DataError(
            f"{path}: cannot be read as an Excel workbook ({one_line(error)[:200]}); save it again as .xlsx, or as CSV"
        ) from None
    found, skipped = list[PrintedTable](), list[str]()
    for sheet in book.worksheets:
        name = path.stem if len(book.worksheets) == 1 else sheet.title.replace(" ", "_")
        source = f"{path}, sheet {sheet.title}"
        grid, indents = _grid(sheet, source, told)
        if not _holds_counts(grid):
            skipped.append(sheet.title)
            continue
        notes, left = (
            [f"hidden: {own}; what is hidden is published all the same" for own in _hidden(sheet)],
            _comments(sheet),
        )
        found += [
            replace(own.noted(*notes), left_out=(*own.left_out, *left)) for own in tables_of(grid, name, source, indents)
        ]
    if not found:
        raise DataError(f"{path}: no sheet holds a table of counts")
    return [table.noted(f"sheets without counts: {', '.join(skipped)}") if skipped else table for table in found]


def _measured(path: Path, limits: FileLimits) -> bool:
    """Whether a workbook holds formulas; an error for one that is too large when unpacked."""
    with ZipFile(path) as archive:
        limits.check(path, 0, max(path.stat().st_size, sum(part.file_size for part in archive.infolist())))
        return any(FORMULA in archive.read(name) for name in archive.namelist() if name.startswith("xl/worksheets/"))


def _loaded(openpyxl: Any, path: Path, data_only: bool) -> Any:
    with catch_warnings():  # of styles and extensions that are passed over; what counts is checked below
        simplefilter("ignore")
        return openpyxl.load_workbook(path, data_only=data_only)


def _refuse_without_value(values: Any, formulas: Any, path: Path) -> None:
    for sheet in formulas.worksheets if formulas is not None else ():
        shown = values[sheet.title]._cells
        for at, cell in sorted(sheet._cells.items()):
            if cell.data_type == "f" and (at not in shown or shown[at].value is None):
                raise DataError(
                    f"{path}, sheet {sheet.title}, {cell.coordinate}: holds a formula without its value; open the workbook "
                    "in a spreadsheet program and save it again, so that the values are kept"
                )


def _holds_counts(grid: Grid) -> bool:
    """Whether a sheet has two numbers or more, or two symbols in one row: notes and legends have not."""
    numbers = sum(is_number(text) for row in grid for text in row)
    return numbers > 1 or any(sum(is_value(text) for text in row) > 1 for row in grid)


def _hidden(sheet: Any) -> list[str]:
    rows = [f"row {at}" for at, own in sheet.row_dimensions.items() if own.hidden]
    columns = [f"column {name}" for name, own in sheet.column_dimensions.items() if own.hidden]
    shown = [*rows, *columns]
    shown = [*shown[:10], f"and {len(shown) - 10} more"] if len(shown) > 10 else shown
    where = f"sheet {sheet.title}"
    return [where] if sheet.sheet_state != "visible" else [f"{where}: {', '.join(shown)}"] if shown else []


def _comments(sheet: Any) -> list[str]:
    places = [cell.coordinate for _, cell in sorted(sheet._cells.items()) if cell.comment is not None]
    return [f"sheet {sheet.title}: {len(places)} comments, the first at {places[0]}: read them"] if places else []


def _grid(sheet: Any, source: str, told: Told) -> tuple[Grid, dict[str, int]]:
    """The texts of a sheet up to its last filled cell, and how far in labels stand."""
    # the cells that a file holds, as openpyxl keeps them: to walk over all places up to a formatted one may take hours
    cells = {at: cell for at, cell in sheet._cells.items() if cell.value is not None}
    width, height = max((column for _, column in cells), default=0), max((row for row, _ in cells), default=0)
    if width * height > 20 * told.limits.cells:  # blanks included
        last = max(cells, key=lambda at: at[0] * at[1])
        raise DataError(
            f"{source}, {cells[last].coordinate}: stands so far from the first cell that {width * height:,} lie between; "
            "take it out, or move it to the others"
        )
    texts = ((str(cell.value), f"{source}, {cell.coordinate}") for cell in cells.values() if isinstance(cell.value, str))
    sign = decimal_sign(texts, source, told.decimal)
    grid, indents = [[""] * width for _ in range(height)], dict[str, int]()
    for (row, column), cell in cells.items():
        text = _text(cell.value, cell.number_format or "", f"{source}, {cell.coordinate}")
        grid[row - 1][column - 1] = with_point(text, sign) if isinstance(cell.value, str) else text
        blanks = len(cell.value) - len(cell.value.lstrip()) if isinstance(cell.value, str) else 0
        if far := blanks + int(cell.alignment.indent or 0 if cell.alignment is not None else 0):
            indents[text] = far
    for span in sheet.merged_cells.ranges:
        if (span.min_row, span.min_col) in cells:
            for row, column in _inside(span, height, width):
                grid[row - 1][column - 1] = grid[span.min_row - 1][span.min_col - 1]
    return grid, indents


def _inside(span: Any, height: int, width: int) -> Iterator[tuple[int, int]]:
    """The cells that a merged one stands for: to its right in its first row, and below in its first column."""
    yield from ((span.min_row, column) for column in range(span.min_col, min(span.max_col, width) + 1))
    yield from ((row, span.min_col) for row in range(span.min_row + 1, min(span.max_row, height) + 1))


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


# R data frames (.rds, .rda, .RData): tidy, or printed as a table.


def read_rdata(path: Path, told: Told) -> list[PrintedTable]:
    """Every data frame of an R file."""
    pyreadr = needed("pyreadr", f"{path}: R data", "or save it as CSV")
    told.limits.check(path, 0, path.stat().st_size)
    try:
        frames = pyreadr.read_r(str(path))
    except Exception as error:
        raise DataError(f"{path}: cannot be read as R data ({error}); save a data.frame with saveRDS") from None
    if not frames:
        raise DataError(f"{path}: holds no data frame; as.data.frame(table) makes one of a table")
    return [
        table
        for name, frame in frames.items()
        for table in frame_tables(frame, str(name or path.stem), str(path), "an R data frame", told)
    ]


READERS = {**dict.fromkeys((".xlsx", ".xlsm"), read_xlsx), **dict.fromkeys((".rds", ".rdata"), read_rdata)}
