"""CSV files of users, read in one way: encoding, delimiter, header, limits, columns, and errors that name file and row."""

import csv
import gzip
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.core.errors import DataError, nearest
from genverify.core.limits import LIMITS, UNREADABLE, FileLimits, guarded_lines, one_line

LONGEST_LINE = 2**20
PACKED_OTHERWISE = (".zip", ".bz2", ".xz", ".zst", ".tar", ".tar.gz", ".tgz", ".7z")
UTF8, WINDOWS, WIDE = "utf-8-sig", "cp1252", "utf-16"
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
NO_TEXT = "is no text in UTF-8, UTF-16 or the Windows code page; save it as UTF-8 CSV"
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
LINES_LOOKED_AT = 200
INDENT = re.compile('\ufeff?"?([ \u00a0\u2003]*)')  # the blanks at the beginning of a line, inside quotation marks too


@dataclass(frozen=True)
class Expected:
    """What a file should be, as errors say it, with a hint where to look; and how much it may hold."""

    what: str = "CSV"
    hint: str = ""
    limits: FileLimits = LIMITS


@dataclass(frozen=True)
class CsvFile:
    """
    A file that was looked through once: how it is written, the names of its columns, and its empty lines.

    Frames are numbered by the lines of the file, as an editor shows them (one record to a line, empty lines passed over).
    """

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
        kept = {"dtype": str, "keep_default_na": False} if texts is None else {"dtype": dict.fromkeys(texts, str)}
        written = {"encoding": self.encoding, "sep": self.delimiter, "skipinitialspace": True}
        return {**kept, **written, "header": 0, "names": list(self.names), "usecols": wanted}

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
        head = [line.decode(errors="replace") for line in islice(_text_lines(path, expected.limits), LINES_LOOKED_AT)]
        head = [line for line in head if line.strip("\ufeff \t\r\n")]
        if not head:
            raise DataError(f"{path}: the file is empty")
        delimiter = delimiter_of(head)
        fields = len(next(csv.reader(head, delimiter=delimiter, skipinitialspace=True)))
        encoding, empty = _look_through(path, expected.limits, delimiter, fields)
        return CsvFile(path, expected, encoding, delimiter, _names(path, encoding, delimiter), empty)


def read_rows(path: Path, expected: Expected) -> tuple[list[tuple[int, list[str]]], str]:
    """
    The fields of a file that need not have a header, each row with its last line's number; and how it was read. Blanks
    around a field are taken off, except before the first: there they may say that a label is part of the one above it.
    """
    with naming_unreadable(path, expected):
        for _ in _text_lines(path, expected.limits):  # within the limits?
            pass
        text, encoding = _text(path)
        if not text.strip():
            raise DataError(f"{path}: the file is empty")
        delimiter = delimiter_of(text.splitlines())
        reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
        lines, rows, begins = StringIO(text, newline="").readlines(), list[tuple[int, list[str]]](), 0
        for row in reader:
            indent = INDENT.match(lines[begins]) if row and row[0].strip() else None
            first = [f"{indent[1] if indent else ''}{row[0].strip()}"] if row else []
            rows.append((reader.line_num, [*first, *(cell.strip() for cell in row[1:])]))
            begins = reader.line_num
    return rows, f"read as {encoding.removesuffix('-sig')}, separated by {DELIMITERS[delimiter]}"


def need_columns(path: Path | str, names: Iterable[Hashable], needed: Iterable[str], others: Sequence[str] = ()) -> None:
    """An error for the first column that is not there (nor under other names), with the one that was probably meant."""
    known = list(map(str, names))
    for name in needed:
        if name not in known:
            listed = " or ".join(map(repr, (name, *others)))
            raise DataError(f"{path}: has no column {listed}: {nearest(name, known)}")


def refuse_row(path: Path, values: "pd.Series[Any]", wrong: "npt.ArrayLike | pd.Series[bool]", problem: str) -> None:
    """An error that names the first wrong value of a column and its row, if there is one."""
    places = np.flatnonzero(np.asarray(wrong))
    if len(places):
        value = values.iloc[places[0]]
        shown = repr(value) if isinstance(value, str) else value
        raise DataError(f"{path}, row {values.index[places[0]]}: {values.name} {shown} {problem}")


