"""Lines of a text file from anybody: one without end would fill the memory of a reader, and then the error message."""

import gzip
from itertools import count
from pathlib import Path

from genverify.errors import DataError

LONGEST_LINE = 2**20


def check_lines(path: Path) -> None:
    """Refuse a file with a line that is longer than any row of a table; gzip is unpacked."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        for number in count(1):
            line = file.readline(LONGEST_LINE + 1)
            if not line:
                return
            if len(line) > LONGEST_LINE:
                raise DataError(
                    f"{path}, line {number}: longer than {LONGEST_LINE} bytes, too long for a row of a table. Give a CSV "
                    "with one record to a line."
                )
