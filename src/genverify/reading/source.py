"""A file as its cells: sheets of workbooks, texts and files of other tools, or the cube of a PC-Axis or JSON-stat file."""

import csv
import hashlib
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache, cached_property, reduce
from importlib import import_module
from math import prod
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from genverify.model import files
from genverify.model.errors import MALFORMED, ConfigError, DataError, naming, needed, refusing
from genverify.model.files import LIMITS, FileLimits, decode, one_line, refuse_duplicates, regular_file
from genverify.reading.numerals import displayed_decimal

Grid = list[list[str]]
HOME = "genverify.reading"
NO_VALUE = "=(no value)"  # what stands for a formula whose value the file does not hold: never a number, never empty
MOST_CELLS = 20_000_000  # of one sheet or cube, empty ones too: a file can name more than it holds
MOST_COLUMNS = 16_384  # what a spreadsheet program allows
LONGEST_CELL = 1_000_000  # characters; the csv module stops at 131,072, and notes can be longer
SNIFFED_LINES = 200  # of a text in which the delimiter is looked for: notes above a table are shorter
SHEET_XML = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
PX_STATEMENT = re.compile(
    r'(?i)\s*(?<![A-Z0-9_-])([A-Z][A-Z0-9_-]{0,40})(?:\[([\w-]+)\])?(?:\(((?:\s*"[^"]*"\s*,?)*)\))?\s*=\s*((?:"[^"]*"|[^";])*);'
)
PX_TEXT = re.compile(r'"([^"]*)"')
PX_VALUE = re.compile(r'"[^"]*"|[^\s;,"]+')


class CellAddress(NamedTuple):
    """
    Where a cell stands: the name of its file in the reading, its sheet, row and column from 0. The values of a cube have no
    sheet; their number is the row.

    >>> CellAddress("a.csv", "a", 4, 1).place, CellAddress("b.px", "", 2, 0).place
    ('a!B5', 'value 3')
    """

    file: str
    sheet: str
    row: int
    column: int

    @property
    def place(self) -> str:
        return f"{self.sheet}!{column_name(self.column)}{self.row + 1}" if self.sheet else f"value {self.row + 1}"


@dataclass(frozen=True)
class Sheet:
    """The texts of a sheet by row and column, and what a reader of the page sees beside them."""

    name: str
    rows: Grid
    hidden: bool = False
    hidden_rows: frozenset[int] = frozenset()
    hidden_columns: frozenset[int] = frozenset()
    indents: Mapping[tuple[int, int], int] = field(default_factory=dict)
    merged: tuple[tuple[int, int, int, int], ...] = ()

    @cached_property
    def covered(self) -> Mapping[tuple[int, int], tuple[int, int]]:
        """The cells that are merged with one above or at their left, and which."""
        return {(row, column): (top, left) for top, left, bottom, right in self.merged
                for row in range(top, bottom + 1) for column in range(left, right + 1)}  # fmt: skip


@dataclass(frozen=True)
class CubeAxis:
    """An axis of a cube: its labels and codes in order, whether it is time or measures, and the label that is a total."""

    name: str
    labels: tuple[str, ...]
    codes: tuple[str, ...] = ()
    kind: str = ""
    total: str = ""


@dataclass(frozen=True)
class Cube:
    """A table whose file says itself what its axes are; the last axis runs fastest through `texts`."""

    title: str
    axes: tuple[CubeAxis, ...]
    texts: tuple[str, ...]
    notes: tuple[str, ...] = ()
    units: str = ""
    symbols: Mapping[str, str] = field(default_factory=dict)
    left_out: str = ""


@dataclass(frozen=True)
class Source:
    """A file that was read: its name and digest, how, and its sheets or its cube; `said` is what a user should know."""

    name: str
    sha256: str
    form: str
    sheets: tuple[Sheet, ...] = ()
    cube: Cube | None = None
    said: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # what the file holds beside its cells
    roles: Mapping[str, str] = field(default_factory=dict)  # what its format says of columns, by their headers
    totals: Mapping[str, str] = field(default_factory=dict)
    hierarchies: Mapping[str, tuple[Path, str]] = field(default_factory=dict)  # a .hrc file and its lead string
    path: Path | None = None  # where it lies
    earlier: bool = False  # it was published before


