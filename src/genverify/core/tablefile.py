"""Tables in files: Parquet where its library is installed, as in every study; else CSV, which the light install can read."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from genverify.core.extras import needed

PARQUET, CSV = ".parquet", ".codes.csv"
TEXTS = ("block", "query", "design")  # columns of texts; all others of a CSV hold whole numbers, or nothing


def read_frame(path: Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """
    The table of a file. A CSV that holds other than whole numbers, but for names of blocks and queries, is a ValueError.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as home:
    ...     _ = (Path(home) / "counts.csv").write_text("block,query,lo\\n007,N,3\\n")
    ...     read_frame(Path(home) / "counts.csv").to_dict("list")
    {'block': ['007'], 'query': ['N'], 'lo': [3]}
    """
    if path.suffix != ".csv":
        needed("pyarrow", f"{path}: a Parquet file")
        return pd.read_parquet(path, columns=None if columns is None else list(columns))
    frame = pd.read_csv(path, usecols=None if columns is None else list(columns), dtype=str, keep_default_na=False)
    for name in frame.columns.difference(list(TEXTS)):
        frame[name] = _whole(frame[name], path)
    return frame


def _whole(values: "pd.Series[str]", path: Path) -> "pd.Series[int]":
    """A column of whole numbers, or nothing where a text is empty."""
    try:
        return pd.to_numeric(values.astype(object).replace("", None)).astype("Int64")
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{path}: column {values.name}: not whole numbers alone ({error})") from None


def write_frame(frame: pd.DataFrame, folder: Path, name: str) -> Path:
    """The table as a file of the folder that `read_frame` reads back, in place of one that an earlier run left; its path."""
    parquet, text = folder / f"{name}{PARQUET}", folder / f"{name}{CSV}"
    if find_spec("pyarrow"):
        frame.to_parquet(parquet, index=False)
        text.unlink(missing_ok=True)
        return parquet
    frame.to_csv(text, index=False, lineterminator="\n")
    parquet.unlink(missing_ok=True)
    return text


def table_file(folder: Path, name: str) -> Path:
    """The file of a table in a folder: Parquet unless only a CSV is there."""
    parquet, text = folder / f"{name}{PARQUET}", folder / f"{name}{CSV}"
    return text if text.exists() and not parquet.exists() else parquet


def table_names(folder: Path) -> list[str]:
    """The names of the tables of a folder, in order."""
    return sorted({path.name.removesuffix(end) for end in (PARQUET, CSV) for path in folder.glob(f"*{end}")})
