"""Tables written back in the format that came in: some cells changed, everything else as it was."""

import hashlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, AnyStr
from xml.sax.saxutils import escape

from genverify.model.errors import DataError
from genverify.model.files import FileLimits, decode, regular_file, write_whole
from genverify.reading import source as formats
from genverify.reading.source import CellAddress, Source, column_at, read_source

Changes = Mapping[CellAddress, str]
Edit = tuple[int, int, str]  # from, to, and what stands there instead
Say = Callable[[str], None]
WHOLE_NUMBER = re.compile(r"-?\d{1,15}")  # what a spreadsheet stores exactly as a number
# parts of a workbook that hold counts a second time, where nobody sees them: values of charts and pivot tables, previews
COPIES = re.compile(r"xl/(charts|pivotCache|externalLinks|embeddings|model)/|docProps/thumbnail")
CELL = re.compile(r'<((?:\w+:)?)c\b([^>]*?\br="([A-Z]+)(\d+)"[^>]*?)(?:/>|>(.*?)</\1c>)', re.DOTALL)
FORMULA = re.compile(r"<((?:\w+:)?)f\b[^>]*?(?:/>|>.*?</\1f>)", re.DOTALL)
STORED = re.compile(r"<(?:\w+:)?v>([^<]+)</")
LISTED = re.compile(r"<((?:\w+:)?)si\b[^>]*?(?:/>|>.*?</\1si>)", re.DOTALL)
TEXTS = "xl/sharedStrings.xml"
SAVE_AS = "save the table as .xlsx, .csv, .px or JSON-stat"


def write_back(sources: Sequence[Source], changes: Changes, folder: Path, say: Say = lambda line: None) -> list[Path]:
    """Write every file in its own format, with changed cells, or nothing if one is wrong; `say` gets what else changed."""
    names = {source.name for source in sources}
    if lost := next((address for address in changes if address.file not in names), None):
        raise DataError(f"{lost.file}: {lost.place}: no such file was read; the files are {', '.join(sorted(names))}")
    inputs = {source.path.resolve() for source in sources if source.path}
    written = dict[Path, bytes]()
    for source in sources:
        out = folder / source.name
        if out.resolve() in inputs or not out.resolve().is_relative_to(folder.resolve()):
            raise DataError(f"{out}: would replace a file that was read, or lie outside of the folder; give another folder")
        written[out] = _changed(source, {own: text for own, text in changes.items() if own.file == source.name}, say)
    for out, data in written.items():
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, data)
    return list(written)


def _changed(source: Source, changes: Changes, say: Say) -> bytes:
    """The bytes of a file with the changed cells, read again to see that these and no others differ."""
    if source.path is None:
        raise DataError(f"{source.name}: the reading does not say where this file lies; read it from a path")
    data = regular_file(source.path).read_bytes()
    if hashlib.sha256(data).hexdigest() != source.sha256:
        raise DataError(f"{source.path}: has changed since it was read; read it again")
    if not changes:
        return data
    wanted = _texts(source, source.name)
    if lost := next((address for address in changes if address not in wanted), None):
        raise DataError(f"{source.path}: there is no cell {lost.place}; give the address of a cell that was read")
    result = _edited_file(source, data, changes, say)
    with TemporaryDirectory() as folder:
        path = Path(folder) / Path(source.name).name
        path.write_bytes(result)
        again = _texts(read_source(path, FileLimits(sys.maxsize, sys.maxsize)), source.name)
    wanted |= {address: text.strip() for address, text in changes.items()}
    if wrong := [address for address in {**wanted, **again} if wanted.get(address, "") != again.get(address, "")]:
        texts = f"{again.get(min(wrong), '')!r} and not {wanted.get(min(wrong), '')!r}"
        raise DataError(f"{source.path}: {min(wrong).place} would read {texts} once it is written back; {SAVE_AS}")
    return result


def _texts(source: Source, name: str) -> dict[CellAddress, str]:
    grids = {"": [[text] for text in source.cube.texts]} if source.cube else {own.name: own.rows for own in source.sheets}
    return {CellAddress(name, sheet, row, column): text for sheet, rows in grids.items() for row, texts in enumerate(rows)
            for column, text in enumerate(texts)}  # fmt: skip


def _edited_file(source: Source, data: bytes, changes: Changes, say: Say) -> bytes:
    if source.cube and source.form == "JSON-stat":
        return _edited_json(data, changes, len(source.cube.texts))
    if source.form == "PC-Axis":
        text, encoding, start = formats.px_text(data)
        spans = [value.span() for value in formats.PX_VALUE.finditer(text, start)]
        edits = [(*spans[own.row], new if WHOLE_NUMBER.fullmatch(new) else f'"{new}"') for own, new in changes.items()]
        return _edited_text(source, data, text, encoding, edits)
    if source.form.startswith("text"):
        text, encoding = decode(data)
        return _edited_text(source, data, text, encoding, list(_field_edits(source, text, changes)))
    if source.form == "workbook" and data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as packed, suppress(UnicodeDecodeError):
            if formats.sheet_parts(packed):
                return _edited_workbook(source, packed, changes, say)
    kind = source.path.suffix if source.path else ""
    raise DataError(f"{source.path}: {source.form} of this kind ({kind}) cannot be written back; {SAVE_AS}")