def make_source(path: Path, data: bytes, form: str, sheets: Iterable[Sheet] = (), **about: Any) -> Source:
    """A source of the sheets of a file, or of its cube."""
    return Source(path.name, hashlib.sha256(data).hexdigest(), form, tuple(sheets), **about)


@cache
def sources() -> dict[str, Callable[[Path, bytes, FileLimits], Source]]:
    """What reads the files of an ending, from the tables SOURCES of all modules beside this one: no list names them."""
    result: dict[str, Callable[[Path, bytes, FileLimits], Source]] = {}
    for one in iter_modules(import_module(HOME).__path__):
        if re.search(rb"^SOURCES\b", (Path(__file__).parent / f"{one.name}.py").read_bytes(), re.MULTILINE):
            module = import_module(f"genverify.reading.{one.name}")
            for end, reader in module.SOURCES.items():
                if end in result:
                    raise ConfigError(f"{module.__name__} and {result[end].__module__} both read files that end in {end}")
                result[end] = reader
    return result


def files_of(paths: Sequence[Path]) -> Iterator[Path]:
    """The files of some paths: of a folder, those that hold tables; what another file names is read with that one."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        if session := [file for file in files if file.name == "results.json"]:
            yield from session
            continue
        tabs = {file.stem for file in files if file.suffix == ".tab"}
        held = [f for f in files if f.suffix.lower() in sources() and not (f.suffix == ".rda" and f.stem in tabs)]
        if not held:
            raise DataError(f"{path}: holds no file of tables; known: {', '.join(sources())}")
        yield from held


def column_name(at: int) -> str:
    """The letters of a column, from A for 0."""
    return (column_name(at // 26 - 1) if at >= 26 else "") + chr(65 + at % 26)


def numbered(names: Sequence[str]) -> list[str]:
    """Names, with a number where one stands a second time."""
    often = Counter[str]()
    result = list[str]()
    for name in names:
        often[name] += 1
        result.append(name if often[name] == 1 else f"{name} ({often[name]})")
    return result


def cell_place(sheet: Sheet, column: int, at: int) -> str:
    """Where a cell stands, as a person finds it."""
    return f"{sheet.name}!{column_name(column)}{at + 1}"


def column_at(name: str) -> int:
    """The column of these letters, from 0; an error where they are none."""
    if not re.fullmatch(r"[A-Za-z]{1,3}", name):
        raise DataError(f"{name!r} is not a column: columns are called A, B, ..., AA")
    return reduce(lambda at, letter: at * 26 + ord(letter) - 64, name.upper(), 0) - 1


def read_source(path: Path, limits: FileLimits = LIMITS) -> Source:
    """The cells of a file; an error only where the file as a whole cannot be opened."""
    with naming(path):
        with refusing(OSError, "cannot be read", "check the path"):
            data = _bytes_of(path, limits)
        packed = data[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
        return (read_workbook if packed else sources().get(path.suffix.lower(), read_text))(path, data, limits)


def _bytes_of(path: Path, limits: FileLimits) -> bytes:
    limits.check(path, 0, regular_file(path, "give the path of a file").stat().st_size)
    return path.read_bytes()


def read_text(path: Path, data: bytes, limits: FileLimits) -> Source:
    """A text with cells between delimiters; or JSON, whatever the file is called."""
    text, encoding = decode(data)
    if text[:200].lstrip().startswith("{"):
        return read_json(path, data, limits)
    raw, delimiter = text_rows(text)
    limits.check(path, len(raw), len(data))
    rows, indents = _stripped(raw)
    said: tuple[str, ...] = () if encoding == "utf-8" else (f"the text is not UTF-8: read as {encoding}",)
    said += tuple(_read_as_displayed(rows))
    sheet = Sheet(path.stem, rows, indents=indents)
    return make_source(path, data, f"text, cells between {delimiter!r}", [sheet], said=said)


def _read_as_displayed(rows: Grid) -> Iterator[str]:
    """Binary fractions among the cells become the decimals that a person sees; says how many, with the first."""
    displayed = {text: shorter for row in rows for text in row if (shorter := displayed_decimal(text)) != text}
    changed = sum(text in displayed for row in rows for text in row) if displayed else 0
    for row in rows if displayed else ():
        row[:] = [displayed.get(text, text) for text in row]
    for first, shorter in list(displayed.items())[:1]:
        yield f"{changed:,} numbers are stored as binary fractions, such as {first}; read as {shorter} and so on"


def _stripped(raw: Sequence[Sequence[str]]) -> tuple[Grid, dict[tuple[int, int], int]]:
    """Cells without the spaces around them, and how many stand before a text: indentation is part of the page."""
    rows, indents = list[list[str]](), dict[tuple[int, int], int]()
    for at, row in enumerate(raw):
        own = [cell.strip() for cell in row]
        for column, (cell, text) in enumerate(zip(row, own, strict=True)):
            if cell != text and text and text[0].isalpha() and (spaces := len(cell) - len(cell.lstrip())):
                indents[at, column] = spaces
        rows.append(own)
    return rows, indents


def text_rows(text: str) -> tuple[Grid, str]:
    """The rows of a text file; its delimiter is the one that cuts most lines into the same number of cells."""
    text = text.replace("\x00", "")
    head = "".join(text.splitlines(keepends=True)[:SNIFFED_LINES])
    before, delimiter = csv.field_size_limit(LONGEST_CELL), ","  # of the whole process: other readers keep theirs
    try:
        delimiter = files.delimiter_of(list(io.StringIO(head, newline="")))
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        rows = [line.split(delimiter) for line in text.splitlines()]
    finally:
        csv.field_size_limit(before)
    return [row[:MOST_COLUMNS] for row in rows], delimiter


def read_workbook(path: Path, data: bytes, limits: FileLimits) -> Source:
    """The sheets of a workbook, hidden ones too, with what a reader of the page sees beside its cells."""
    calamine = needed("python_calamine", f"{path}: a workbook", "or save the sheet as CSV")
    marks: dict[str, dict[str, Any]] = {}
    said: list[str] = []
    comments = 0
    if data[:2] == b"PK":
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                limits.check(path, 0, sum(part.file_size for part in packed.infolist()))
                marks = _seen_on_the_page(packed)
                for name in packed.namelist():
                    if re.fullmatch(r"xl/(comments|threadedComments)/?.*\.xml", name):
                        comments += len(re.findall(rb"<(?:\w+:)?(?:comment|threadedComment) ", packed.read(name)))
        except (*files.UNREADABLE, zipfile.BadZipFile, ElementTree.ParseError, KeyError, RuntimeError) as error:
            said.append(f"indentation, hidden rows and formulas without a value cannot be seen ({one_line(error)})")
    if not marks and not said:
        said.append("of this format, indentation, hidden rows and formulas without a value are not seen")
    # the library has one class of error for each format, and panics of its own
    with refusing(Exception, "cannot be opened as a workbook", "save it again or as CSV"):
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    sheets, left = list[Sheet](), [f"{comments} cell comments"] if comments else list[str]()
    for about in book.sheets_metadata:
        height, width = marks.get(about.name, {}).pop("size", (0, 0))
        try:
            if height * width > MOST_CELLS:  # measured first: the library would ask for memory for all of them
                raise DataError(f"it reaches to {column_name(width - 1)}{height}, over {MOST_CELLS:,} cells")
            sheet = book.get_sheet_by_name(about.name)
            if sheet.total_height * sheet.total_width > MOST_CELLS or sheet.total_width > MOST_COLUMNS:
                raise DataError(f"it spans more than {MOST_CELLS:,} cells")
            rows, spaces = _stripped([[cell_text(value) for value in row] for row in sheet.to_python(skip_empty_area=False)])
            merged = tuple((a, b, c, d) for (a, b), (c, d) in sheet.merged_cell_ranges or ())
        except Exception as error:
            why = error if isinstance(error, DataError) else f"it cannot be read ({one_line(error)})"
            left.append(f"sheet {about.name!r}: {why}")
            continue
        own = dict(marks.get(about.name, {}))
        own["indents"] = own.get("indents") or spaces
        for row, column in own.pop("shares", ()):  # 0.4 that the page shows as 40 %
            if row < len(rows) and column < len(rows[row]) and re.fullmatch(r"-?\d+(\.\d+)?", rows[row][column]):
                rows[row][column] = f"{(Decimal(rows[row][column]) * 100).normalize():f}%"
        for row, column in own.pop("broken", ()):
            rows += [[] for _ in range(len(rows), row + 1)]
            rows[row] += [""] * (column + 1 - len(rows[row]))
            rows[row][column] = rows[row][column] or NO_VALUE
        sheets.append(Sheet(about.name, rows, not str(about.visible).endswith("Visible"), merged=merged, **own))
    if not sheets and left:
        raise DataError(f"no sheet of this workbook can be read: {'; '.join(left)}")
    return make_source(path, data, "workbook", sheets, said=tuple(said), left_out=tuple(left))


def cell_text(value: object) -> str:
    """A value of a workbook or a frame as it would be printed: no decimals of whole numbers, no time of a day."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    return value.isoformat() if isinstance(value, date) else str(value)


