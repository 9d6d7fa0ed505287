"""
Workbooks for the page: what the library's reading asks of the package python_calamine, for .xlsx and .ods, in plain Python.

The page holds no compiled package, and the values of a workbook are few lines of XML. Everything else about workbooks
(indentation, hidden rows, errors, percentages) is the library's own code, which calls this as it calls the package. A test
compares both on the same files.
"""

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import IO, Any
from xml.etree import ElementTree

SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
OFFICE, TABLE, TEXT, STYLE = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{part}:1.0}}" for part in ("office", "table", "text", "style")
)
DATES = {*range(14, 23), *range(45, 48)}  # numbers of the built-in formats that show a date or a time
LENGTH = 46  # the built-in format [h]:mm:ss
DATE, ELAPSED = "date", "elapsed"
LEAP_DAY = 60  # the number of 29 February 1900, which Excel counts and which never was: smaller numbers are a day off
DAY_ZERO = datetime(1899, 12, 30)  # of the numbers that stand for dates, but in the calendar of old Macintoshes
DAY_ZERO_1904 = datetime(1904, 1, 1)
MOST_REPEATED = 100_000  # rows and columns of an .ods file that say that they are repeated: those at the end are empty
VISIBLE, HIDDEN = "SheetVisibleEnum.Visible", "SheetVisibleEnum.Hidden"


class WorkbookError(Exception):
    """A file that is no workbook of these two formats."""


@dataclass
class Metadata:
    name: str
    visible: str


@dataclass
class CalamineSheet:
    """The values of a sheet by row and column, all rows as wide as the widest."""

    cells: dict[tuple[int, int], Any] = field(default_factory=dict)
    merged_cell_ranges: list[tuple[tuple[int, int], tuple[int, int]]] | None = None

    @property
    def total_height(self) -> int:
        return max((row for row, _ in self.cells), default=-1) + 1

    @property
    def total_width(self) -> int:
        return max((column for _, column in self.cells), default=-1) + 1

    def to_python(self, skip_empty_area: bool = False) -> list[list[Any]]:
        width = self.total_width
        rows = [[""] * width for _ in range(self.total_height)]
        for (row, column), value in self.cells.items():
            rows[row][column] = value
        return rows


class CalamineWorkbook:
    """The sheets of a workbook, each read when it is asked for."""

    def __init__(self, packed: zipfile.ZipFile) -> None:
        self.packed = packed
        names = set(packed.namelist())
        if "xl/workbook.xml" in names:
            self.excel, sheets = True, list(self._excel_sheets(names))
        elif "content.xml" in names:
            self.excel, sheets = False, list(self._office_sheets())
        else:
            raise WorkbookError("neither an .xlsx nor an .ods file")
        self.parts = {name: part for name, part, _ in sheets}
        self.sheets_metadata = [Metadata(name, VISIBLE if shown else HIDDEN) for name, _, shown in sheets]

    @classmethod
    def from_filelike(cls, file: IO[bytes]) -> "CalamineWorkbook":
        if file.read(4) != b"PK\x03\x04":
            raise WorkbookError("an old Excel format: save it as .xlsx")
        return cls(zipfile.ZipFile(file))

    def get_sheet_by_name(self, name: str) -> CalamineSheet:
        part = self.parts[name]
        return self._excel_sheet(part) if self.excel else _office_sheet(part)

    def _excel_sheets(self, names: set[str]) -> Iterator[tuple[str, str, bool]]:
        relations = ElementTree.fromstring(self.packed.read("xl/_rels/workbook.xml.rels"))
        target = {one.get("Id"): str(one.get("Target")) for one in relations}
        book = ElementTree.fromstring(self.packed.read("xl/workbook.xml"))
        about = book.find(f"{SHEET}workbookPr")
        self.day_zero = DAY_ZERO_1904 if about is not None and about.get("date1904") in ("1", "true") else DAY_ZERO
        self.strings, self.dates = list[str](), list[str]()
        if "xl/sharedStrings.xml" in names:
            strings = ElementTree.fromstring(self.packed.read("xl/sharedStrings.xml"))
            self.strings = [_rich_text(own) for own in strings.iterfind(f"{SHEET}si")]
        if "xl/styles.xml" in names:
            self.dates = list(_date_styles(ElementTree.fromstring(self.packed.read("xl/styles.xml"))))
        for sheet in book.iter(f"{SHEET}sheet"):
            part = target.get(sheet.get(RELATION), "")
            part = part[1:] if part.startswith("/") else f"xl/{part}"
            if part in names and "worksheets" in part:
                yield str(sheet.get("name")), part, sheet.get("state", "visible") == "visible"

    def _excel_sheet(self, part: str) -> CalamineSheet:
        result = CalamineSheet(merged_cell_ranges=[])
        row, column = -1, -1
        with self.packed.open(part) as file:
            for event, own in ElementTree.iterparse(file, events=("start", "end")):
                if event == "start" and own.tag == f"{SHEET}row":
                    row, column = int(own.get("r", row + 2)) - 1, -1
                elif event == "end" and own.tag == f"{SHEET}c":
                    column = _place(own.get("r", ""))[1] if own.get("r") else column + 1
                    value = self._value(own)
                    if value is not None:
                        result.cells[row, column] = value
                    own.clear()
                elif event == "end" and own.tag == f"{SHEET}row":
                    own.clear()
                elif event == "end" and own.tag == f"{SHEET}mergeCell":
                    first, _, last = own.get("ref", "").partition(":")
                    result.merged_cell_ranges.append((_place(first), _place(last or first)))
        return result

    def _value(self, own: ElementTree.Element) -> Any:
        kind, value = own.get("t", "n"), own.findtext(f"{SHEET}v")
        if kind == "inlineStr":
            text = own.find(f"{SHEET}is")
            return None if text is None else _rich_text(text)
        if not value or kind == "e":  # errors are found by the library itself
            return None
        if kind == "s":
            return self.strings[int(value)]
        if kind == "b":
            return value == "1"
        if kind != "n":
            return value
        style, number = int(own.get("s", "0")), float(value)
        shows = self.dates[style] if style < len(self.dates) else ""
        return self._date(number, shows == ELAPSED) if shows else number

    def _date(self, number: float, elapsed: bool) -> date | time | datetime | timedelta:
        length = timedelta(seconds=round(number * 86400, 3))
        if elapsed:
            return length
        early = self.day_zero == DAY_ZERO and 1 <= number < LEAP_DAY
        moment = self.day_zero + length + timedelta(days=early)
        return moment.time() if number < 1 else moment.date() if number.is_integer() else moment

    def _office_sheets(self) -> Iterator[tuple[str, ElementTree.Element, bool]]:
        content = ElementTree.fromstring(self.packed.read("content.xml"))
        hidden = {
            style.get(f"{STYLE}name")
            for style in content.iter(f"{STYLE}style")
            for own in style.iterfind(f"{STYLE}table-properties")
            if own.get(f"{TABLE}display") == "false"
        }
        for table in content.iter(f"{TABLE}table"):
            yield str(table.get(f"{TABLE}name")), table, table.get(f"{TABLE}style-name") not in hidden