@contextmanager
def naming_unreadable(path: Path, expected: Expected, *other: type[Exception]) -> Iterator[None]:
    """Turn what a reader says of a broken file into an error that names the file, what it should be, and a hint."""
    unreadable: tuple[type[Exception], ...] = (*UNREADABLE, *other)
    try:
        yield
    except unreadable as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else one_line(error)
        hint = f"; {expected.hint}" if expected.hint else ""
        raise DataError(f"{path}: cannot be read as {expected.what} ({reason}){hint}") from None


def decoded(raw: bytes, path: Path) -> tuple[str, str]:
    """The text of a file, and its encoding: UTF-16 by its mark, else UTF-8, else the Windows code page."""
    for encoding in (WIDE,) if raw.startswith(WIDE_MARKS) else (UTF8, WINDOWS):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text, encoding
    raise DataError(f"{path}: {NO_TEXT}")


def delimiter_of(lines: Sequence[str]) -> str:
    """
    The delimiter that cuts most of the first lines into the same number of fields, above one.

    >>> delimiter_of(["area;count", "1;2,5", "2;3,5"])
    ';'
    """
    looked_at = list(islice((line for line in lines if line.strip()), LINES_LOOKED_AT))

    def score(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in csv.reader(looked_at, delimiter=delimiter)]
        common = max(set(widths), key=widths.count)
        return (widths.count(common) if common > 1 else 0, common)

    return max(DELIMITERS, key=score)


def _look_through(path: Path, limits: FileLimits, delimiter: str, fields: int) -> tuple[str, npt.NDArray[np.int64]]:
    """The encoding, and the numbers of the empty lines; an error for a row of more fields than the header has."""
    empty: list[int] = []
    encoding, inside, mark = UTF8, False, delimiter.encode()
    blanks = b" \t\r\n".replace(mark, b"")
    for number, line in enumerate(_text_lines(path, limits), 1):
        if b"\0" in line:
            raise DataError(f"{path}: {NO_TEXT}")
        if encoding == UTF8 and not _is_utf8(line):
            encoding = WINDOWS
        if not line.strip(blanks):
            empty.append(number)
        odd = line.count(b'"') % 2 == 1  # a text in quotation marks begins here and ends in a later line, or the reverse
        if line.count(mark) >= fields and not (inside or odd) and (found := _fields(line, delimiter)) > fields:
            raise DataError(
                f"{path}, row {number}: {found} fields, but the header names {fields} columns; name each column, and leave "
                "out delimiters at the ends of lines"
            )
        inside ^= odd
    return (WIDE if _is_wide(path) else encoding), np.array(empty, dtype=np.int64)


def _fields(line: bytes, delimiter: str) -> int:
    return len(next(csv.reader([line.decode(errors="replace")], delimiter=delimiter, skipinitialspace=True)))


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _text_lines(path: Path, limits: FileLimits) -> Iterator[bytes]:
    """The lines of a file, in UTF-8 where they are in UTF-16."""
    other = next((end for end in PACKED_OTHERWISE if path.name.lower().endswith(end)), None)
    if other:
        raise DataError(f"{path}: {other} files are not read; give a CSV, plain or packed with gzip (.csv.gz)")
    row = "a row of a table. Give a CSV with one record to a line."
    lines = guarded_lines(path, LONGEST_LINE, limits, row, _packed(path))
    if not _is_wide(path):
        yield from lines
        return
    for _ in lines:  # within the limits?
        pass
    yield from (line.encode() for line in _text(path)[0].split("\n"))


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if _packed(path) else path.open("rb")  # type: ignore[return-value]


def _is_wide(path: Path) -> bool:
    with _opened(path) as file:
        return file.read(2) in WIDE_MARKS


def _text(path: Path) -> tuple[str, str]:
    with _opened(path) as file:
        return decoded(file.read(), path)


def _packed(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _names(path: Path, encoding: str, delimiter: str) -> tuple[str, ...]:
    """The names of columns, blanks taken off; an error for two equal ones: one of them would be taken silently."""
    with TextIOWrapper(_opened(path), encoding) as file:
        header = next(csv.reader((line for line in file if line.strip()), delimiter=delimiter, skipinitialspace=True))
    names = [name.strip() or f"Unnamed: {place}" for place, name in enumerate(header)]
    for name, times in Counter(names).items():
        if times > 1:
            raise DataError(f"{path}, line 1: {times} columns are called {name!r}; give each column its own name")
    return tuple(names)
