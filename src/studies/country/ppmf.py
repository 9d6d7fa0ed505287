"""The Privacy-Protected Microdata File (PPMF), of housing units or of persons, read as a stream."""

import csv
import io
import re
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from genverify.core.domain import Domain
from genverify.core.errors import DataError, nearest
from genverify.microdata.chunks import Chunk, in_order, open_text, read_chunks

GEOGRAPHY = {"TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4}
"""The fields that make a block id, in order, and how many digits each has."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: what it holds, its record types of housing units and of group quarters, and whether these are kept."""

    name: str
    housing_unit: int
    group_quarters: int
    keeps_group_quarters: bool = False

    @property
    def records(self) -> tuple[int, int]:
        return (self.housing_unit, self.group_quarters)


UNITS = Kind("unit", 2, 4)
PERSONS = Kind("person", 3, 5)


@dataclass(frozen=True)
class _Layout:
    """What the header of a file says."""

    path: Path
    header: tuple[str, ...]
    delimiter: str
    domain: Domain
    kind: Kind

    @property
    def needed(self) -> list[str]:
        return ["RTYPE", *GEOGRAPHY, *self.domain.names]


def read_ppmf(
    path: Path,
    domain: Domain,
    rejected: MutableMapping[str, int],
    progress: Callable[[int], None] | None = None,
    kind: Kind = UNITS,
) -> Iterator[pa.Table]:
    """
    The records of a PPMF file in its order: tables with a column `block` and the int8 columns of the domain.

    Rows left out are added to `rejected` by reason; `progress` is told how many rows were read so far.
    """
    domain.check_small()
    seen = 0
    with ExitStack() as stack:
        chunks = read_chunks(path, open_text(path, stack))
        layout, rest = _read_header(path, domain, kind, next(chunks, None))
        for table, dropped in in_order(partial(_decode, layout), chain(rest, chunks)):
            seen += table.num_rows + dropped
            if dropped:
                rejected["group quarters"] = rejected.get("group quarters", 0) + dropped
            if progress is not None:
                progress(seen)
            if table.num_rows:
                yield table
    if not seen:
        raise DataError(f"{path}: the header is there but no rows follow. Fetch the whole file again.")


def _read_header(path: Path, domain: Domain, kind: Kind, chunk: Chunk | None) -> tuple[_Layout, list[Chunk]]:
    """The layout that the first line which is no comment gives, and the rows of the chunk that follow it."""
    lines = io.BytesIO(chunk.data if chunk else b"")
    for number, line in enumerate(lines, start=1):
        text = line.decode("utf-8-sig", errors="replace").strip()
        if text and not text.startswith("#"):
            rest = lines.read()
            return _layout(path, number, text, domain, kind), [Chunk(number + 1, rest)] if rest else []
    raise DataError(f"{path}: no header line. The first line that is no # comment must name the columns.")


def _layout(path: Path, number: int, line: str, domain: Domain, kind: Kind) -> _Layout:
    where = f"{path}, row {number}"
    delimiter = max(",|", key=line.count)
    if delimiter not in line:
        other = next((f"by {mark!r}, " for mark in (";", "\t", " ") if mark in line), "")
        raise DataError(
            f"{where}: the header is separated {other}not by ',' or '|': {line[:60]!r}. Convert the file to either."
        )
    header = tuple(name.strip() for name in _fields(line, delimiter, where))
    for name in header:
        if header.count(name) > 1:
            raise DataError(f"{where}: the header names column {name!r} twice. Rename or drop one of the two.")
    layout = _Layout(path, header, delimiter, domain, kind)
    for name in layout.needed:
        if name not in header:
            raise DataError(f"{where}: the header has no column {name}: {nearest(name, list(header))}. Rename it.")
    return layout


def _decode(layout: _Layout, chunk: Chunk) -> tuple[pa.Table, int]:
    """The records of a chunk that are kept, and how many rows of group quarters are not."""
    rows = _parse(layout, chunk)
    if not rows:
        return pa.table({}), 0
    kind = layout.kind
    kinds = _numbers(rows["RTYPE"], kind.records)
    remedy = f"Use {kind.housing_unit} for a housing unit and {kind.group_quarters} for group quarters."
    _refuse(layout, chunk, rows, "RTYPE", kinds < 0, f"is not a record type of a {kind.name} file. {remedy}")
    units = (kinds == kind.housing_unit) | kind.keeps_group_quarters
    columns = {"block": _block_ids(layout, chunk, rows)}
    for column in layout.domain.columns:
        codes = _numbers(rows[column.name], column.codes)
        known = f"{column.label}: {_listed(column.codes)}"
        _refuse(
            layout, chunk, rows, column.name, (codes < 0) & units, f"is not a code of this column ({known}). Correct it."
        )
        columns[column.name] = pa.array(codes)
    table, kept = pa.table(columns), int(np.count_nonzero(units))
    return (table if kept == len(units) else table.filter(pa.array(units))), len(units) - kept


def _listed(codes: tuple[int, ...]) -> str:
    """The codes in words: one by one, or only the ends of a long range."""
    whole = len(codes) > 20 and codes == tuple(range(codes[0], codes[-1] + 1))
    return f"{codes[0]} to {codes[-1]}" if whole else ", ".join(map(str, codes))


def _parse(layout: _Layout, chunk: Chunk) -> dict[str, pa.Array]:
    """The needed fields of every row that is no comment, as they stand in the file; nothing if there is no row."""
    data = re.sub(rb"(?m)^#.*\n?", b"", chunk.data) if b"#" in chunk.data else chunk.data
    if not data or data.isspace():
        return {}
    try:
        table = pcsv.read_csv(
            pa.BufferReader(data),
            pcsv.ReadOptions(column_names=layout.header, use_threads=False, block_size=len(data) + 1),
            pcsv.ParseOptions(delimiter=layout.delimiter, quote_char='"' if b'"' in data else False),
            pcsv.ConvertOptions(include_columns=layout.needed, column_types=dict.fromkeys(layout.needed, pa.binary())),
        )
    except pa.ArrowInvalid as error:
        raise _bad_line(layout, chunk, error) from error
    if b'"' in data and table.num_rows != sum(1 for _ in _lines(chunk)):
        raise _bad_line(layout, chunk, ValueError("a quotation mark is opened and not closed on the same row"))
    return {name: pa.concat_arrays(table[name].chunks) for name in layout.needed}


def _numbers(texts: pa.Array, codes: tuple[int, ...]) -> npt.NDArray[np.int8]:
    """The code that each text writes, with or without leading zeros; -1 where it is none of the codes."""
    for width in (1, 2):
        if (letters := _letters(texts, width)) is not None:
            return np.take(_code_table(codes, width), letters.view(f"<u{width}").ravel())
    distinct = texts.dictionary_encode()
    known = [
        int(text) if text.isdigit() and len(text) < 10 and int(text) in codes else -1
        for text in distinct.dictionary.to_pylist()
    ]
    places: npt.NDArray[np.int32] = distinct.indices.to_numpy()
    return np.array(known, dtype=np.int8)[places]


@cache
def _code_table(codes: tuple[int, ...], width: int) -> npt.NDArray[np.int8]:
    """The code of every text of a given number of letters, at the index that its bytes spell as a number."""
    # The file has very many short fields of fixed width: their bytes are read as one integer, which is looked up here, and
    # neither text nor number is ever made of a field. What is no code is -1, and is named later.
    table = np.full(256**width, -1, dtype=np.int8)
    for code in codes:
        if len(text := b"%0*d" % (width, code)) == width:
            table[int.from_bytes(text, "little")] = code
    return table


def _letters(texts: pa.Array, width: int) -> npt.NDArray[np.uint8] | None:
    """The bytes of each text as a row, if all texts have that width."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    if not (np.diff(offsets) == width).all():
        return None
    return np.frombuffer(texts.buffers()[2], np.uint8)[offsets[0] : offsets[-1]].reshape(-1, width)


def _block_ids(layout: _Layout, chunk: Chunk, rows: dict[str, pa.Array]) -> pa.Array:
    """State, county, tract and block, joined."""
    parts: list[Any] = []
    for name, width in GEOGRAPHY.items():
        parts.append(_letters(rows[name], width))
        if parts[-1] is None or parts[-1].min() < ord("0") or parts[-1].max() > ord("9"):
            right = pc.match_substring_regex(rows[name], f"^[0-9]{{{width}}}$").to_numpy(zero_copy_only=False)
            _refuse(layout, chunk, rows, name, ~right, f"is not {width} digits. Give all of them, leading zeros too.")
    digits = np.hstack(parts)
    offsets = np.arange(len(digits) + 1, dtype=np.int32) * np.int32(digits.shape[1])
    return pa.Array.from_buffers(pa.string(), len(digits), [None, pa.py_buffer(offsets), pa.py_buffer(digits)])


def _refuse(
    layout: _Layout, chunk: Chunk, rows: dict[str, pa.Array], name: str, wrong: npt.NDArray[np.bool_], why: str
) -> None:
    """An error that names the first wrong row, if there is one."""
    if wrong.any():
        place = int(np.argmax(wrong))
        number, _ = next(islice(_lines(chunk), place, None))
        text = rows[name][place].as_py()[:40].decode(errors="replace")
        raise DataError(f"{layout.path}, row {number}: {name} {text!r} {why}")


def _fields(line: str, delimiter: str, where: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        raise DataError(f"{where}: not a row of fields ({error}): {line[:40]!r}. Correct the row.") from None


def _lines(chunk: Chunk) -> Iterator[tuple[int, str]]:
    """The rows of a chunk with their numbers in the file, counting header, comments and empty lines."""
    for number, line in enumerate(chunk.data.decode("utf-8", errors="replace").split("\n"), start=chunk.first):
        text = line.rstrip("\r")
        if text and not text.startswith("#"):
            yield number, text


def _bad_line(layout: _Layout, chunk: Chunk, error: Exception) -> DataError:
    """What is wrong with the lines that could not be split into fields."""
    for number, line in _lines(chunk):
        fields = len(_fields(line, layout.delimiter, f"{layout.path}, row {number}"))
        if fields != len(layout.header):
            return DataError(
                f"{layout.path}, row {number}: {fields} fields but the header has {len(layout.header)}: {line[:40]!r}. "
                "Correct the row, or fetch the file again if it breaks off here."
            )
    last = chunk.first + chunk.data.count(b"\n")
    return DataError(f"{layout.path}, rows {chunk.first} to {last}: {error}. Correct these rows.")
