"""Columns of a user's file: texts as they are written, and the integer codes that the attack works with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.core.csvfile import Expected, naming_unreadable, open_csv
from genverify.core.domain import Column
from genverify.core.errors import DataError, nearest
from genverify.core.extras import needed
from genverify.core.limits import LIMITS, FileLimits, one_line
from genverify.core.predicates import Predicate
from genverify.disclosure.form import ColumnForm

MISSING = ("", "NA", "NaN", "nan", "null", "None")
MOST_CODES = 60
ROWS_AT_ONCE = 10_000
Texts: TypeAlias = "pd.Series[str]"


@dataclass(frozen=True)
class Coding:
    """
    A column and its texts: the first text has code 1, the second 2, and so on.

    >>> sex = Coding(Column("SEX", "sex", (1, 2), ("female", "male")), ("f", "m"))
    >>> sex.code("m", "table t"), sex.text(1)
    (2, 'f')
    """

    column: Column
    texts: tuple[str, ...]

    @cached_property
    def code_of(self) -> Mapping[str, int]:
        return dict(zip(self.texts, self.column.codes, strict=True))

    def code(self, text: str, where: str) -> int:
        if text not in self.code_of:
            raise DataError(f"{where}: column {self.column.name} has no code {text!r}: {nearest(text, list(self.texts))}")
        return self.code_of[text]

    def text(self, code: int) -> str:
        return self.texts[self.column.codes.index(code)]


@dataclass(frozen=True)
class Codings:
    """The columns of a release by name."""

    by_name: Mapping[str, Coding]

    def __getitem__(self, name: str) -> Coding:
        if name not in self.by_name:
            raise DataError(f"unknown column {name!r}: {nearest(name, list(self.by_name))}")
        return self.by_name[name]

    def predicate(self, where: Mapping[str, Sequence[str]], location: str) -> Predicate:
        """A condition in texts as one in codes; an error names `location` and what is unknown."""
        try:
            return Predicate.of({name: [self[name].code(text, location) for text in texts] for name, texts in where.items()})
        except DataError as error:
            message = str(error)
            raise DataError(message if message.startswith(location) else f"{location}: {message}") from None


def read_texts(path: Path, limits: FileLimits = LIMITS) -> pd.DataFrame:
    """A CSV or Parquet file with every value as text, spaces at the ends taken off; the index is the line of the file."""
    expected = Expected("a table", "a CSV with a header or Parquet is expected", limits)
    with naming_unreadable(path, expected):
        frame = _read_parquet(path, limits) if path.suffix == ".parquet" else open_csv(path, expected).frame()
    if not len(frame):
        raise DataError(f"{path}: holds no rows")
    if path.suffix == ".parquet":
        frame.index = pd.RangeIndex(2, len(frame) + 2)  # as the lines of a CSV
    return frame


def _read_parquet(path: Path, limits: FileLimits) -> pd.DataFrame:
    """Every value as text; a file that is broken is a ValueError."""
    pa = needed("pyarrow", f"{path}: a Parquet file", "or save it as CSV")
    try:
        frame = _pieces(path, limits)
    except pa.ArrowException as error:
        raise ValueError(one_line(error)) from None
    frame.columns = pd.Index([str(name).strip() for name in frame.columns])
    if not frame.columns.is_unique:
        doubled = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{path}: two columns are called {doubled!r}; give each column its own name")
    texts: pd.DataFrame = frame.apply(lambda column: column.map(_as_text)).astype(str)
    return texts


def _pieces(path: Path, limits: FileLimits) -> pd.DataFrame:
    """Read a piece at a time: few bytes of a file can stand for many values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        limits.check(path, file.metadata.num_rows, 0)
        pieces, size = [], 0
        for piece in file.iter_batches(ROWS_AT_ONCE):
            size += piece.nbytes
            limits.check(path, 0, size)
            pieces.append(piece)
        frame: pd.DataFrame = pa.Table.from_batches(pieces, file.schema_arrow).to_pandas().astype(object)
    return frame


