"""Data frames as printed tables: tidy, or printed as a table; of R files, and of Parquet files."""

from pathlib import Path

import pandas as pd

from genverify.core.errors import DataError
from genverify.core.limits import FileLimits
from genverify.disclosure.readers.grid import Grid, tables_of
from genverify.disclosure.readers.model import PrintedTable
from genverify.disclosure.readers.tidy import is_tidy, tidy_tables


def frame_tables(frame: pd.DataFrame, name: str, source: str, note: str) -> list[PrintedTable]:
    """Every table of a data frame."""
    texts = frame.astype(object).where(frame.notna(), "")
    grid: Grid = [
        [str(column) for column in frame.columns],
        *([_text(value) for value in row] for row in texts.to_numpy().tolist()),
    ]
    read = tidy_tables if is_tidy(grid) else tables_of
    return [table.noted(note) for table in read(grid, name, source)]


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def read_parquet(path: Path, limits: FileLimits) -> list[PrintedTable]:
    """The tables of a Parquet file, a line for each cell."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(path)
        limits.check(path, file.metadata.num_rows, path.stat().st_size)
        frame = file.read().to_pandas()
    except (ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({error})") from None
    return frame_tables(frame, path.stem, str(path), "a Parquet file")