def _seen_on_the_page(packed: zipfile.ZipFile) -> dict[str, dict[str, Any]]:
    """Of an .xlsx file, by sheet: indentation, hidden rows and columns, and cells whose value is an error or missing."""
    indent, percent = list[int](), list[bool]()
    if "xl/styles.xml" in packed.namelist():
        styles = ElementTree.fromstring(packed.read("xl/styles.xml"))
        signs = {own.get("numFmtId") for own in styles.iter(f"{SHEET_XML}numFmt") if "%" in own.get("formatCode", "")}
        for form in styles.iterfind(f"{SHEET_XML}cellXfs/{SHEET_XML}xf"):
            alignment = form.find(f"{SHEET_XML}alignment")
            indent.append(0 if alignment is None else int(alignment.get("indent", "0")))
            percent.append(form.get("numFmtId") in {"9", "10", *signs})  # 9 and 10 are 0% and 0.00%
    result = {}
    for name, part in sheet_parts(packed).items():
        with packed.open(part) as file:
            result[name] = _page_of(file, indent, percent)
    return result


def sheet_parts(packed: zipfile.ZipFile) -> dict[str, str]:
    """The sheets of an .xlsx file, and the part of the archive that holds each."""
    names = packed.namelist()
    if "xl/workbook.xml" not in names:
        return {}
    relations = ElementTree.fromstring(packed.read("xl/_rels/workbook.xml.rels"))
    target = {one.get("Id"): str(one.get("Target")).removeprefix("/xl/") for one in relations}
    sheets = ElementTree.fromstring(packed.read("xl/workbook.xml")).iter(f"{SHEET_XML}sheet")
    parts = {str(sheet.get("name")): "xl/" + target.get(sheet.get(RELATION), "") for sheet in sheets}
    return {name: part for name, part in parts.items() if part in names}


