"""Text tables from anybody: their lines, rows, size and header are checked before they are read into memory."""

import csv
import gzip
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from genverify.core.errors import DataError

LONGEST_LINE = 2**20
PACKED_OTHERWISE = (".zip", ".bz2", ".xz", ".zst", ".tar", ".tar.gz", ".tgz", ".7z")
UNREADABLE = (OSError, EOFError, ValueError, zlib.error, csv.Error)  # what reading a broken file raises


@dataclass(frozen=True)
class FileLimits:
    """
    How much a file may hold, in rows and in bytes when unpacked; `remedy` says how a larger one can be read.

    >>> FileLimits(rows=10).check(Path("people.csv"), 11, 100)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    genverify.core.errors.DataError: people.csv: holds more than 10 rows; ...
    """

    rows: int = 5_000_000
    size: int = 2 * 2**30
    remedy: str = "split the file into several"

    def check(self, path: Path, rows: int, size: int) -> None:
        """An error for more rows or bytes than allowed."""
        if rows > self.rows:
            raise DataError(f"{path}: holds more than {self.rows:,} rows; if that is meant, {self.remedy}")
        if size > self.size:
            raise DataError(f"{path}: holds more than {self.size:,} bytes when unpacked; if that is meant, {self.remedy}")


LIMITS = FileLimits(remedy="allow more with --max-rows or --max-bytes (in a release file: max_rows, max_bytes)")


def one_line(error: Exception) -> str:
    """What an error says, without line breaks."""
    return " ".join(str(error).split())


def guarded_lines(path: Path, longest: int, limits: FileLimits, row: str, packed: bool) -> Iterator[bytes]:
    """The lines of a file, `packed` with gzip or not; an error for a line, a number of lines or a size beyond the limits."""
    number = size = 0
    with gzip.open(path, "rb") if packed else path.open("rb") as file:
        while line := file.readline(longest + 1):
            number, size = number + 1, size + len(line)
            if len(line) > longest:
                raise DataError(f"{path}, line {number}: longer than {longest} bytes, too long for {row}")
            limits.check(path, number - 1, size)  # the first line is the header
            yield line


def check_lines(path: Path, limits: FileLimits) -> None:
    """Refuse a file that is beyond the limits, or packed in another way than gzip."""
    name, row = path.name.lower(), "a row of a table. Give a CSV with one record to a line."
    other = next((end for end in PACKED_OTHERWISE if name.endswith(end)), None)
    if other:
        raise DataError(f"{path}: {other} files are not read; give a CSV, plain or packed with gzip (.csv.gz)")
    for _ in guarded_lines(path, LONGEST_LINE, limits, row, name.endswith(".gz")):
        pass


def check_header(path: Path) -> None:
    """Refuse two columns of one name, apart from blanks: one of them would be taken silently."""
    first = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False, skipinitialspace=True)
    for name, times in Counter(str(name).strip() for name in first.iloc[0]).items():
        if name and times > 1:
            raise DataError(f"{path}, line 1: {times} columns are called {name!r}; give each column its own name")


def read_table(path: Path, limits: FileLimits) -> pd.DataFrame:
    """A CSV with every value as a text, blanks around the names of columns taken off."""
    check_lines(path, limits)
    check_header(path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, skipinitialspace=True)
    if not isinstance(frame.index, pd.RangeIndex):
        fields = frame.index.nlevels + len(frame.columns)
        raise DataError(
            f"{path}: the rows have {fields} fields, but the header names {len(frame.columns)} columns; name each column, "
            "and leave out commas at the ends of lines"
        )
    return frame.rename(columns=lambda name: str(name).strip())
