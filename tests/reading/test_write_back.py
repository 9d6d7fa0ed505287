"""Files written back in the format that came in: only the changed cells differ, and everything else is the same bytes."""

import json
import random
import shutil
import zipfile
from pathlib import Path

import openpyxl
import pytest
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side

from genverify.model.errors import DataError
from genverify.reading.read_command import read_files, told_of
from genverify.reading.source import CellAddress, Source, read_source
from genverify.reading.write_back import write_back

SHARED = Path(__file__).parents[2] / "../shared/tables"
PUBLISHED = (
    "scb_datasymbols.px", "icane_es_14001.px", "jsonstat_galicia.json", "phs_covid_board_level.xlsx",
    "nisra_births_by_single_year_of_age.xlsx", "us_nea_artists_dancers.xlsx", "us_nass_bees_2020.csv",
)  # fmt: skip


def sources_of(*paths: Path) -> tuple[Source, ...]:
    return read_files(paths, told_of([])).sources


def texts(path: Path) -> dict[CellAddress, str]:
    """All cells of a file that say something."""
    source = read_source(path)
    grids = {"": [[text] for text in source.cube.texts]} if source.cube else {s.name: s.rows for s in source.sheets}
    return {CellAddress(path.name, sheet, row, column): text for sheet, rows in grids.items()
            for row, own in enumerate(rows) for column, text in enumerate(own) if text}  # fmt: skip


def changed(path: Path, out: Path, changes: dict[CellAddress, str]) -> Path:
    """The file written back; an error where not just the changed cells differ."""
    (written,) = write_back(sources_of(path), changes, out)
    assert texts(written) == {**texts(path), **changes}
    return written


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_text_keeps_its_bytes(encoding: str, end: str, delimiter: str, tmp_path: Path) -> None:
    rows = [["Straße", '"men, or; not"', "women "], ["", "", ""], ["Süd", " 12", '"3"'], ['"N ""x"""', "4", ""]]
    text = end.join(delimiter.join(row) for row in rows)  # no line end at the end
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    a, b, c = (CellAddress("t.csv", "t", *place) for place in ((2, 1), (2, 2), (3, 1)))
    written = changed(path, tmp_path / "out", {a: "*", b: "c", c: f"x{delimiter}y"})
    rows[2], rows[3][1] = ["Süd", " *", '"c"'], f'"x{delimiter}y"'
    assert written.read_bytes() == end.join(delimiter.join(row) for row in rows).encode(encoding)