def _page_of(file: Any, indent: Sequence[int], percent: Sequence[bool]) -> dict[str, Any]:
    rows, columns, broken, shares = set[int](), set[int](), set[tuple[int, int]](), set[tuple[int, int]]()
    indents: dict[tuple[int, int], int] = {}
    last_row = last_column = 0
    for _, part in ElementTree.iterparse(file):
        hidden = part.get("hidden") in ("1", "true")
        if part.tag == f"{SHEET_XML}c":
            style, name, value = int(part.get("s", "0")), part.get("r", ""), part.find(f"{SHEET_XML}v")
            deep = indent[style] if style < len(indent) else 0
            bad = part.get("t") == "e" or (part.find(f"{SHEET_XML}f") is not None and (value is None or value.text is None))
            filled = value is not None or part.find(f"{SHEET_XML}is") is not None
            if name and (filled or deep or bad):
                letters = name.rstrip("0123456789")
                place = int(name[len(letters) :]) - 1, column_at(letters)
                if filled:
                    last_row, last_column = max(last_row, place[0] + 1), max(last_column, place[1] + 1)
                if deep:
                    indents[place] = deep
                if bad:
                    broken.add(place)
                elif value is not None and style < len(percent) and percent[style]:
                    shares.add(place)
        elif part.tag == f"{SHEET_XML}row" and hidden and part.get("r"):
            rows.add(int(part.get("r", "1")) - 1)
        elif part.tag == f"{SHEET_XML}col" and hidden:
            columns |= set(range(int(part.get("min", "1")) - 1, min(int(part.get("max", "1")), MOST_COLUMNS)))
        if part.tag in (f"{SHEET_XML}c", f"{SHEET_XML}row"):
            part.clear()
    return {"hidden_rows": frozenset(rows), "hidden_columns": frozenset(columns), "indents": indents,
            "broken": frozenset(broken), "shares": shares, "size": (last_row, last_column)}  # fmt: skip


