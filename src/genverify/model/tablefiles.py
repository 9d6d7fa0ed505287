"""Tables in files: CSV files of users, Parquet where its library is installed, large tables a piece at a time."""

import csv
import gzip
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.model.errors import DataError, needed, refuse_unknown, refusing
from genverify.model.files import LIMITS, UNREADABLE, FileLimits, decode, delimiter_of, guarded_lines

# Texts of users in CSV files: a spreadsheet program would run a cell that begins like a formula.

FORMULA = re.compile("[=+\\-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}"
                     "\N{FULLWIDTH COMMERCIAL AT}]")  # fmt: skip
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def neutral(text: str) -> str:
    """The text with ' before it where a spreadsheet program would take it for a formula; numbers stay as they are."""
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def neutral_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A table to be written as CSV: its texts and the names of its columns made neutral, its numbers untouched."""
    texts = [column for column in frame.columns if not pd.api.types.is_numeric_dtype(frame[column].dtype)]
    changed = {
        column: frame[column].astype(object).map(lambda value: neutral(value) if isinstance(value, str) else value)
        for column in texts
    }
    return frame.assign(**changed).rename(columns=lambda name: neutral(str(name)))


# CSV files of users, read in one way: encoding, delimiter, header, limits, columns, and errors that name file and row.

LONGEST_LINE = 2**20  # bytes: a file without ends of lines is refused before it fills the memory
PACKED_OTHERWISE = (".zip", ".bz2", ".xz", ".zst", ".tar", ".tar.gz", ".tgz", ".7z")
UTF8, WINDOWS, WIDE = "utf-8-sig", "cp1252", "utf-16"
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
NO_TEXT = "is not text in UTF-8, UTF-16 or the Windows code page; save it as UTF-8 CSV"
LINES_LOOKED_AT = 200  # for delimiter and header, whatever the size of the file


@dataclass(frozen=True)
class Expected:
    """What a file should be, as errors say it, with a hint where to look; and how much it may hold."""

    what: str = "CSV"
    hint: str = ""
    limits: FileLimits = LIMITS


@dataclass(frozen=True)
class CsvFile:
    """A file that was looked through: encoding, columns, empty lines. Frames are numbered by its lines, as in an editor."""

    path: Path
    expected: Expected
    encoding: str
    delimiter: str
    names: tuple[str, ...]
    empty: npt.NDArray[np.int64]

    def frame(self, columns: Iterable[str] | None = None, texts: Collection[str] | None = None) -> pd.DataFrame:
        """These columns (None: all) of every row. `texts` names those that are kept as they are written (None: all)."""
        with naming_unreadable(self.path, self.expected):
            frame: pd.DataFrame = pd.read_csv(self.path, **self._options(columns, texts), low_memory=False)
            return self._numbered(_stripped(frame) if texts is None else frame, 0)

    def pieces(self, columns: Iterable[str], rows: int) -> Iterator[pd.DataFrame]:
        """These columns as texts, a number of rows at a time."""
        with (
            naming_unreadable(self.path, self.expected),
            pd.read_csv(self.path, **self._options(columns, None), chunksize=rows) as pieces,
        ):
            for number, piece in enumerate(pieces):
                yield self._numbered(_stripped(piece), number * rows)

    def _options(self, columns: Iterable[str] | None, texts: Collection[str] | None) -> dict[str, Any]:
        wanted = list(self.names if columns is None else columns)
        need_columns(self.path, self.names, wanted)
        rest = {"dtype": str, "keep_default_na": False} if texts is None else {"dtype": dict.fromkeys(texts, str)}
        written = {"encoding": self.encoding, "sep": self.delimiter, "skipinitialspace": True}
        return {**rest, **written, "header": 0, "names": list(self.names), "usecols": wanted}

    def _numbered(self, frame: pd.DataFrame, before: int) -> pd.DataFrame:
        first = before + 2  # line 1 is the header
        frame.index = pd.RangeIndex(first, first + len(frame))
        if len(self.empty):
            number = frame.index.to_numpy()
            frame.index = pd.Index(number + np.searchsorted(self.empty - np.arange(len(self.empty)), number, side="right"))
        return frame


def _stripped(frame: pd.DataFrame) -> pd.DataFrame:
    """Blanks around the texts taken off; a row that ends early has empty texts."""
    texts: pd.DataFrame = frame.fillna("").apply(lambda column: column.str.strip())
    return texts


def open_csv(path: Path, expected: Expected) -> CsvFile:
    """A CSV file with a header, plain or packed with gzip: looked through before anything of it is kept in memory."""
    with naming_unreadable(path, expected):
        lines = islice(_text_lines(path, expected.limits), LINES_LOOKED_AT)
        head = [line for line in lines if line.strip(b"\xef\xbb\xbf \t\r\n")]
        if not head:
            raise DataError(f"{path}: the file is empty")
        texts = [line.decode(errors="replace") for line in head]
        delimiter = delimiter_of(texts)
        encoding, empty = _look_through(path, expected.limits, delimiter, len(_fields(texts, delimiter)))
        named = _fields([line.decode(WINDOWS if encoding == WINDOWS else UTF8) for line in head], delimiter)
        names = [name.strip() or f"Unnamed: {index}" for index, name in enumerate(named)]
        for name, times in Counter(names).items():  # one of two equal ones would be taken silently
            if times > 1:
                raise DataError(f"{path}, line 1: {times} columns are called {name!r}; give each column its own name")
        return CsvFile(path, expected, encoding, delimiter, tuple(names), empty)


def _fields(lines: Iterable[str], delimiter: str) -> list[str]:
    """The fields of the first record."""
    return next(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))


def plain_text(value: object) -> str:
    """A value of a frame as a text: nothing where it is missing, whole numbers without decimals."""
    if value is None or value is pd.NA or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def need_columns(path: Path | str, names: Iterable[Hashable], needed: Iterable[str], others: Sequence[str] = ()) -> None:
    """An error for the first column that is not there (nor under other names), with the one that was probably meant."""
    known = list(map(str, names))
    for name in needed:
        refuse_unknown(name, known, f"{path}: has no column {' or '.join(map(repr, (name, *others)))}")


def refuse_row(path: Path, values: "pd.Series[Any]", wrong: "npt.ArrayLike | pd.Series[bool]", problem: str) -> None:
    """An error that names the first wrong value of a column and its row, if there is one."""
    indices = np.flatnonzero(np.asarray(wrong))
    if len(indices):
        value = values.iloc[indices[0]]
        displayed = repr(value) if isinstance(value, str) else value
        raise DataError(f"{path}, row {values.index[indices[0]]}: {values.name} {displayed} {problem}")


def naming_unreadable(path: Path, expected: Expected) -> AbstractContextManager[None]:
    """Turn what a reader says of a broken file into an error that names the file, what it should be, and a hint."""
    return refusing(UNREADABLE, f"{path}: cannot be read as {expected.what}", expected.hint)


def decoded(raw: bytes, path: Path) -> str:
    """The text of a file; an error where some of it is no text."""
    text, encoding = decode(raw)
    if "\0" in text or (encoding != "utf-8" and "\N{REPLACEMENT CHARACTER}" in text):
        raise DataError(f"{path}: {NO_TEXT}")
    return text


def _look_through(path: Path, limits: FileLimits, delimiter: str, fields: int) -> tuple[str, npt.NDArray[np.int64]]:
    """The encoding, and the numbers of the empty lines; an error for a row of more fields than the header has."""
    empty: list[int] = []
    encoding, inside, mark = UTF8, False, delimiter.encode()
    blanks = b" \t\r\n".replace(mark, b"")
    for number, line in enumerate(_text_lines(path, limits), 1):
        if b"\0" in line:
            raise DataError(f"{path}: {NO_TEXT}")
        text = line.decode(errors="replace")
        if encoding == UTF8 and text.encode() != line:
            encoding = WINDOWS
        if not line.strip(blanks):
            empty.append(number)
        odd = line.count(b'"') % 2 == 1  # a text in quotation marks begins here and ends in a later line, or the reverse
        if line.count(mark) >= fields and not (inside or odd) and (result := len(_fields([text], delimiter))) > fields:
            what = f"{path}, row {number}: {result} fields, but the header names {fields} columns"
            raise DataError(f"{what}; name each column, and leave out delimiters at the ends of lines")
        inside ^= odd
    with gzip.open(path, "rb") if _packed(path) else path.open("rb") as file:
        return (WIDE if file.read(2) in WIDE_MARKS else encoding), np.array(empty, dtype=np.int64)


def _text_lines(path: Path, limits: FileLimits) -> Iterator[bytes]:
    other = next((end for end in PACKED_OTHERWISE if path.name.lower().endswith(end)), None)
    if other:
        raise DataError(f"{path}: {other} files are not read; give a CSV, plain or packed with gzip (.csv.gz)")
    row = "a row of a table. Give a CSV with one record to a line."
    lines = guarded_lines(path, LONGEST_LINE, limits, row, _packed(path))
    first = next(lines, b"")
    if first.startswith(WIDE_MARKS):
        lines = (line.encode() for line in decoded(first + b"".join(lines), path).split("\n"))
        first = next(lines)
    yield first
    yield from lines


def _packed(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


# Tables in files: Parquet where its library is installed, as in every study; else CSV, which the light install can read.

PARQUET, CSV = ".parquet", ".codes.csv"
TEXTS = ("block", "query", "design")  # columns of texts; all others of a CSV hold whole numbers, or nothing


def read_frame(path: Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The table of a file; a CSV that holds other than whole numbers, names of blocks and queries is a ValueError."""
    if path.suffix != ".csv":
        needed("pyarrow", f"{path}: a Parquet file")
        return pd.read_parquet(path, columns=None if columns is None else list(columns))
    frame = pd.read_csv(path, usecols=None if columns is None else list(columns), dtype=str, keep_default_na=False)
    for name in frame.columns.difference(list(TEXTS)):
        frame[name] = _whole(frame[name], path)
    return frame