def test_bytes_that_no_encoding_has_stay(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\nS\x81d,5\nN\xf6rd,6\n")
    changed(path, tmp_path / "out", {CellAddress("t.csv", "t", 1, 1): "*"})
    assert (tmp_path / "out/t.csv").read_bytes() == b"a,b\nS\x81d,*\nN\xf6rd,6\n"


def test_a_symbol_that_the_encoding_lacks_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\nSüd,5\n".encode("cp1252"))
    with pytest.raises(DataError, match="cannot be written as cp1252"):
        write_back(sources_of(path), {CellAddress("t.csv", "t", 1, 1): "≤5"}, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_random_texts(tmp_path: Path) -> None:
    """Fields with quotes, blanks, line ends and delimiters in all places: what csv reads is what is written back."""
    draw = random.Random(3)
    for number in range(150):
        rows = [["".join(draw.choices('ab1 ,"\n', weights=(5, 5, 8, 1, 1, 1, 1), k=draw.randint(0, 4))) for _ in range(3)]
                for _ in range(draw.randint(2, 5))]  # fmt: skip
        lines = ["h1,h2,h3"]
        for row in rows:
            quoted = [any(sign in own for sign in ',"\n') or draw.random() < 0.3 for own in row]
            marked = [f'"{own.replace(chr(34), chr(34) * 2)}"' if q else own for own, q in zip(row, quoted, strict=True)]
            lines.append(",".join(marked))
        path = tmp_path / f"t{number}.csv"
        path.write_bytes("\n".join(lines).encode() + b"\n" * draw.randint(0, 2))
        if known := texts(path):
            changes = {address: draw.choice(["*", "7", "a,b", 'q"q']) for address in draw.sample(list(known), 2)}
            changed(path, tmp_path / "out", changes)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workbook with merged titles, number formats, fonts, widths, a hidden sheet, a text that is a number, formulas."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Pupils & staff"
    sheet.merge_cells("A1:D1")
    sheet["A1"] = "Table 1: pupils"
    sheet["A1"].font = Font(bold=True, size=14, color="FF0000")
    for row in (["school", "girls", "boys", "Total"], ["North", 1200, 3, 1203], ["South", "17 *", 15, 32]):
        sheet.append(row)
    for row in sheet["B3:D4"]:
        for cell in row:
            cell.number_format, cell.border = "#,##0", Border(left=Side("thin"))
            cell.fill, cell.alignment = PatternFill("solid", fgColor="EEEEEE"), Alignment(horizontal="right")
    sheet.column_dimensions["A"].width = 31.5
    sheet.freeze_panes = "B3"
    notes = book.create_sheet("Notes")
    notes["A1"], notes.sheet_state = "c = suppressed", "hidden"
    path = tmp_path / "t.xlsx"
    book.save(path)
    return path


def styles(path: Path) -> dict[str, object]:
    book = openpyxl.load_workbook(path)
    result: dict[str, object] = {"state": [sheet.sheet_state for sheet in book]}
    for sheet in book:
        result[sheet.title] = (
            sorted(map(str, sheet.merged_cells.ranges)), sheet.freeze_panes,
            {name: own.width for name, own in sheet.column_dimensions.items()},
            {cell.coordinate: repr((cell.number_format, cell.font, cell.fill, cell.border, cell.alignment))
             for row in sheet for cell in row},
        )  # fmt: skip
    return result


def test_a_workbook_keeps_its_formatting(book: Path, tmp_path: Path) -> None:
    changes = {CellAddress("t.xlsx", "Pupils & staff", *place): text
               for place, text in {(2, 1): "<c>", (2, 2): "5", (3, 1): "[c]"}.items()}  # fmt: skip
    written = changed(book, tmp_path / "out", changes)
    assert styles(written) == styles(book)
    sheet = openpyxl.load_workbook(written)["Pupils & staff"]
    assert (sheet["B3"].value, sheet["C3"].value, sheet["B4"].value) == ("<c>", 5, "[c]")
    with zipfile.ZipFile(book) as before, zipfile.ZipFile(written) as after:
        assert before.namelist() == after.namelist()
        same = [name for name in before.namelist() if before.read(name) == after.read(name)]
        assert set(before.namelist()) - set(same) == {"xl/worksheets/sheet1.xml"}


def test_a_text_of_the_list_goes_with_its_cell(book: Path, tmp_path: Path) -> None:
    """A workbook can store each text once, for all cells that name it: one that none names any more could still be read."""
    path = tmp_path / "list.xlsx"
    with zipfile.ZipFile(book) as packed, zipfile.ZipFile(path, "w") as target:
        for name in packed.namelist():
            data = packed.read(name)
            if name == "xl/worksheets/sheet1.xml":
                for number, text in enumerate((b"North", b"17 *")):
                    data = data.replace(b't="inlineStr"><is><t>%s</t></is>' % text, b't="s"><v>%d</v>' % number)
            if name == "[Content_Types].xml" and b"sharedStrings" not in data:
                kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
                part = b'<Override PartName="/xl/sharedStrings.xml" ContentType="%s"/></Types>' % kind
                data = data.replace(b"</Types>", part)
            if name == "xl/_rels/workbook.xml.rels" and b"sharedStrings" not in data:
                kind = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
                part = b'<Relationship Id="texts" Type="%s" Target="sharedStrings.xml"/></Relationships>' % kind
                data = data.replace(b"</Relationships>", part)
            if name != "xl/sharedStrings.xml":
                target.writestr(name, data)
        held = '<si><t>North</t></si><si><r><t>17</t></r><r><t xml:space="preserve"> *</t></r></si>'
        space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        target.writestr("xl/sharedStrings.xml", f'<sst xmlns="{space}">{held}</sst>')
    assert texts(path)[CellAddress("list.xlsx", "Pupils & staff", 3, 1)] == "17 *"
    written = changed(path, tmp_path / "out", {CellAddress("list.xlsx", "Pupils & staff", 3, 1): "c"})
    with zipfile.ZipFile(written) as packed:
        list_ = packed.read("xl/sharedStrings.xml")
    assert b"<si><t>North</t></si><si><t/></si>" in list_


def with_formula(path: Path, value: str) -> Path:
    """The workbook with a sum in D4, as a spreadsheet program stores it, and the part that lists formulas."""
    other = path.with_name("formula.xlsx")
    with zipfile.ZipFile(path) as packed, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as target:
        for name in packed.namelist():
            data = packed.read(name)
            if name == "xl/worksheets/sheet1.xml":
                start = data.index(b'<c r="D3"')
                head = data[start : data.index(b"<v>", start)]
                data = data.replace(head + b"<v>1203</v>", head + b"<f>SUM(B3:C3)</f>" + value.encode())
            if name == "[Content_Types].xml":
                data = data.replace(b"</Types>", b'<Override PartName="/xl/calcChain.xml" ContentType="x"/></Types>')
            target.writestr(name, data)
        target.writestr("xl/calcChain.xml", "<calcChain/>")
    return other


def test_formulas_become_their_values_and_that_is_said(book: Path, tmp_path: Path) -> None:
    path, said = with_formula(book, "<v>1203</v>"), list[str]()
    (written,) = write_back(
        sources_of(path), {CellAddress(path.name, "Pupils & staff", 2, 2): "c"}, tmp_path / "o", said.append
    )
    assert said == ["formula.xlsx: 1 formulas were replaced by their values"]
    assert openpyxl.load_workbook(written)["Pupils & staff"]["D3"].value == 1203
    with zipfile.ZipFile(written) as packed:
        assert "xl/calcChain.xml" not in packed.namelist()
        assert b"calcChain" not in packed.read("[Content_Types].xml")
    (written,) = write_back(sources_of(path), {}, tmp_path / "same")
    assert written.read_bytes() == path.read_bytes()


def test_a_workbook_that_holds_counts_elsewhere_is_refused(book: Path, tmp_path: Path) -> None:
    change = {CellAddress("formula.xlsx", "Pupils & staff", 2, 2): "c"}
    with pytest.raises(DataError, match="formula in Pupils & staff!D3 has no value"):
        write_back(sources_of(with_formula(book, "")), change, tmp_path / "o")
    with zipfile.ZipFile(book, "a") as packed:
        packed.writestr("xl/charts/chart1.xml", "<chart/>")
    with pytest.raises(
        DataError, match=r"t.xlsx: holds 1 parts that can hold its counts .* xl/charts/chart1.xml; remove them"
    ):
        write_back(sources_of(book), {change.popitem()[0]._replace(file="t.xlsx"): "c"}, tmp_path / "o")


PX = (
    b'CHARSET="ANSI";\r\nSTUB="sex";\r\nHEADING="year";\r\nVALUES("sex")="m","k\xf6n";\r\n'
    b'VALUES("year")="2001","2002";\r\nDATA=\r\n1   20 \r\n".." 4 ;\r\n'
)


def test_px_values(tmp_path: Path) -> None:
    path = tmp_path / "t.px"
    path.write_bytes(PX)
    a, b = CellAddress("t.px", "", 1, 0), CellAddress("t.px", "", 2, 0)
    written = changed(path, tmp_path / "out", {a: "..", b: "7"})
    assert written.read_bytes() == PX.replace(b'20 \r\n".."', b'".." \r\n7')
    with pytest.raises(DataError, match="would read"):
        write_back(sources_of(path), {a: 'a"b'}, tmp_path / "out")


@pytest.mark.parametrize("status", [None, "e", ["e", None, None, None], {"0": "e"}])
@pytest.mark.parametrize("sparse", [False, True])
def test_json_stat_values_and_status(status: object, sparse: bool, tmp_path: Path) -> None:
    values = [1, 20, None, 4]
    content: dict[str, object] = {"version": "2.0", "class": "dataset", "id": ["sex", "age"], "size": [2, 2], "dimension": {
        name: {"category": {"index": ["a", "b"]}} for name in ("sex", "age")}}  # fmt: skip
    content["value"] = {str(at): own for at, own in enumerate(values) if own is not None} if sparse else values
    content |= {"status": status} if status else {}
    path = tmp_path / "t.json"
    path.write_text(json.dumps(content, indent=2))
    written = changed(path, tmp_path / "out", {CellAddress("t.json", "", 1, 0): "c", CellAddress("t.json", "", 2, 0): "7"})
    again = json.loads(written.read_text())
    assert {name: own for name, own in again.items() if name not in ("value", "status")} == {
        name: own for name, own in content.items() if name not in ("value", "status")
    }
    assert (again["value"].get("1") if sparse else again["value"][1]) is None


def test_cells_and_files_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,5\n")
    sources = sources_of(path)
    with pytest.raises(DataError, match=r"there is no cell t!B3"):
        write_back(sources, {CellAddress("t.csv", "t", 2, 1): "*"}, tmp_path / "out")
    with pytest.raises(DataError, match=r"u.csv: t!B2: no such file was read; the files are t.csv"):
        write_back(sources, {CellAddress("u.csv", "t", 1, 1): "*"}, tmp_path / "out")
    with pytest.raises(DataError, match="would replace a file that was read"):
        write_back(sources, {}, tmp_path)
    path.write_text("a,b\nx,6\n")
    with pytest.raises(DataError, match="has changed since it was read"):
        write_back(sources, {}, tmp_path / "out")


def test_formats_that_are_not_written(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "t.parquet"
    pandas.DataFrame({"a": ["x"], "n": [5]}).to_parquet(path)
    with pytest.raises(DataError, match=r"Parquet of this kind \(.parquet\) cannot be written back; save the table as"):
        write_back(sources_of(path), {CellAddress("t.parquet", "t", 1, 1): "*"}, tmp_path / "out")


def test_every_count_has_its_address(tmp_path: Path, book: Path) -> None:
    px = tmp_path / "t.px"
    px.write_bytes(PX)
    for path in (book, px):
        reading = read_files([path], told_of([]))
        known = texts(path)
        for table in reading.tables:
            assert table.entries
            assert all(known[entry.address] == entry.text for entry in table.entries.values() if entry.address)
            assert all(entry.address and entry.address.place == entry.place for entry in table.entries.values())


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared tables are not here")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_files(name: str, tmp_path: Path) -> None:
    """Every twentieth cell of real files replaced by a symbol."""
    path = tmp_path / name
    shutil.copyfile(SHARED / name, path)
    written = changed(path, tmp_path / "out", dict.fromkeys(list(texts(path))[10::20], "[c]"))
    if path.suffix == ".xlsx":
        assert styles(written) == styles(path)