def px_text(data: bytes) -> tuple[str, str, int]:
    """The text of a PC-Axis file, its encoding, and where its values begin."""
    text, encoding = decode(data)
    page = re.search(r'CODEPAGE\s*=\s*"([\w-]+)"', text)
    if page and page[1].lower() not in ("utf-8", "utf8"):
        with suppress(LookupError):
            text, encoding = data.decode(page[1], errors="replace"), page[1]
    start = re.search(r"(?:^|;)\s*DATA\s*=", text)
    return text, encoding, start.end() if start else len(text)


def read_px(data: bytes) -> Cube:
    """A PC-Axis file, also with a `;` after every row of data, without the last one, or with words for its symbols."""
    text, _, start = px_text(data)
    own: dict[tuple[str, str], tuple[str, ...]] = {}
    notes = list[str]()
    for statement in PX_STATEMENT.finditer(text[:start]):
        key, language, of, said = statement.groups()
        key, named = key.upper(), PX_TEXT.findall(of or "")
        texts = tuple(PX_TEXT.findall(said)) or (said.strip(),)
        if language or key not in ("VALUES", "CODES"):
            notes += texts if key in ("VALUES", "CODES", "TIMEVAL", "STUB", "HEADING", "LANGUAGES") else ["".join(texts)]
        if not language:
            own.setdefault((key, named[0] if len(named) == 1 else ""), texts)

    def listed(key: str, of: str = "") -> tuple[str, ...]:
        return own.get((key, of), ())

    def joined(key: str, of: str = "") -> str:
        return "".join(listed(key, of))

    axes = list[CubeAxis]()
    for name in listed("STUB") + listed("HEADING"):
        labels, total = listed("VALUES", name), joined("ELIMINATION", name)
        kind = "time" if ("TIMEVAL", name) in own else "measure" if name in listed("CONTVARIABLE") else ""
        axes.append(CubeAxis(name.strip(), labels, listed("CODES", name), kind, total if total in labels else ""))
    texts = tuple(token.strip('"') for token in PX_VALUE.findall(text, start))
    words = {**{"." * at: joined(f"DATASYMBOL{at}") for at in range(1, 7)}, "-": joined("DATASYMBOLNIL")}
    symbols = {symbol: said for symbol, said in words.items() if said}
    cube = Cube(joined("TITLE") or joined("CONTENTS"), tuple(axes), texts, tuple(notes), joined("UNITS"), symbols)
    return _checked(cube, "KEYS (cells by name) are not read" if any(key == "KEYS" for key, _ in own) else "")


def _checked(cube: Cube, why: str = "") -> Cube:
    """The cube; where its cells are not as many as its labels say, a word why they are left out."""
    sizes = [len(axis.labels) for axis in cube.axes]
    if not why and (not cube.axes or 0 in sizes):
        why = "no axis with labels is named"
    if not why and prod(sizes) != len(cube.texts):
        why = f"{len(cube.texts):,} cells are printed, but the labels make {prod(sizes):,}"
    return replace(cube, left_out=why)


