"""CSV and other separated text in any common encoding, with any common delimiter: printed as a table, or tidy."""

from pathlib import Path

from genverify.core.csvfile import Expected, read_rows
from genverify.core.limits import FileLimits
from genverify.disclosure.readers.grid import Grid, tables_of
from genverify.disclosure.readers.model import PrintedTable
from genverify.disclosure.readers.tidy import is_tidy, tidy_tables


def read_text(path: Path, limits: FileLimits) -> list[PrintedTable]:
    """Every table of a text file."""
    grid, how = read_grid(path, limits)
    read = tidy_tables if is_tidy(grid) else tables_of
    return [table.noted(how) for table in read(grid, path.stem.removesuffix(".csv"), str(path))]


def read_grid(path: Path, limits: FileLimits) -> tuple[Grid, str]:
    """The texts of a separated file, and how they were read."""
    rows, how = read_rows(path, Expected("separated text", "check its quotation marks", limits))
    return [cells for _, cells in rows], how
