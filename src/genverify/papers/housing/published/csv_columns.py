"""Columns of a user's csv file, a piece at a time, under our names; errors name the file, the row and what to do."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.core.csvfile import CsvFile, Expected, need_columns, open_csv, refuse_row
from genverify.core.limits import FileLimits
from genverify.microdata.store import GEOGRAPHY

ROWS_AT_ONCE = 100_000
LIMITS = FileLimits(50_000_000, 64 * 2**30, "keep the rows of the blocks of the study only")
Numbers = npt.NDArray[np.float64]


def read_columns(
    path: Path, columns: Mapping[str, Sequence[str]], setting: str, optional: Collection[str] = ()
) -> Iterator[pd.DataFrame]:
    """The rows as texts, by our names, each column under the first of its names that the file has; the index is the line."""
    file = open_csv(path, Expected("a CSV file", f"see {setting} in config/housing.yaml", LIMITS))
    wanted = {**columns, **{name: [name] for name in optional if name in file.names}}
    found = {_first(names, file): ours for ours, names in wanted.items()}
    for piece in file.pieces(found, ROWS_AT_ONCE):
        yield piece.rename(columns=found)


def _first(names: Sequence[str], file: CsvFile) -> str:
    known = [name for name in names if name in file.names]
    if not known:
        need_columns(file.path, file.names, [names[0]], names[1:])
    return known[0]


def numbers(rows: pd.DataFrame, name: str, path: Path, missing: Collection[str] = ()) -> Numbers:
    """The numbers of a column, 0 or more; NaN where one of the texts in `missing` stands instead."""
    texts = rows[name].str.strip()
    gone = texts.isin(list(missing))
    values = pd.to_numeric(texts.where(~gone), errors="coerce")
    wrong = (~gone & ~(values >= 0)) | np.isinf(values)
    refuse_row(path, rows[name], wrong, "is not a number of 0 or more. Correct the row.")
    return values.to_numpy(dtype=np.float64)


def whole_numbers(rows: pd.DataFrame, name: str, path: Path) -> npt.NDArray[np.int64]:
    """The numbers of a column, whole and 0 or more."""
    values = numbers(rows, name, path)
    refuse_row(path, rows[name], values != np.rint(values), "is not a whole number. Correct the row.")
    return values.astype(np.int64)


def check_blocks(rows: pd.DataFrame, path: Path) -> None:
    """Every block id is 15 digits."""
    width = GEOGRAPHY["block"]
    wrong = ~rows["block"].str.fullmatch(f"[0-9]{{{width}}}")
    problem = f"is not {width} digits. Give state, county, tract and block, with leading zeros."
    refuse_row(path, rows["block"], wrong, problem)
