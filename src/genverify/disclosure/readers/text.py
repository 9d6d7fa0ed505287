"""CSV and other separated text in any common encoding, with any common delimiter: printed as a table, or tidy."""

from pathlib import Path

from genverify.core.csvfile import Expected, read_rows
from genverify.disclosure.readers.grid import Grid, pointed, tables_of
from genverify.disclosure.readers.model import PrintedTable, Told
from genverify.disclosure.readers.tidy import is_tidy, tidy_tables


def read_text(path: Path, told: Told) -> list[PrintedTable]:
    """Every table of a text file."""
    grid, indents, how = read_grid(path, told)
    name, source = path.stem.removesuffix(".csv"), str(path)
    tables = tidy_tables(grid, name, source) if is_tidy(grid) else tables_of(grid, name, source, indents)
    return [table.noted(how) for table in tables]


def read_grid(path: Path, told: Told) -> tuple[Grid, dict[str, int], str]:
    """The texts of a separated file with decimal points, how far in the first of each row stands, and how it was read."""
    rows, how = read_rows(path, Expected("separated text", "check its quotation marks", told.limits))
    indents = {cells[0].strip(): len(cells[0]) - len(cells[0].lstrip()) for _, cells in rows if cells and cells[0].strip()}
    grid = [[cell.strip() for cell in cells] for _, cells in rows]
    return pointed(grid, str(path), told.decimal), {label: far for label, far in indents.items() if far}, how