def read_json(path: Path, data: bytes, limits: FileLimits) -> Source:
    """A JSON-stat dataset, of version 1 or 2, with the status of its values; or the outputs of an acro session."""
    with refusing((ValueError, RecursionError), "not valid JSON"):
        content = json.loads(decode(data)[0], object_pairs_hook=refuse_duplicates)
    if isinstance(content, dict) and isinstance(content.get("results"), dict) and "version" in content:
        return read_acro(path, data, content["results"], limits)
    dataset = next(json_datasets(content), None)
    if dataset is None:
        raise DataError("holds no JSON-stat dataset (an object with value and dimension); save it as CSV")
    with refusing(MALFORMED, "its JSON-stat dataset cannot be understood"):
        return make_source(path, data, "JSON-stat", cube=_json_cube(dataset))


def _json_cube(dataset: Mapping[str, Any]) -> Cube:
    about = dataset["dimension"]
    names = [str(name) for name in dataset.get("id", about.get("id", ()))]
    sizes = [int(size) for size in dataset.get("size", about.get("size", ()))]
    roles = dataset.get("role", about.get("role", {}))
    kinds = {str(name): kind for key, kind in (("time", "time"), ("metric", "measure")) for name in roles.get(key, ())}
    axes = tuple(_json_axis(name, about.get(name, {}), kinds.get(name, "")) for name in names)
    values, status = dataset["value"], dataset.get("status") or {}
    size = prod(sizes) if sizes else 0
    if size > MOST_CELLS:
        raise DataError(f"the dataset spans {size:,} cells, more than {MOST_CELLS:,}; cut it into several")
    texts = []
    for at in range(size):
        value, flag = _held_at(values, at), _held_at(status, at)
        other = str(value if value is not None else flag or "")
        texts.append(cell_text(float(value)) if isinstance(value, (int, float)) else other)
    rest = {key: own for key, own in dataset.items() if key not in ("value", "status", "dimension", "id", "size", "role")}
    rest["dimension"] = {name: {k: v for k, v in own.items() if k != "category"} for name, own in about.items()
                         if isinstance(own, dict) and name in names}  # fmt: skip
    words = (dataset.get("extension") or {}).get("status", {}) if isinstance(dataset.get("extension"), dict) else {}
    legend = words.get("label", words) if isinstance(words, dict) else {}
    symbols = {str(symbol): str(said) for symbol, said in legend.items() if isinstance(said, str)}
    return _checked(Cube(str(dataset.get("label", "")), axes, tuple(texts), tuple(_leaves(rest)), symbols=symbols))


def _held_at(held: Any, at: int) -> Any:
    """What a dataset says of a value: in a list, in a mapping by number, or once for all."""
    if isinstance(held, dict):
        return held.get(str(at))
    return held if isinstance(held, str) else held[at] if at < len(held) else None


def json_datasets(content: Any) -> Iterator[dict[str, Any]]:
    if isinstance(content, dict):
        if "value" in content and isinstance(content.get("dimension"), dict):
            yield content
        else:
            for own in content.values():
                yield from json_datasets(own) if isinstance(own, dict) else ()


def _json_axis(name: str, own: Mapping[str, Any], kind: str) -> CubeAxis:
    category = own.get("category", {})
    index, labels = category.get("index"), category.get("label") or {}
    listed = sorted(index, key=lambda code: int(index[code])) if isinstance(index, dict) else index or labels
    codes = tuple(map(str, listed))
    return CubeAxis(str(own.get("label", name)), tuple(str(labels.get(code, code)) for code in codes), codes, kind)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, (dict, list)):
        for own in value.values() if isinstance(value, dict) else value:
            yield from _leaves(own)
    elif value not in (None, ""):
        yield str(value)


if TYPE_CHECKING:
    import pandas as pd

SAFE = frozenset(("", "s", "S", "z", "Z"))  # codes of tau-Argus for cells that may be printed
SUPPRESSED = "suppressed"  # what stands for a cell that acro left empty


