"""CSV and other separated text in any common encoding, with any common delimiter: printed as a table, or tidy."""

import csv
import gzip
from io import StringIO
from pathlib import Path

from genverify.core.errors import DataError
from genverify.core.limits import UNREADABLE, FileLimits, check_lines
from genverify.disclosure.readers.grid import Grid, tables_of
from genverify.disclosure.readers.model import PrintedTable
from genverify.disclosure.readers.tidy import is_tidy, tidy_tables

ENCODINGS = ("utf-8-sig", "cp1252")
DELIMITERS = (",", ";", "\t", "|")
WIDE = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_text(path: Path, limits: FileLimits) -> list[PrintedTable]:
    """Every table of a text file."""
    grid, how = read_grid(path, limits)
    read = tidy_tables if is_tidy(grid) else tables_of
    return [table.noted(how) for table in read(grid, path.stem.removesuffix(".csv"), str(path))]


def read_grid(path: Path, limits: FileLimits) -> tuple[Grid, str]:
    """The texts of a separated file, and how they were read."""
    try:
        check_lines(path, limits)
        raw = gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
    except UNREADABLE as error:
        raise DataError(f"{path}: cannot be read ({error})") from None
    text, encoding = decoded(raw, path)
    if not text.strip():
        raise DataError(f"{path}: the file is empty")
    delimiter = _delimiter(text)
    try:
        rows = list(csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read as separated text ({error}); check its quotation marks") from None
    named = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}[delimiter]
    return [[cell.strip() for cell in row] for row in rows], f"read as {encoding}, separated by {named}"


def decoded(raw: bytes, path: Path) -> tuple[str, str]:
    """The text of a file: UTF-16 by its mark, else UTF-8, else the Windows code page."""
    for encoding in [WIDE[raw[:2]]] if raw[:2] in WIDE else ENCODINGS:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        return text, encoding.removesuffix("-sig")
    raise DataError(f"{path}: is no text in UTF-8, UTF-16 or the Windows code page; save it as UTF-8 CSV")


def _delimiter(text: str) -> str:
    """The one that cuts most lines into the same number of fields, above one."""
    lines = [line for line in text.splitlines() if line.strip()][:200]

    def score(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        common = max(set(widths), key=widths.count)
        return (widths.count(common) if common > 1 else 0, common)

    return max(DELIMITERS, key=score)