def _whole(values: "pd.Series[str]", path: Path) -> "pd.Series[int]":
    wrong = f"{path}: column {values.name}: not whole numbers alone"
    with refusing((TypeError, ValueError, OverflowError), wrong, error=ValueError):
        return pd.to_numeric(values.astype(object).replace("", None)).astype("Int64")


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
    return sorted({path.name.removesuffix(end) for end in (PARQUET, CSV) for path in folder.glob(f"*{end}")})


# Large tables a piece at a time, so that memory does not grow with the number of blocks.

BLOCKS_AT_ONCE = 5_000  # bounds memory: the rows of some blocks, whatever the size of the study
FEW_BLOCKS_AT_ONCE = 1_000  # where private records or proofs are read beside their claims
ROWS_PER_GROUP = 250_000  # of a Parquet file: who wants the rows of some blocks reads whole groups


def split_rows(frame: pd.DataFrame, at_once: int) -> Iterator[pd.DataFrame]:
    """The rows of a frame, `at_once` at a time; a frame without rows is one piece."""
    for start in range(0, max(1, len(frame)), at_once):
        yield frame.iloc[start : start + at_once].reset_index(drop=True)


def write_pieces(pieces: Iterable[pd.DataFrame], path: Path) -> int:
    """Write frames of the same columns one below the other; the number of rows. Of pieces without rows one is kept."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 0
    writer: Any = None
    try:
        for piece in pieces:
            if len(piece) or writer is None:
                table = pa.Table.from_pandas(piece, preserve_index=False)
                if not rows:  # the columns of the first piece that has rows: those of an empty one may have lost their kind
                    if writer is not None:
                        writer.close()
                    writer = pq.ParquetWriter(path, table.schema)
                writer.write_table(table, row_group_size=ROWS_PER_GROUP)
                rows += len(piece)
    finally:
        if writer is not None:
            writer.close()
    return rows


def read_blocks(path: Path, blocks: Collection[str]) -> pd.DataFrame:
    """The rows of a file that are about the given blocks; whole row groups are skipped where none can be."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    wanted = ds.field("block").isin(pa.array(sorted(blocks), pa.string()))
    if blocks:
        wanted &= (ds.field("block") >= min(blocks)) & (ds.field("block") <= max(blocks))
    result: pd.DataFrame = ds.dataset(path, format="parquet").to_table(filter=wanted).to_pandas()
    return result


