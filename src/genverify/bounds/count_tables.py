"""A two-way table from a CSV file: row labels first, then counts, fractions or decimals."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from genverify.core.arraytypes import Ints
from genverify.core.csvfile import Expected, read_rows
from genverify.core.errors import DataError
from genverify.core.limits import LIMITS, FileLimits
from genverify.papers.cellbounds.conditional import Conditionals, conditionals_of_counts, conditionals_of_fractions
from genverify.papers.cellbounds.numbers import check_labels, check_not_negative, is_whole, read_number
from genverify.papers.cellbounds.rounded import RoundedConditionals, rounded_of_counts
from genverify.papers.cellbounds.rounding import Rounding

TOTALS = ("total", "totals", "sum", "all")


@dataclass(frozen=True)
class Printed:
    """A table as it is printed. Where every cell is a whole number the cells are counts, else fractions of their row."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Fraction, ...], ...]
    whole: bool

    def turned(self) -> "Printed":
        """The table with rows and columns exchanged."""
        return Printed(self.columns, self.rows, tuple(zip(*self.cells, strict=True)), self.whole)

    @property
    def counts(self) -> Ints:
        return np.array([[int(value) for value in row] for row in self.cells], dtype=np.int64)

    def conditionals(self) -> Conditionals:
        """The table of exact conditionals."""
        if self.whole:
            return conditionals_of_counts(self.rows, self.columns, self.counts)
        return conditionals_of_fractions(self.rows, self.columns, self.cells)

    def rounded(self, rounding: Rounding) -> RoundedConditionals:
        """The table of rounded conditionals; counts are rounded here."""
        if self.whole:
            return rounded_of_counts(self.rows, self.columns, self.counts, rounding)
        units = [_units(row, self.columns, values, rounding) for row, values in zip(self.rows, self.cells, strict=True)]
        printed = np.array(units, dtype=np.int64)
        return RoundedConditionals(self.rows, self.columns, printed, np.zeros(len(self.rows), dtype=bool), rounding)

    def check_total(self, N: int) -> None:
        """No count above N."""
        if self.whole and (self.counts > N).any():
            row, column = np.argwhere(self.counts > N)[0]
            raise DataError(
                f"row {self.rows[row]!r}, column {self.columns[column]!r}: the count {self.counts[row, column]} is above "
                f"N = {N}. Check --total."
            )


def _units(row: str, columns: Sequence[str], values: Sequence[Fraction], rounding: Rounding) -> list[int]:
    """A row in units of the last decimal; a value with more decimals was not rounded to so few."""
    units = [value * (rounding.one // 2) for value in values]
    for column, value, unit in zip(columns, values, units, strict=True):
        if unit.denominator != 1 or not 0 <= value <= 1:
            raise DataError(
                f"row {row!r}, column {column!r}: {float(value):.10g} is no proportion from 0 to 1 with {rounding.decimals} "
                "decimals. Check --decimals."
            )
    return [int(unit) for unit in units]


def read_printed(path: Path, limits: FileLimits = LIMITS) -> Printed:
    """The table of a CSV file: a header line, then a line per row, its label first."""
    lines = [
        (number, [text.strip() for text in line])
        for number, line in read_rows(path, Expected(limits=limits))[0]
        if any(line)
    ]
    if len(lines) < 2 or len(lines[0][1]) < 2:
        raise DataError(f"{path}: an empty table. A header line, then per row a label and its numbers are expected")
    header = lines[0][1]
    rows, cells = [], []
    for number, line in lines[1:]:
        if len(line) != len(header):
            raise DataError(f"{path}, line {number}: {len(line)} fields where the header has {len(header)}")
        rows.append(line[0])
        cells.append(tuple(_number(path, number, name, text) for name, text in zip(header[1:], line[1:], strict=True)))
    whole = all(is_whole(text) for _, line in lines[1:] for text in line[1:])
    table = Printed(tuple(rows), tuple(header[1:]), tuple(cells), whole)
    check_labels(table.rows, table.columns)
    if whole:
        check_not_negative(table.rows, table.columns, table.counts)
    _check_no_totals(path, table)
    return table


def _number(path: Path, line: int, column: str, text: str) -> Fraction:
    try:
        return read_number(text)
    except ValueError as error:
        raise DataError(f"{path}, line {line}, column {column!r}: {error}") from None


def _check_no_totals(path: Path, table: Printed) -> None:
    """Totals are no cells: a last column or row of that name that adds up the others is a mistake."""
    for what, side in (("column", table), ("row", table.turned())):
        named = side.columns[-1].lower() in TOTALS and len(side.columns) > 1
        if named and all(sum(values[:-1]) == values[-1] for values in side.cells):
            raise DataError(f"{path}: the last {what} ({side.columns[-1]!r}) adds up the others; leave it out")