def _edited(data: AnyStr, edits: Sequence[tuple[int, int, AnyStr]]) -> AnyStr:
    """A text in which parts, each from one place to another, are replaced."""
    parts: list[AnyStr] = []
    last = 0
    for start, end, new in sorted(edits):
        parts += [data[last:start], new]
        last = end
    parts.append(data[last:])
    return data[:0].join(parts)


def _edited_text(source: Source, data: bytes, text: str, encoding: str, edits: Sequence[Edit]) -> bytes:
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
    raise DataError(f"{source.path}: is not {encoding} throughout, so it cannot be written back; save it as UTF-8")


def _field_edits(source: Source, text: str, changes: Changes) -> Iterator[Edit]:
    """The fields of a text file that change: the same quotation marks and blanks around the new text."""
    rows, delimiter = formats.text_rows(text)
    fields = list(_fields(text, delimiter))
    if [len(row) for row in fields] != [len(row) for row in rows]:
        raise DataError(f"{source.path}: its quotation marks are not closed as they are opened; save it again as CSV")
    for address, new in changes.items():
        (start, end), value = fields[address.row][address.column], rows[address.row][address.column]
        held = value.replace(value.strip(), new, 1) if value.strip() else new
        quote = text.startswith('"', start) or any(sign in new for sign in (delimiter, '"', "\n", "\r"))
        yield start, end, '"' + held.replace('"', '""') + '"' if quote else held


def _fields(text: str, delimiter: str) -> Iterator[list[tuple[int, int]]]:
    """Where each field of each row begins and ends."""
    sign = re.escape(delimiter)
    field = re.compile(rf'((?:"[^"]*(?:""[^"]*)*")?[^{sign}\r\n]*)({sign}|\r\n|\r|\n|\Z)')
    at, row = 0, list[tuple[int, int]]()
    while (at < len(text) or row) and (one := field.match(text, at)):
        row.append(one.span(1))
        at = one.end()
        if one[2] != delimiter:
            yield [] if len(row) == 1 and not one[1] else row
            row = []


def _edited_json(data: bytes, changes: Changes, size: int) -> bytes:
    """A JSON-stat dataset: a number replaces a value; a symbol becomes the status of a value that is null."""
    text, _ = decode(data)
    content = json.loads(text)
    dataset = next(formats.json_datasets(content))
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


def _edited_workbook(source: Source, packed: zipfile.ZipFile, changes: Changes, say: Say) -> bytes:
    """An .xlsx file with changed cells, the rest as it was; formulas become values: programs would compute them anew."""
    if copies := [name for name in packed.namelist() if COPIES.match(name)]:
        what = f"{len(copies)} parts that can hold its counts again (charts, pivot tables, previews), such as {copies[0]}"
        raise DataError(f"{source.path}: holds {what}; remove them first")
    written, formulas, used, gone = dict[str, str](), list[str](), set[str](), set[str]()
    for sheet, part in formats.sheet_parts(packed).items():

        def cell(one: re.Match[str], sheet: str = sheet) -> str:
            prefix, attributes, letters, row, content = one.groups(default="")
            address = CellAddress(source.name, sheet, int(row) - 1, column_at(letters))
            stored = STORED.search(content)
            if stored and 't="s"' in attributes:
                (gone if address in changes else used).add(stored[1])
            if address in changes:
                return _cell(prefix, attributes, changes[address])
            if FORMULA.search(content):
                if not stored:
                    raise DataError(f"{source.path}: the formula in {address.place} has no value; open and save the file")
                formulas.append(address.place)
            return one[0].replace(content, FORMULA.sub("", content)) if content else one[0]

        written[part] = CELL.sub(cell, packed.read(part).decode())
    gone -= used
    if gone:  # the list of texts can be read by itself: what only changed cells named goes
        texts = packed.read(TEXTS).decode()
        spans = [(*one.span(), f"<{one[1]}si><{one[1]}t/></{one[1]}si>") for one in LISTED.finditer(texts)]
        written[TEXTS] = _edited(texts, [spans[int(number)] for number in gone])
    if formulas:
        say(f"{source.name}: {len(formulas)} formulas were replaced by their values")
        for part in ("[Content_Types].xml", "xl/_rels/workbook.xml.rels"):  # the list of formulas goes with them
            written[part] = re.sub(r"<(Override|Relationship)\s[^>]*calcChain[^>]*/>", "", packed.read(part).decode())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for info in packed.infolist():
            if not (formulas and info.filename == "xl/calcChain.xml"):
                data = written.get(info.filename)
                target.writestr(info, packed.read(info) if data is None else data.encode(), info.compress_type)
    return out.getvalue()


def _cell(prefix: str, attributes: str, new: str) -> str:
    """The XML of a cell with a new text or number, in its style."""
    start = f"<{prefix}c" + "".join(re.findall(r'\s(?:r|s)="[^"]*"', attributes))
    if WHOLE_NUMBER.fullmatch(new):
        return f"{start}><{prefix}v>{new}</{prefix}v></{prefix}c>"
    held = f'<{prefix}is><{prefix}t xml:space="preserve">{escape(new)}</{prefix}t></{prefix}is>'
    return f'{start} t="inlineStr">{held}</{prefix}c>'