def _rich_text(own: ElementTree.Element) -> str:
    """The text of a cell, without what says how it is pronounced."""
    runs = [own, *own.iterfind(f"{SHEET}r")]
    return "".join(text.text or "" for run in runs for text in run.iterfind(f"{SHEET}t"))


def _date_styles(styles: ElementTree.Element) -> Iterator[str]:
    """Of each format of cells whether it shows a date or a time, or a length of time."""
    custom = {int(own.get("numFmtId", "0")): own.get("formatCode", "") for own in styles.iter(f"{SHEET}numFmt")}
    for form in styles.iterfind(f"{SHEET}cellXfs/{SHEET}xf"):
        number = int(form.get("numFmtId", "0"))
        code = re.sub(r'"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|_.', "", custom.get(number, "").lower()).partition(";")[0]
        if number == LENGTH or "[" in code:
            yield ELAPSED
        else:
            yield DATE if number in DATES or (code != "general" and re.search(r"[dmyhs]", code)) else ""


def _place(name: str) -> tuple[int, int]:
    """
    >>> _place("AB3")
    (2, 27)
    """
    letters = name.rstrip("0123456789")
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - 64
    return int(name[len(letters) :]) - 1, column - 1


def _office_sheet(table: ElementTree.Element) -> CalamineSheet:
    result, row = CalamineSheet(), 0
    for own in table.iter(f"{TABLE}table-row"):
        values = dict(_office_row(own))
        times = min(int(own.get(f"{TABLE}number-rows-repeated", "1")), MOST_REPEATED)
        for at in range(row, row + times) if values else ():
            result.cells |= {(at, column): value for column, value in values.items()}
        row += times
    return result


def _office_row(row: ElementTree.Element) -> Iterator[tuple[int, Any]]:
    column = 0
    for own in row:
        if own.tag not in (f"{TABLE}table-cell", f"{TABLE}covered-table-cell"):
            continue
        times, value = min(int(own.get(f"{TABLE}number-columns-repeated", "1")), MOST_REPEATED), _office_value(own)
        if value is not None:
            yield from ((column + at, value) for at in range(times))
        column += times


def _office_value(own: ElementTree.Element) -> Any:
    kind = own.get(f"{OFFICE}value-type", "")
    if kind in ("float", "percentage", "currency"):
        return float(own.get(f"{OFFICE}value", "0"))
    if kind == "boolean":
        return own.get(f"{OFFICE}boolean-value") == "true"
    if kind == "date":
        moment = datetime.fromisoformat(own.get(f"{OFFICE}date-value", ""))
        return moment if moment.time() != time() else moment.date()
    if kind == "":
        return None
    return "\n".join(_paragraph(text) for text in own.iterfind(f"{TEXT}p"))


def _paragraph(own: ElementTree.Element) -> str:
    """A paragraph with the spaces that its elements stand for."""
    spaces: Mapping[str, Sequence[str]] = {f"{TEXT}s": " ", f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
    times = int(own.get(f"{TEXT}c", "1")) if own.tag == f"{TEXT}s" else 1
    inside = "".join(_paragraph(part) + (part.tail or "") for part in own if not part.tag.endswith("annotation"))
    return str(spaces.get(own.tag, "")) * times + (own.text or "") + inside