def stack(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Frames about blocks one below the other; a batch without blocks gives a frame without rows."""
    return pd.concat(list(frames), ignore_index=True) if frames else pd.DataFrame({"block": pd.Series([], dtype="str")})


def collect(
    sample: pd.DataFrame, paths: Sequence[str], read: Callable[[str], pd.DataFrame] = pd.read_parquet
) -> Iterator[pd.DataFrame]:
    """The rows of all batches by design and block, some blocks at a time: by its statistics, each file once or twice."""
    spans = [(path, *_span(path)) for path in paths]
    for part_of_sample in split_rows(sample, BLOCKS_AT_ONCE):
        blocks = set(part_of_sample["block"])
        first, last = min(blocks, default=""), max(blocks, default="")
        parts = (read(path) for path, low, high in spans if low <= last and first <= high)
        yield by_design(part_of_sample, (part[part["block"].isin(blocks)] for part in parts))


def _span(path: str) -> tuple[str, str]:
    """The first and the last block of a file; of one without rows, a span that holds nothing."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    at = metadata.schema.names.index("block")
    found = [metadata.row_group(group).column(at).statistics for group in range(metadata.num_row_groups)]
    known = [one for one in found if one is not None and one.has_min_max]
    return min((one.min for one in known), default="\U0010ffff"), max((one.max for one in known), default="")


def by_design(sample: pd.DataFrame, parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Rows about blocks, once for every design that a block was drawn for, sorted by design and block."""
    rows = stack([part for part in parts if len(part)])
    rows["order"] = np.arange(len(rows))
    joined = sample[["block", "design"]].merge(rows, on="block").sort_values(["design", "block", "order"])
    return joined.drop(columns="order").reset_index(drop=True)