def _as_text(value: object) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)) or value is pd.NA:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def prepared(values: Texts, form: ColumnForm, path: Path) -> Texts:
    """A column of the data with its missing values named and its numbers binned, as the release file says."""
    listed = set(form.codes or ())
    missing = values.isin(MISSING) & ~values.isin(listed)
    if missing.any() and form.missing is None:
        raise DataError(
            f"{path}: column {values.name} has {int(missing.sum())} missing values, the first in line "
            f"{values.index[missing][0]}; fill them, leave these rows out, or give them a code: "
            f"columns: {{{values.name}: {{missing: not stated}}}}"
        )
    filled = values.mask(missing, form.missing) if form.missing is not None else values
    if form.bins is None:
        return filled
    numbers = filled[~missing]
    binned = pd.Series(bin_texts(numbers, form.bins, path), index=numbers.index, name=values.name)
    return binned.reindex(values.index).where(~missing, filled)


def bin_texts(values: Texts, edges: Sequence[float], path: Path) -> list[str]:
    """The interval of each number: below the first edge, from one edge to the next, from the last edge up."""
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any():
        bad = values[numbers.isna()]
        raise DataError(f"{path}: line {bad.index[0]}: column {values.name} has bins, but {bad.iloc[0]!r} is not a number")
    labels = bin_labels(edges)
    return [
        labels[place] for place in np.searchsorted(np.array(edges, dtype=float), numbers.to_numpy(dtype=float), side="right")
    ]


def bin_labels(edges: Sequence[float]) -> list[str]:
    """
    >>> bin_labels([18, 65])
    ['under 18', '18 to 64', '65 and over']
    """
    if list(edges) != sorted(set(edges)):
        raise DataError(f"bins {list(edges)}: the edges must rise")
    whole = all(float(edge).is_integer() for edge in edges)
    between = [f"{low:g} to {high - 1:g}" if whole else f"{low:g} to under {high:g}" for low, high in pairwise(edges)]
    labels = [f"under {edges[0]:g}", *between, f"{edges[-1]:g} and over"]
    if len(set(labels)) < len(labels):
        raise DataError(f"bins {list(edges)}: two of them would have the same label; give edges that differ in 6 digits")
    return labels


def coding(name: str, form: ColumnForm, values: "Texts | None", where: str) -> Coding:
    """The codes of a column: as listed, or the bins, or the texts of the data (numbers in order, then words in order)."""
    if form.codes is not None:
        labels = dict(form.codes)
    elif form.bins is not None:
        labels = {text: text for text in bin_labels(form.bins)}
    elif values is not None:
        labels = {text: text for text in _found(name, values, where)}
    else:
        raise DataError(
            f"{where}: column {name} lists no codes; without microdata, give columns: {{{name}: {{codes: ...}}}}"
        )
    if form.missing is not None:
        labels.setdefault(form.missing, form.missing)
    codes = tuple(range(1, len(labels) + 1))
    return Coding(Column(name, form.label or name, codes, tuple(labels.values())), tuple(labels))


def _found(name: str, values: Texts, where: str) -> list[str]:
    """The distinct texts, if they are few enough to be codes."""
    found: list[str] = sorted(set(values), key=_order)
    fractions = [text for text in found if _order(text)[0] == 0 and not float(text).is_integer()]
    if len(found) > MOST_CODES or len(fractions) > 5:
        hint = (
            "give its edges, columns: {%s: {bins: [18, 40, 65]}}"
            if _order(found[0])[0] == 0
            else "list its codes, columns: {%s: {codes: ...}}"
        )
        raise DataError(
            f"{where}: column {name} is not discrete: {len(found)} different values such as {found[0]} and {found[-1]}; "
            + hint % name
        )
    return found


def _order(text: str) -> tuple[int, float, str]:
    try:
        number = float(text)
    except ValueError:
        return 1, 0.0, text
    return (0, number, text) if np.isfinite(number) else (1, 0.0, text)


def encode(values: Texts, coding: Coding, path: Path) -> npt.NDArray[np.int64]:
    """The codes of a column of the data; an error names the first text that has none, and its line."""
    codes = values.map(coding.code_of)
    if codes.isna().any():
        bad = values[codes.isna()]
        raise DataError(
            f"{path}: line {bad.index[0]}: column {coding.column.name} has {bad.iloc[0]!r}, which is not among its codes: "
            f"{nearest(bad.iloc[0], list(coding.texts))}"
        )
    return np.asarray(codes, dtype=np.int64)
