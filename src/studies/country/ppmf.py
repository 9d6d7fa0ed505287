"""The Privacy-Protected Microdata File, read as a stream, checked, and written in its layout."""

import argparse
import csv
import io
import os
import re
import zipfile
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from genverify.model.domain import Domain, read_domain
from genverify.model.errors import DataError, nearest

# Large text files as a stream of chunks of whole lines, worked on by a few threads, in order.

CHUNK_BYTES = 8 * 2**20  # bounds memory; a longer line is refused as no text file
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Chunk:
    """Whole lines of a file, and the number of the first one."""

    first: int
    data: bytes


def open_text(path: Path, stack: ExitStack) -> Any:
    """The text of the file as a stream of bytes; gzip and zip are known by their first bytes."""
    if not path.is_file():
        raise DataError(f"{path}: no such file. Check the path, or fetch the file first.")
    with path.open("rb") as stream:
        magic = stream.read(4)
    if not magic:
        raise DataError(f"{path}: the file is empty (0 bytes). Fetch it again.")
    if magic.startswith(b"\x1f\x8b"):
        return stack.enter_context(pa.input_stream(str(path), compression="gzip"))
    if magic != b"PK\x03\x04":
        return stack.enter_context(path.open("rb"))
    try:
        archive = stack.enter_context(zipfile.ZipFile(path))
    except zipfile.BadZipFile as error:
        raise DataError(f"{path}: a broken or truncated zip file ({error}). Fetch it again.") from error
    members = [member.filename for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        raise DataError(
            f"{path}: the zip holds {len(members)} files ({', '.join(members)}). Give one that holds a single file."
        )
    return stack.enter_context(archive.open(members[0]))


def read_chunks(path: Path, stream: Any) -> Iterator[Chunk]:
    """The lines of a stream, a few megabytes at a time, numbered from 1."""
    first, data = 1, b""
    while more := _read_bytes(path, stream, first):
        data += more
        end = data.rfind(b"\n") + 1
        if not end and len(data) > CHUNK_BYTES:
            raise DataError(f"{path}, row {first}: no end of line within {len(data)} bytes. Give a text file.")
        if end:
            yield Chunk(first, data[:end])
            first += data.count(b"\n", 0, end)
            data = data[end:]
    if data:
        yield Chunk(first, data)


def _read_bytes(path: Path, stream: Any, first: int) -> bytes:
    try:
        return bytes(stream.read(CHUNK_BYTES))
    except (OSError, EOFError, zipfile.BadZipFile, pa.ArrowException) as error:
        message = f"{path}: the compressed data break off or are damaged after row {first - 1} ({error}). Fetch it again."
        raise DataError(message) from error


def in_order(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """`map` with threads that runs only a few items ahead."""
    threads = min(4, os.cpu_count() or 1)
    waiting: deque[Future[_Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


# The Privacy-Protected Microdata File (PPMF), of housing units or of persons, read as a stream.

GEOGRAPHY = {"TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4}
"""The fields that make a block id, in order, and how many digits each has."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: what it holds, its record types of housing units and of group quarters, and whether these are kept."""

    name: str
    housing_unit: int
    group_quarters: int
    keeps_group_quarters: bool = False


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
    """The layout that the header gives, and the rows of the chunk that follow it."""
    number, text, rest = _header_line(path, chunk)
    return _layout(path, number, text, domain, kind), [Chunk(number + 1, rest)] if rest else []


def _header_line(path: Path, chunk: Chunk | None) -> tuple[int, str, bytes]:
    """The first line that is no comment: its number, its text and what follows."""
    lines = io.BytesIO(chunk.data if chunk else b"")
    for number, line in enumerate(lines, start=1):
        text = line.decode("utf-8-sig", errors="replace").strip()
        if text and not text.startswith("#"):
            return number, text, lines.read()
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
    missing = [f"{name}: {nearest(name, list(header))}" for name in layout.needed if name not in header]
    if missing:
        raise DataError(f"{where}: the header has no column {'; no column '.join(missing)}. Rename what is there.")
    return layout


def _decode(layout: _Layout, chunk: Chunk) -> tuple[pa.Table, int]:
    """The records of a chunk that are kept, and how many rows of group quarters are not."""
    rows = _parse(layout, chunk)
    if not rows:
        return pa.table({}), 0
    kind = layout.kind
    kinds = _numbers(rows["RTYPE"], (kind.housing_unit, kind.group_quarters))
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


# A user's PPMF file against the layout that is read, before anything is run.
#
# The names of the columns and the record types follow the published description of the file; they are unconfirmed until a
# real file was read. So every name that is missing is listed, with the nearest one of the file, and every code that never
# occurs.


def check_layout(path: Path, domain_file: Path, persons: bool, rows: int) -> Iterator[str]:
    """What the file is, line by line; an error that lists every missing column, or names the first wrong row."""
    domain = read_domain(domain_file).domain
    kind = replace(PERSONS, keeps_group_quarters=True) if persons else UNITS
    with ExitStack() as stack:
        layout, _ = _read_header(path, domain, kind, next(read_chunks(path, open_text(path, stack)), None))
    yield f"{path}: {kind.name} file, {len(layout.header)} columns separated by {layout.delimiter!r}"
    unread = _some(set(layout.header) - set(layout.needed))
    yield f"all {len(layout.needed)} columns that are read are there; not read: {unread}"
    rejected, seen, blocks = Counter[str](), 0, set[str]()
    codes: dict[str, set[int]] = {name: set() for name in domain.names}
    for table in read_ppmf(path, domain, rejected, kind=kind):
        seen += table.num_rows
        blocks.update(table["block"].unique().to_pylist())
        for name in domain.names:
            codes[name].update(np.unique(table[name].to_numpy()).tolist())
        if rows and seen >= rows:
            break
    part = "the first " if rows and seen >= rows else "all "
    states = len({block[:2] for block in blocks})
    yield f"{part}{seen:,} records: {len(blocks):,} blocks in {states} states; left out: {dict(rejected) or 'none'}"
    unseen = {name: sorted(set(domain[name].codes) - found) for name, found in codes.items()}
    told = "; ".join(f"{name} {_some(own)}" for name, own in unseen.items() if own)
    yield f"codes that no record of these has: {told or 'none'}"
    yield "The file can be read. Name it in config.yaml (microdata.ppmf) and set microdata.source: ppmf."


def _some(values: Collection[Any]) -> str:
    shown = sorted(values)
    return (", ".join(map(str, shown[:8])) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "")) or "none"


# Files in the layout of the PPMF of housing units or of persons, so that its reader can be tried on other microdata.

UNIT_FIELDS = """
SCHEMA_TYPE_CODE SCHEMA_BUILD_ID TABBLKST TABBLKCOU TABTRACTCE TABBLKGRPCE TABBLK RTYPE GQTYPE TEN VACS HHSIZE HHT HHT2
CPLT UPART MULTG THHLDRAGE THHSPAN THHRACE PAOC TP18 TP60 TP65 TP75 PAC HHSEX
"""
PERSON_FIELDS = """
SCHEMA_TYPE_CODE SCHEMA_BUILD_ID TABBLKST TABBLKCOU TABTRACTCE TABBLKGRPCE TABBLK EPNUM RTYPE GQTYPE RELSHIP QSEX QAGE
CENHISP CENRACE LIVE_ALONE
"""


@dataclass(frozen=True)
class RecordLayout:
    """
    The fields of a file and which of them the microdata tell, with the width that their codes are padded to. The others
    hold what `neutral` says, or 0 (not in universe).
    """

    fields: tuple[str, ...]
    columns: Mapping[str, int]
    neutral: Mapping[str, str]


UNIT_RECORD = RecordLayout(
    tuple(UNIT_FIELDS.split()),
    dict.fromkeys(("TEN", "VACS", "HHSIZE", "HHT", "THHSPAN", "THHLDRAGE", "TP18", "TP65"), 1) | {"HHT2": 2, "THHRACE": 2},
    {"SCHEMA_TYPE_CODE": "MUD", "RTYPE": str(UNITS.housing_unit), "GQTYPE": "000"},
)
PERSON_RECORD = RecordLayout(
    tuple(PERSON_FIELDS.split()),
    {"QSEX": 1, "QAGE": 1, "CENHISP": 1, "CENRACE": 2},
    {"SCHEMA_TYPE_CODE": "MPD", "RTYPE": str(PERSONS.housing_unit), "GQTYPE": "000", "EPNUM": "999999999", "RELSHIP": "99"}
    | {"LIVE_ALONE": "9"},
)

_SLICES = {"TABBLKST": (0, 2), "TABBLKCOU": (2, 5), "TABTRACTCE": (5, 11), "TABBLKGRPCE": (11, 12), "TABBLK": (11, 15)}
_MALE = {"HHT": (2, 4, 5), "HHT2": (9, 10, 11, 12)}
_FEMALE = {"HHT": (3, 6, 7), "HHT2": (5, 6, 7, 8)}


def write_ppmf(tables: Iterable[pa.Table], path: Path, delimiter: str = "|", layout: RecordLayout = UNIT_RECORD) -> int:
    """Write records in the layout of the unit or the person file (gzip or zip by the name of the file); how many rows."""
    rows = 0
    part = path.with_name(path.name + ".part")
    options = pcsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none", batch_size=65536)
    with ExitStack() as leftover:
        leftover.callback(part.unlink, missing_ok=True)
        with ExitStack() as stack:
            sink = _create(path, part, stack)
            sink.write((delimiter.join(layout.fields) + "\n").encode())
            for table in tables:
                pcsv.write_csv(_records(path, table, layout), sink, options)
                rows += table.num_rows
        part.replace(path)
    return rows


def _create(path: Path, part: Path, stack: ExitStack) -> Any:
    """A stream into a new file; the same rows give the same bytes."""
    if path.suffix == ".zip":
        archive = stack.enter_context(zipfile.ZipFile(part, "w"))
        member = zipfile.ZipInfo(path.with_suffix("").name)
        member.compress_type = zipfile.ZIP_DEFLATED
        return stack.enter_context(archive.open(member, "w", force_zip64=True))
    return stack.enter_context(pa.output_stream(str(part), compression="gzip" if path.suffix == ".gz" else None))


def _records(path: Path, table: pa.Table, layout: RecordLayout) -> pa.Table:
    """The fields of each record as text."""
    for name in ("block", *layout.columns):
        if name not in table.column_names:
            raise DataError(f"{path}: records without column {name}: {nearest(name, table.column_names)}. Add it.")
    block = table["block"].cast(pa.string())
    fields = {name: pa.repeat(layout.neutral.get(name, "0"), table.num_rows) for name in layout.fields}
    fields |= {name: pc.utf8_slice_codeunits(block, *ends) for name, ends in _SLICES.items()}
    for name, width in layout.columns.items():
        fields[name] = pa.array([f"{code:0{width}d}" for code in range(128)]).take(table[name])
    if "HHSEX" in fields:
        fields["HHSEX"] = pc.coalesce(_sex(table, "HHT"), _sex(table, "HHT2"), pa.scalar("0"))
    return pa.table(fields)


def _sex(table: pa.Table, name: str) -> pa.ChunkedArray:
    """The sex of the householder (1 male, 2 female), null where the household type does not tell it."""
    texts = ["1" if code in _MALE[name] else "2" if code in _FEMALE[name] else None for code in range(128)]
    return pa.array(texts).take(table[name])


# The command `check-ppmf`.


def add_parser(commands: Any) -> None:
    layout = commands.add_parser("check-ppmf")
    layout.add_argument("file", type=Path, help="the unit or the person file (.csv, .txt, .gz or .zip)")
    layout.add_argument("--persons", action="store_true", help="it is the person file")
    layout.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="rows that are read (%(default)s; 0: all)")
    layout.add_argument("--domain", type=Path, help="columns and codes (as config.yaml names them)")
    layout.set_defaults(run=_check_ppmf)


def _check_ppmf(options: argparse.Namespace) -> None:
    from genverify.run.config import parse_config, read_shipped, section
    from studies.country.settings import Microdata, Persons

    config = parse_config(read_shipped(Path()))
    shipped = section(config, Persons).domain if options.persons else section(config, Microdata).domain
    for line in check_layout(options.file, options.domain or Path(shipped), options.persons, options.rows):
        print(line)
