"""Data frames as printed tables: tidy, or printed as a table; of R files, and of Parquet files."""

from pathlib import Path
from typing import Any

import pandas as pd

from genverify.core.errors import DataError
from genverify.disclosure.readers.grid import Grid, decimal_sign, tables_of, with_point
from genverify.disclosure.readers.model import PrintedTable, Told
from genverify.disclosure.readers.tidy import is_tidy, tidy_tables


def frame_tables(frame: pd.DataFrame, name: str, source: str, note: str, told: Told) -> list[PrintedTable]:
    """Every table of a data frame."""
    texts = frame.astype(object).where(frame.notna(), "")
    values = texts.to_numpy().tolist()
    written = ((value, f"row {number}") for number, row in enumerate(values, 1) for value in row if isinstance(value, str))
    sign = decimal_sign(written, source, told.decimal)
    grid: Grid = [
        [str(column) for column in frame.columns],
        *([_text(with_point(value, sign) if isinstance(value, str) else value) for value in row] for row in values),
    ]
    read = tidy_tables if is_tidy(grid) else tables_of
    return [table.noted(note) for table in read(grid, name, source)]


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def read_parquet(path: Path, told: Told) -> list[PrintedTable]:
    """The tables of a Parquet file, a line for each cell."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(path)
        told.limits.check(path, file.metadata.num_rows, max(path.stat().st_size, _unpacked(file.metadata)))
        frame = file.read().to_pandas()
    except (ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({error})") from None
    return frame_tables(frame, path.stem, str(path), "a Parquet file", told)


def _unpacked(metadata: Any) -> int:
    return sum(int(metadata.row_group(at).total_byte_size) for at in range(metadata.num_row_groups))