def read_rdata(path: Path, data: bytes, limits: FileLimits) -> Source:
    """The data frames of an R file; of a text called .rda, the tau-Argus table that it describes."""
    if path.suffix.lower() == ".rda" and not data.startswith((b"RDX", b"RDA", b"BZh", b"\xfd7z", b"\x1f\x8b")):
        return read_argus(path, data, limits)
    pyreadr = needed("pyreadr", f"{path}: R data", "or save it as CSV")
    with refusing(Exception, "cannot be read as R data", "save a data.frame with saveRDS"):  # it has errors of its own
        frames = pyreadr.read_r(str(path))
    if not frames:
        raise DataError("holds no data frame; as.data.frame(table) makes one of a table")
    return make_source(path, data, "R data", [Sheet(str(name or path.stem), _grid(own)) for name, own in frames.items()])


def read_parquet(path: Path, data: bytes, limits: FileLimits) -> Source:
    """A Parquet file, measured before it is unpacked."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    with refusing((ArrowException, OSError), "cannot be read as Parquet"):
        file = ParquetFile(io.BytesIO(data))
        groups = range(file.metadata.num_row_groups)
        limits.check(path, file.metadata.num_rows, sum(file.metadata.row_group(at).total_byte_size for at in groups))
        frame = file.read().to_pandas()
    return make_source(path, data, "Parquet", [Sheet(path.stem, _grid(frame))])


def _grid(frame: "pd.DataFrame") -> Grid:
    values = frame.astype(object).where(frame.notna(), "").to_numpy().tolist()
    return [[str(name) for name in frame.columns], *([cell_text(value).strip() for value in row] for row in values)]


def read_argus(path: Path, data: bytes, limits: FileLimits) -> Source:
    """The table of a .tab file; the .rda file of the same name says what its fields are, and names their hierarchies."""
    table, meta = path.with_suffix(".tab"), path.with_suffix(".rda")
    if lost := [file.name for file in (table, meta) if not file.is_file()]:
        raise DataError(f"{lost[0]} is missing; a tau-Argus table is a .tab file with a .rda file in the same folder")
    separator, variables = _metadata(decode(_bytes_of(meta, limits))[0], meta)
    labels = {name: tags for name, tags in variables if {"RECODEABLE", "RECODABLE"} & tags.keys()}
    numeric = [at for at, (_, tags) in enumerate(variables) if {"NUMERIC", "FREQUENCY"} & tags.keys()]
    counts = next((at for at in numeric if "FREQUENCY" in variables[at][1]), numeric[0] if numeric else None)
    status = next((at for at, (_, tags) in enumerate(variables) if "STATUS" in tags), None)
    if not labels or counts is None:
        raise DataError(f"{meta.name} names no <RECODEABLE> variable, or no <FREQUENCY> or <NUMERIC> one")
    rows: Grid = [[name for name, _ in variables]]
    for number, row in enumerate(_lines(table, _bytes_of(table, limits), separator), 1):
        if row and len(row) < len(variables) - 1:
            raise DataError(f"{table.name}, line {number}: {len(row)} fields, but {meta.name} names {len(variables)}")
        if row:
            own = [text.strip() for text in row]
            if status is not None and status < len(own) and own[status] not in SAFE:
                own[counts], own[status] = f"status {own[status]}", ""
            rows.append(own)
    roles = {name: "label" if (name, tags) in labels.items() else "count" if at == counts else "note"
             for at, (name, tags) in enumerate(variables)}  # fmt: skip
    totals = {name: tags["TOTCODE"] for name, tags in labels.items() if "TOTCODE" in tags}
    files = {name: (_beside(path.parent, tags["HIERCODELIST"]), tags.get("HIERLEADSTRING", "@"))
             for name, tags in labels.items() if "HIERCODELIST" in tags}  # fmt: skip
    return make_source(path, data, "tau-Argus", [Sheet(table.stem, rows)], roles=roles, totals=totals, hierarchies=files)


def _lines(table: Path, data: bytes, separator: str) -> Grid:
    if len(separator) != 1 or separator in '\r\n"':
        raise DataError(f"{table.name}: its metadata name {separator!r} as <SEPARATOR>; one sign is needed, such as a comma")
    with refusing(csv.Error, f"{table.name}: cannot be read as separated text", "check its quotation marks"):
        return list(csv.reader(decode(data)[0].splitlines(), delimiter=separator))


def _metadata(text: str, path: Path) -> tuple[str, list[tuple[str, dict[str, str]]]]:
    """The separator that tau-Argus metadata name, and their variables with their tags."""
    separator, variables = ",", list[tuple[str, dict[str, str]]]()
    for line in text.splitlines():
        if tag := re.match(r'\s*<(\w+)>\s*"?([^"]*)"?', line):
            if tag[1].upper() == "SEPARATOR":
                separator = tag[2].strip() or ","
            elif variables:
                variables[-1][1][tag[1].upper()] = tag[2].strip()
        elif line.strip():
            variables.append((line.split()[0], {}))
    if not variables:
        raise DataError(f"{path.name} names no variable")
    return separator, variables


def _beside(folder: Path, name: str) -> Path:
    """The file of a hierarchy that the metadata name: it lies in their folder; no other file is opened for them."""
    path = folder / name
    outside = path.exists() and path.resolve().parent != folder.resolve()
    if Path(name).name != name or path.suffix.lower() != ".hrc" or outside:
        raise DataError(f"the hierarchy {name!r} is not a .hrc file in the folder of the table; put it there")
    return path


def read_acro(path: Path, data: bytes, results: Mapping[str, Any], limits: FileLimits) -> Source:
    """The tables among the outputs of an acro session, each a sheet."""
    outputs = {str(name): own for name, own in results.items() if isinstance(own, dict)}
    sheets = list(_outputs(outputs, path.parent, limits))
    if not sheets:
        raise DataError("names no output of type table with a CSV file")
    asked = tuple(f"{name}: {word}: {own[word]}" for name, own in outputs.items()
                  for word in ("status", "comments", "exception") if own.get(word))  # fmt: skip
    others = tuple(f"output {name} is not a table ({own.get('type')})" for name, own in outputs.items()
                   if own.get("type") != "table" and "DO_NOT_RELEASE" not in str(own.get("files")))  # fmt: skip
    return make_source(path, data, "an acro session", sheets, said=asked, left_out=others)


def _outputs(results: Mapping[str, Any], folder: Path, limits: FileLimits) -> Iterator[Sheet]:
    for name, output in results.items():
        if output.get("type") != "table":
            continue
        named = [one["name"] if isinstance(one, dict) else one for one in output.get("files", output.get("output", []))]
        files = [str(one) for one in named if str(one).endswith(".csv")]
        for at, file in enumerate(files):
            own = folder / Path(file).name
            if not own.exists():
                raise DataError(f"output {name} names {file}, which is not in the same folder")
            rows, _ = text_rows(decode(_bytes_of(own, limits))[0])
            hidden = "suppress" in str(output.get("summary", "")).lower() or bool(output.get("outcome"))
            yield Sheet(name if len(files) == 1 else f"{name}_{at}", [_counts_only(row, hidden) for row in rows])


def _counts_only(row: Sequence[str], hidden: bool) -> list[str]:
    """Whole numbers without the .0 that a column with gaps gets; what is empty among them was suppressed."""
    own = [text.strip().removesuffix(".0") if text.strip().removesuffix(".0").isdecimal() else text.strip() for text in row]
    among = hidden and any(text.isdecimal() for text in own[1:])
    return [own[0], *(text or SUPPRESSED if among else text for text in own[1:])] if own else own


SOURCES: dict[str, Callable[[Path, bytes, FileLimits], Source]] = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xls", ".xlsb", ".ods"), read_workbook),
    **dict.fromkeys((".csv", ".txt", ".tsv", ".psv"), read_text),
    ".px": lambda path, data, limits: make_source(path, data, "PC-Axis", cube=read_px(data)), ".json": read_json,
    ".parquet": read_parquet, ".tab": read_argus, **dict.fromkeys((".rds", ".rda", ".rdata"), read_rdata),
}  # fmt: skip
