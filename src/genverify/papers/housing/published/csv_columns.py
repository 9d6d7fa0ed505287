"""Columns of a user's csv file, a piece at a time, under our names; errors name the file, the row and what to do."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.core.errors import DataError, nearest
from genverify.core.limits import UNREADABLE, FileLimits, check_header, check_lines
from genverify.microdata.store import GEOGRAPHY

ROWS_AT_ONCE = 100_000
LIMITS = FileLimits(50_000_000, 64 * 2**30, "keep the rows of the blocks of the study only")
Numbers = npt.NDArray[np.float64]


def read_columns(path: Path, columns: Mapping[str, Sequence[str]], setting: str) -> Iterator[pd.DataFrame]:
    """The rows as texts, by our names; the index is the row of the file, the header being row 1."""
    try:
        check_lines(path, LIMITS)
        check_header(path)
        header = list(pd.read_csv(path, nrows=0, dtype=str).columns)
        found = {_first(names, header, path): ours for ours, names in columns.items()}
        with pd.read_csv(path, dtype=str, usecols=list(found), keep_default_na=False, chunksize=ROWS_AT_ONCE) as pieces:
            for piece in pieces:
                yield piece.rename(columns=found).rename(index=lambda row: row + 2)
    except UNREADABLE as error:
        raise DataError(f"{path}: not a csv file that can be read ({error}); see {setting} in config/housing.yaml") from None


def _first(names: Sequence[str], header: list[str], path: Path) -> str:
    for name in names:
        if name in header:
            return name
    raise DataError(f"{path}: no column {' or '.join(names)} ({nearest(names[0], header)}). Rename or add it.")


def numbers(rows: pd.DataFrame, name: str, path: Path, missing: Collection[str] = ()) -> Numbers:
    """The numbers of a column, 0 or more; NaN where one of the texts in `missing` stands instead."""
    texts = rows[name].str.strip()
    gone = texts.isin(list(missing))
    values = pd.to_numeric(texts.where(~gone), errors="coerce")
    wrong = (~gone & ~(values >= 0)) | np.isinf(values)
    if wrong.any():
        row = wrong.index[int(np.argmax(wrong))]
        raise DataError(f"{path}, row {row}: {name} {rows[name][row]!r} is not a number of 0 or more. Correct the row.")
    return values.to_numpy(dtype=np.float64)


def whole_numbers(rows: pd.DataFrame, name: str, path: Path) -> npt.NDArray[np.int64]:
    """The numbers of a column, whole and 0 or more."""
    values = numbers(rows, name, path)
    wrong = values != np.rint(values)
    if wrong.any():
        row = rows.index[int(np.argmax(wrong))]
        raise DataError(f"{path}, row {row}: {name} {rows[name][row]!r} is not a whole number. Correct the row.")
    return values.astype(np.int64)


def check_blocks(rows: pd.DataFrame, path: Path) -> None:
    """Every block id is 15 digits."""
    width = GEOGRAPHY["block"]
    wrong = ~rows["block"].str.fullmatch(f"[0-9]{{{width}}}")
    if wrong.any():
        row = wrong.index[int(np.argmax(wrong))]
        raise DataError(
            f"{path}, row {row}: block {rows['block'][row]!r} is not {width} digits. Give state, county, tract and block, "
            "with leading zeros."
        )
