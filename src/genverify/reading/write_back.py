"""Tables written back in the format that came in: some cells changed, everything else as it was."""

import hashlib
import io
import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, AnyStr
from xml.parsers import expat
from xml.sax.saxutils import escape

from genverify.model.errors import DataError
from genverify.model.files import FileLimits, regular_file, write_whole
from genverify.reading.source import (
    PX_VALUE,
    CellAddress,
    Source,
    column_at,
    column_name,
    decode,
    json_datasets,
    px_text,
    read_source,
    sheet_parts,
    text_rows,
)

Changes = Mapping[CellAddress, str]
Edit = tuple[int, int, str]  # from, to, and what stands there instead
Say = Callable[[str], None]
WHOLE_NUMBER = re.compile(r"-?\d{1,15}")  # what a spreadsheet stores exactly as a number
# parts of a workbook that hold counts a second time, where nobody sees them: values of charts and pivot tables, previews
COPIES = re.compile(r"xl/(charts|pivotCache|externalLinks|embeddings|model)/|docProps/thumbnail")
SAVE_AS = "save the table as .xlsx, .csv, .px or JSON-stat"


def write_back(sources: Sequence[Source], changes: Changes, folder: Path, say: Say = lambda line: None) -> list[Path]:
    """
    Write every file of a reading into a folder, in its own format, with the changed cells; `say` gets what else changed.
    A cell that is not there, or a file that changed since the reading, is an error; then nothing is written.
    """
    names = {source.name for source in sources}
    if lost := next((address for address in changes if address.file not in names), None):
        raise DataError(f"{lost.file}: {lost.place}: no such file was read; the files are {', '.join(sorted(names))}")
    inputs = {source.path.resolve() for source in sources if source.path}
    written = dict[Path, bytes]()
    for source in sources:
        out = folder / source.name
        if out.resolve() in inputs or not out.resolve().is_relative_to(folder.resolve()):
            raise DataError(f"{out}: would replace a file that was read, or lie outside of the folder; give another folder")
        own = {address: text for address, text in changes.items() if address.file == source.name}
        written[out] = _changed(source, own, say)
        if own:
            _check(source, written[out], own)
    for out, data in written.items():
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, data)
    return list(written)


