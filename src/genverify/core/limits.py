"""Files of lines from anybody: their lines, rows and size are checked before they are read into memory."""

import csv
import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

from genverify.core.errors import DataError

UNREADABLE = (OSError, EOFError, ValueError, zlib.error, csv.Error)  # what reading a broken file raises


@dataclass(frozen=True)
class FileLimits:
    """
    How much a file may hold: rows, bytes when unpacked, and combinations of labels; `remedy` says how a larger one can be
    read. `cells` also bounds what a table may stand for: a file of 1 kB can name 30 dimensions, a billion combinations.

    >>> FileLimits(rows=10).check(Path("people.csv"), 11, 100)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    genverify.core.errors.DataError: people.csv: holds more than 10 rows; ...
    """

    rows: int = 5_000_000
    size: int = 2 * 2**30
    remedy: str = "split the file into several"
    cells: int = 500_000  # a system of more is not solved in minutes, and takes gigabytes

    def check(self, path: Path, rows: int, size: int) -> None:
        """An error for more rows or bytes than allowed."""
        if rows > self.rows:
            raise DataError(f"{path}: holds more than {self.rows:,} rows; if that is meant, {self.remedy}")
        if size > self.size:
            raise DataError(f"{path}: holds more than {self.size:,} bytes when unpacked; if that is meant, {self.remedy}")

    def check_combinations(self, source: Path | str, sizes: Iterable[int], what: str) -> None:
        """An error for dimensions whose combinations are too many, before any of them is made."""
        sizes = list(sizes)
        if (number := prod(sizes)) > self.cells:
            shown = " x ".join(map(str, sizes[:6])) + (" x ..." if len(sizes) > 6 else "")
            raise DataError(
                f"{source}: {what} has {shown} = {f'{number:,}' if number < 10**12 else 'over 10^12'} combinations, more "
                f"than {self.cells:,}; leave out a column that only describes another one, or split the table"
            )


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
