"""Tables of two or several variables from a CSV file, from records or from counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.bounds import exact
from genverify.model.arrays import Ints
from genverify.model.errors import DataError
from genverify.model.files import LIMITS, FileLimits
from genverify.model.tablefiles import Expected, need_columns, open_csv, refuse_row

# A two-way table from a CSV file: row labels first, then counts, fractions or decimals.

TOTALS = ("total", "totals", "sum", "all")


@dataclass(frozen=True)
class PrintedTwoWay:
    """A table as it is printed. Where every cell is a whole number the cells are counts, else fractions of their row."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Fraction, ...], ...]
    whole: bool

    def turned(self) -> "PrintedTwoWay":
        """The table with rows and columns exchanged."""
        return PrintedTwoWay(self.columns, self.rows, tuple(zip(*self.cells, strict=True)), self.whole)

    @property
    def counts(self) -> Ints:
        return np.array([[int(value) for value in row] for row in self.cells], dtype=np.int64)

    def conditionals(self) -> exact.Conditionals:
        """The table of exact conditionals."""
        if self.whole:
            return exact.conditionals_of_counts(self.rows, self.columns, self.counts)
        return exact.conditionals_of_fractions(self.rows, self.columns, self.cells)

    def rounded(self, rounding: exact.Rounding) -> exact.RoundedConditionals:
        """The table of rounded conditionals; counts are rounded here."""
        if self.whole:
            return exact.rounded_of_counts(self.rows, self.columns, self.counts, rounding)
        units = [_units(row, self.columns, values, rounding) for row, values in zip(self.rows, self.cells, strict=True)]
        printed = np.array(units, dtype=np.int64)
        return exact.RoundedConditionals(self.rows, self.columns, printed, np.zeros(len(self.rows), dtype=bool), rounding)

    def check_total(self, N: int) -> None:
        """No count above N."""
        if self.whole and (self.counts > N).any():
            row, column = np.argwhere(self.counts > N)[0]
            raise DataError(
                f"row {self.rows[row]!r}, column {self.columns[column]!r}: the count {self.counts[row, column]} is above "
                f"N = {N}. Check --total."
            )