def _check(source: Source, data: bytes, changes: Changes) -> None:
    """Read the bytes again: the changed cells say what they should, and all others what they said."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / Path(source.name).name
        path.write_bytes(data)
        again = _texts(read_source(path, FileLimits(sys.maxsize, sys.maxsize)), source.name)
    wanted = {**_texts(source, source.name), **{address: text.strip() for address, text in changes.items()}}
    if wrong := [address for address in {**wanted, **again} if wanted.get(address, "") != again.get(address, "")]:
        first = min(wrong)
        texts = f"{again.get(first, '')!r} and not {wanted.get(first, '')!r}"
        raise DataError(f"{source.path}: {first.place} would read {texts} once it is written back; {SAVE_AS}")


def _texts(source: Source, name: str) -> dict[CellAddress, str]:
    grids = {"": [[text] for text in source.cube.texts]} if source.cube else {own.name: own.rows for own in source.sheets}
    return {CellAddress(name, sheet, row, column): text for sheet, rows in grids.items() for row, texts in enumerate(rows)
            for column, text in enumerate(texts)}  # fmt: skip


def _changed(source: Source, changes: Changes, say: Say) -> bytes:
    if source.path is None:
        raise DataError(f"{source.name}: the reading does not say where this file lies; read it from a path")
    data = regular_file(source.path).read_bytes()
    if hashlib.sha256(data).hexdigest() != source.sha256:
        raise DataError(f"{source.path}: has changed since it was read; read it again")
    known = _texts(source, source.name) if changes else {}
    if lost := next((address for address in changes if address not in known), None):
        raise DataError(f"{source.path}: there is no cell {lost.place}; give the address of a cell that was read")
    if not changes:
        return data
    if source.form == "JSON-stat":
        return _changed_json(data, changes, len(known))
    if source.form == "PC-Axis":
        text, encoding, start = px_text(data)
        return _replaced(source, data, text, encoding, _px_edits(text, start, changes))
    if source.form.startswith("text"):
        text, encoding = decode(data)
        return _replaced(source, data, text, encoding, _text_edits(source, text, changes))
    if source.form == "workbook" and data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if sheet_parts(packed):
                return _changed_workbook(source, packed, changes, say)
    raise DataError(f"{source.path}: {source.form} of this kind ({source.path.suffix}) cannot be written back; {SAVE_AS}")


def _replaced(source: Source, data: bytes, text: str, encoding: str, edits: Sequence[Edit]) -> bytes:
    """The bytes of a text with some parts replaced; the others are the same bytes."""
    bom = next((sign for sign in (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff") if data.startswith(sign)), b"")
    codec = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(bom, encoding)
    try:
        if len(text) == len(data):  # a byte for every character, some of which may be none of the encoding
            return _edited(data, [(start, end, new.encode(codec)) for start, end, new in edits])
        if bom + text.encode(codec) == data:
            return bom + _edited(text, edits).encode(codec)
    except UnicodeEncodeError as error:
        raise DataError(f"{source.path}: {error.object!r} cannot be written as {encoding}; take another symbol") from None
    raise DataError(f"{source.path}: is no {encoding} throughout, and cannot be written back; save it as UTF-8")


def _edited(data: AnyStr, edits: Sequence[tuple[int, int, AnyStr]]) -> AnyStr:
    """A text in which parts, each from one place to another, are replaced."""
    parts: list[AnyStr] = []
    last = 0
    for start, end, new in sorted(edits):
        parts += [data[last:start], new]
        last = end
    parts.append(data[last:])
    return data[:0].join(parts)


def _text_edits(source: Source, text: str, changes: Changes) -> list[Edit]:
    """The fields of a text file that change: the same quotation marks and blanks around the new text."""
    rows, delimiter = text_rows(text)
    fields = list(_fields(text, delimiter))
    if [[own[2].replace("\x00", "") for own in row] for row in fields] != rows:
        raise DataError(f"{source.path}: its quotation marks are not closed as they are opened; save it again as CSV")
    edits = list[Edit]()
    for address, new in changes.items():
        start, end, value = fields[address.row][address.column]
        raw = text[start:end]
        needs = any(sign in new for sign in (delimiter, '"', "\n", "\r"))
        blanks = len(value) - len(value.lstrip()), len(value) - len(value.rstrip()) if value.strip() else 0
        held = value[: blanks[0]] + new + value[len(value) - blanks[1] :]
        edits.append((start, end, '"' + held.replace('"', '""') + '"' if needs or raw.startswith('"') else held))
    return edits


def _fields(text: str, delimiter: str) -> Iterator[list[tuple[int, int, str]]]:
    """The rows of a text: where each field begins and ends, and what it says without quotation marks."""
    plain = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
    at, row = 0, list[tuple[int, int, str]]()
    while at < len(text):
        if not row and text[at] in "\r\n":  # an empty line
            at += 2 if text.startswith("\r\n", at) else 1
            yield []
            continue
        start, value = at, ""
        while text.startswith('"', at) and (at == start or text[at - 1] == '"'):  # a quoted part; "" is a mark in it
            close = text.find('"', at + 1)
            if close < 0:
                close = len(text)
            value += ('"' if at > start else "") + text[at + 1 : close]
            at = close + 1
        rest = plain.match(text, min(at, len(text)))
        value, at = value + (rest[0] if rest else ""), rest.end() if rest else len(text)
        row.append((start, at, value))
        if text.startswith(delimiter, at):
            at += 1
            if at < len(text) and text[at] not in "\r\n":
                continue
            row.append((at, at, ""))
        at += 2 if text.startswith("\r\n", at) else 1
        yield row
        row = []


def _px_edits(text: str, start: int, changes: Changes) -> list[Edit]:
    """The values of a PC-Axis file that change; what is no number is quoted."""
    spans = [value.span() for value in PX_VALUE.finditer(text, start)]
    return [(*spans[address.row], new if WHOLE_NUMBER.fullmatch(new) else f'"{new}"') for address, new in changes.items()]


def _changed_json(data: bytes, changes: Changes, size: int) -> bytes:
    """A JSON-stat dataset: a number replaces a value; a symbol becomes the status of a value that is null."""
    text, _ = decode(data)
    content = json.loads(text)
    dataset = next(json_datasets(content))
    for address, new in changes.items():
        number = int(new) if WHOLE_NUMBER.fullmatch(new) else None
        for name, value in (("value", number), ("status", None if number is not None else new)):
            held = dataset.get(name)
            if held is not None or value is not None:
                dataset[name] = _with_value([held] * size if isinstance(held, str) else held or {}, address.row, value)
    indent = re.search(r"[\[{]\r?\n( +|\t)", text)
    return (json.dumps(content, ensure_ascii=False, indent=indent[1] if indent else None) + "\n").encode()


def _with_value(held: list[Any] | dict[str, Any], at: int, value: Any) -> list[Any] | dict[str, Any]:
    """The values, or what stands for their status, by number: a list or a mapping, as it was."""
    if isinstance(held, list):
        return [*held[:at], *[None] * (at - len(held)), value, *held[at + 1 :]]
    return {key: own for key, own in (held | {str(at): value}).items() if own is not None}


@dataclass
class SheetXml:
    """The cells of a sheet in its XML: name of the element, attributes, where it begins and ends, its shared text."""

    data: bytes
    cells: dict[tuple[int, int], tuple[str, dict[str, str], int, int]] = field(default_factory=dict)
    formulas: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    values: dict[tuple[int, int], str] = field(default_factory=dict)


def _sheet_xml(data: bytes) -> SheetXml:
    result, place, inside = SheetXml(data), [-1, -1], list[tuple[str, int, dict[str, str]]]()
    parser = expat.ParserCreate()

    def begin(name: str, attributes: dict[str, str]) -> None:
        local, own = name.rpartition(":")[2], attributes.get("r", "")
        if local == "row":
            place[:] = [int(own) - 1 if own else place[0] + 1, -1]
        elif local == "c":
            place[1] = column_at(own.rstrip("0123456789")) if own else place[1] + 1
        inside.append((name, parser.CurrentByteIndex, attributes))

    def text(value: str) -> None:
        if inside and inside[-1][0].rpartition(":")[2] == "v":
            key = (place[0], place[1])
            result.values[key] = result.values.get(key, "") + value

    def finish(name: str) -> None:
        _, start, attributes = inside.pop()
        opened, key = data.index(b">", start) + 1, (place[0], place[1])
        end = opened if data[opened - 2 : opened] == b"/>" else data.index(b">", parser.CurrentByteIndex) + 1
        if name.rpartition(":")[2] == "c":
            result.cells[key] = name, attributes, start, end
        elif name.rpartition(":")[2] == "f":
            result.formulas[key] = start, end

    parser.StartElementHandler, parser.CharacterDataHandler, parser.EndElementHandler = begin, text, finish
    parser.Parse(data, True)
    return result


def _changed_workbook(source: Source, packed: zipfile.ZipFile, changes: Changes, say: Say) -> bytes:
    """
    An .xlsx file of which the changed cells are written anew and all other parts are the same bytes: styles, widths, merged
    cells. Formulas become their values, as they would be computed again from the changed cells.
    """
    if copies := [name for name in packed.namelist() if COPIES.match(name)]:
        what = (
            f"{len(copies)} parts that can hold its counts once more (charts, pivot tables, previews), such as {copies[0]}"
        )
        raise DataError(f"{source.path}: holds {what}; take them out first")
    parts = sheet_parts(packed)
    sheets = {name: _sheet_xml(packed.read(part)) for name, part in parts.items()}
    edits: dict[str, list[tuple[int, int, bytes]]] = {name: [] for name in sheets}
    formulas = 0
    for name, sheet in sheets.items():
        cells = {(own.row, own.column): new for own, new in changes.items() if own.sheet == name}
        for key, new in cells.items():
            if key not in sheet.cells:
                place = CellAddress(source.name, name, *key).place
                raise DataError(f"{source.path}: the cell {place} is empty; give the address of a cell with a text")
            element, attributes, start, end = sheet.cells[key]
            edits[name].append((start, end, _cell(element, attributes, new, key)))
        for key, (start, end) in sheet.formulas.items():
            if key not in cells:
                if not sheet.values.get(key):
                    place = CellAddress(source.name, name, *key).place
                    raise DataError(
                        f"{source.path}: the formula in {place} has no value; open the file, save it, read it again"
                    )
                edits[name].append((start, end, b""))
                formulas += 1
    if formulas:
        say(f"{source.name}: {formulas} formulas were replaced by their values")
    written = {parts[name]: _edited(sheet.data, edits[name]) for name, sheet in sheets.items() if edits[name]}
    written |= _without_texts(packed, sheets, changes)
    if any(sheet.formulas for sheet in sheets.values()):  # the order in which formulas are computed names none any more
        for name in ("[Content_Types].xml", "xl/_rels/workbook.xml.rels"):
            written[name] = re.sub(rb"<(Override|Relationship)\s[^>]*calcChain[^>]*/>", b"", packed.read(name))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for part in packed.infolist():
            if not (part.filename == "xl/calcChain.xml" and "[Content_Types].xml" in written):
                target.writestr(part, written.get(part.filename, packed.read(part)), part.compress_type)
    return out.getvalue()


def _cell(element: str, attributes: Mapping[str, str], new: str, key: tuple[int, int]) -> bytes:
    """The XML of a cell with a new text or number, in its style."""
    prefix, style = element.removesuffix("c"), f' s="{attributes["s"]}"' if "s" in attributes else ""
    start = f'<{element} r="{column_name(key[1])}{key[0] + 1}"{style}'
    if WHOLE_NUMBER.fullmatch(new):
        return f"{start}><{prefix}v>{new}</{prefix}v></{element}>".encode()
    held = f'<{prefix}is><{prefix}t xml:space="preserve">{escape(new)}</{prefix}t></{prefix}is>'
    return f'{start} t="inlineStr">{held}</{element}>'.encode()


def _without_texts(packed: zipfile.ZipFile, sheets: Mapping[str, SheetXml], changes: Changes) -> dict[str, bytes]:
    """The list of texts without those that only changed cells named: it can be read by itself."""
    used, gone = Counter[str](), set[str]()
    changed = {(own.sheet, own.row, own.column) for own in changes}
    for name, sheet in sheets.items():
        for key, (_, attributes, _, _) in sheet.cells.items():
            if attributes.get("t") == "s" and key in sheet.values:
                if (name, *key) in changed:
                    gone.add(sheet.values[key])
                else:
                    used[sheet.values[key]] += 1
    part = "xl/sharedStrings.xml"
    if not (gone := {text for text in gone if not used[text]}) or part not in packed.namelist():
        return {}
    data = packed.read(part)
    spans = [text.span() for text in re.finditer(rb"<(\w+:)?si\b[^>]*?(/>|>.*?</(\w+:)?si>)", data, re.DOTALL)]
    prefix = (re.search(rb"<(\w+:)?si\b", data) or [b"", b""])[1] or b""
    return {part: _edited(data, [(*spans[int(text)], b"<%ssi><%st/></%ssi>" % ((prefix,) * 3)) for text in gone])}