def _units(row: str, columns: Sequence[str], values: Sequence[Fraction], rounding: exact.Rounding) -> list[int]:
    units = [value * (rounding.one // 2) for value in values]
    for column, value, unit in zip(columns, values, units, strict=True):
        if unit.denominator != 1 or not 0 <= value <= 1:
            raise DataError(
                f"row {row!r}, column {column!r}: {float(value):.10g} is not a proportion from 0 to 1 with "
                f"{rounding.decimals} decimals. Check --decimals."
            )
    return [int(unit) for unit in units]


def read_printed(path: Path, limits: FileLimits = LIMITS) -> PrintedTwoWay:
    """The table of a CSV file: a header line, then a line per row, its label first."""
    frame = open_csv(path, Expected(limits=limits)).frame()
    if frame.empty or len(frame.columns) < 2:
        raise DataError(f"{path}: an empty table. A header line, then per row a label and its numbers are expected")
    columns, texts = tuple(frame.columns[1:]), frame.iloc[:, 1:].to_numpy().tolist()
    cells = tuple(
        tuple(_number(path, line, name, text) for name, text in zip(columns, row, strict=True))
        for line, row in zip(frame.index, texts, strict=True)
    )
    whole = all(exact.WHOLE.fullmatch(text.strip()) for row in texts for text in row)
    table = PrintedTwoWay(tuple(frame.iloc[:, 0]), columns, cells, whole)
    exact.check_labels(table.rows, table.columns)
    if whole:
        exact.check_not_negative(table.rows, table.columns, table.counts)
    for what, side in (("column", table), ("row", table.turned())):
        named = side.columns[-1].lower() in TOTALS and len(side.columns) > 1
        if named and all(sum(values[:-1]) == values[-1] for values in side.cells):
            raise DataError(f"{path}: the last {what} ({side.columns[-1]!r}) adds up the others; leave it out")
    return table


def _number(path: Path, line: int, column: str, text: str) -> Fraction:
    try:
        return exact.read_number(text)
    except ValueError as error:
        raise DataError(f"{path}, line {line}, column {column!r}: {error}") from None


# Tables of several variables: counts by combination of levels, from records or from counts, and their marginals.

COUNT = "count"
MOST_CELLS = 2_000_000  # bounds memory and time: every combination is a cell
LARGEST_TOTAL = 10**15  # below 2**53: exact in floating-point numbers too


@dataclass(frozen=True)
class Multiway:
    """Counts of records by every combination of the levels of some variables."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    counts: Ints

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def marginal(self, names: Sequence[str]) -> "Multiway":
        """The table of these variables alone, all others summed out."""
        summed = exact.aggregate(self.counts, self.names, names, ())
        levels = tuple(self.levels[self.names.index(name)] for name in names)
        return Multiway(tuple(names), levels, summed.reshape([len(level) for level in levels]))


def read_multiway(path: Path, count: str | None = None, names: Sequence[str] = (), limits: FileLimits = LIMITS) -> Multiway:
    """A CSV file with a line per record, or per combination with its count (0 if not listed; repeated ones are added)."""
    frame = open_csv(path, Expected(limits=limits)).frame()
    column = count or (COUNT if COUNT in frame else None)
    if len(set(names)) < len(names):
        raise DataError(f"a variable is named twice among {', '.join(names)}")
    variables = list(names) or [str(name) for name in frame if name != column]
    need_columns(path, frame, [*variables, *([column] if column else [])])
    if not variables or frame.empty:
        raise DataError(f"{path}: an empty table ({len(frame)} lines, {len(variables)} variables): nothing to bound")
    weights = np.ones(len(frame), dtype=np.int64) if column is None else _counts(path, frame[column])
    return _count(path, frame[variables], weights)


def _counts(path: Path, column: "pd.Series[str]") -> Ints:
    wrong = ~column.str.strip().str.fullmatch(r"\+?\d{1,15}")
    refuse_row(path, column, wrong, "is not a whole number from 0, of at most 15 digits")
    counts = np.array(column.to_list(), dtype=np.int64)
    if (total := sum(counts.tolist())) > LARGEST_TOTAL:
        raise DataError(f"{path}: the counts add up to {total:,}, more than {LARGEST_TOTAL:,}; check {column.name}")
    return counts


def _count(path: Path, frame: pd.DataFrame, weights: Ints) -> Multiway:
    empty = "is empty; give missing values a level of their own, e.g. `unknown`"
    for name in frame:
        refuse_row(path, frame[name], frame[name] == "", empty)
    result = {str(name): sorted(frame[name].unique(), key=_order) for name in frame}
    check_size(result, str(path))
    indices = tuple(pd.Index(result[str(name)]).get_indexer(pd.Index(frame[name])) for name in frame)
    counts = np.zeros([len(levels) for levels in result.values()], dtype=np.int64)
    np.add.at(counts, indices, weights)
    return Multiway(tuple(result), tuple(map(tuple, result.values())), counts)


def _order(level: str) -> tuple[bool, float, str]:
    try:
        return False, float(level), level
    except ValueError:
        return True, 0.0, level


def check_size(levels: Mapping[str, Sequence[str]], where: str) -> None:
    """An error for more combinations than this program handles, with the variable that has the most levels."""
    cells = prod(len(level) for level in levels.values())
    if cells > MOST_CELLS:
        largest = max(levels, key=lambda name: len(levels[name]))
        raise DataError(
            f"{where}: {cells:,} combinations of levels, more than {MOST_CELLS:,}; {largest} alone has "
            f"{len(levels[largest]):,} levels. Bin it into fewer (age in years into age groups, say), or leave columns out."
        )
