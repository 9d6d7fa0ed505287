"""What went wrong on real tables, each as a small file: the reading gives the right roles, or leaves out and asks."""

import csv
import time
from pathlib import Path

import openpyxl
import pytest
from openpyxl.styles import Alignment

from genverify.cli import main
from genverify.model.errors import ConfigError, DataError
from genverify.reading.numerals import displayed_decimal
from genverify.reading.read_command import read_files, told_of
from genverify.reading.reading import Reading


def reading_of(folder: Path, text: str, *options: str, name: str = "t.csv") -> Reading:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_files([path], told_of(list(options)))


def roles(reading: Reading, table: int = 0) -> str:
    """The first letter of each column's role."""
    return "".join(column.role[0] for column in reading.tables[table].columns)


def tree(reading: Reading, axis: int = 0, table: int = 0) -> dict[str, tuple[str, ...]]:
    return dict(reading.tables[table].axes[axis].tree)


def test_line_of_unknown_symbols_is_no_header(tmp_path: Path) -> None:
    text = "group,Cases,Tests\na,[REDACTED],[REDACTED]\nb,5,7\nc,8,9\n"
    reading = reading_of(tmp_path, text)
    assert (reading.met["[REDACTED]"], reading.roles["count"]) == (2, 4)
    unknown = reading_of(tmp_path, text.replace("[REDACTED]", "kept back"))
    assert unknown.tables[0].block.header == (0,)
    assert [own.cells for own in unknown.left_out] == [2]
    assert "kept back" in unknown.left_out[0].why
    told = reading_of(tmp_path, text.replace("[REDACTED]", "kept back"), "--symbol", "kept back=suppressed")
    assert (told.met["kept back"], len(told.left_out)) == (2, 0)


def test_line_of_unknown_symbols_in_the_middle_or_after_a_gap(tmp_path: Path) -> None:
    for gap in ("", "\n"):
        reading = reading_of(tmp_path, f"group,Cases,Tests\nb,5,7\n{gap}a,kept back,kept back\nc,8,9\nd,1,2\n")
        assert len(reading.tables) == 1
        assert sum(own.cells for own in reading.left_out) == 2


def test_repeated_headers_are_no_labels(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, "area,Count,Rate\na,5,1.5\nb,*,2.5\narea,Count,Rate\nc,7,3.5\nd,9,0.5\n")
    assert roles(reading) == "lcr"
    assert (reading.roles["count"], reading.met["*"], reading.tables[0].block.repeated) == (3, 1, (3,))


@pytest.mark.parametrize("word", ["persons", "people", "number", "n", "value", "count", "frequency"])
def test_word_in_the_header_of_a_crosstab(tmp_path: Path, word: str) -> None:
    reading = reading_of(tmp_path, f"area,{word},male,female\nnorth,12,*,3\nsouth,30,10,20\nTotal,42,19,23\n")
    assert roles(reading) == "lccc"
    assert reading.met["*"] == 1
    assert tree(reading) == {"Total": ("north", "south")}


def test_name_alone_makes_no_total(tmp_path: Path) -> None:
    text = "race,n\nWhite,50\nBlack,30\nAll other races,20\nAll,100\n"
    reading = reading_of(tmp_path, text)
    assert tree(reading) == {"All": ("White", "Black", "All other races")}
    text = "school,pupils,boys\nHigh school,50,20\nALL CITY LEADERSHIP SCHOOL,30,11\nOther school,20,3\n"
    assert tree(reading_of(tmp_path, text)) == {}


def test_commas_and_quotes_in_labels_stay_apart(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, 'A,B,n\nx,"y",1\n"x, B=y",z,2\n"x, B=y","y",3\nx,z,*\n')
    assert set(reading.tables[0].entries) == {("x", "y"), ("x, B=y", "z"), ("x, B=y", "y"), ("x", "z")}


def test_code_and_name_are_one_axis(tmp_path: Path) -> None:
    lines = "".join(f"E{at:03},Place {at},{year},{at * 7 % 11}\n" for at in range(30) for year in (2019, 2020))
    reading = reading_of(tmp_path, "code,name,year,cases\n" + lines)
    assert [(axis.kind, len(axis.labels)) for axis in reading.tables[0].axes] == [("parts", 30), ("time", 2)]
    assert len(reading.tables[0].entries) == 60


def test_thousands_that_could_be_decimals_are_asked(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, "a;n\nx;2.000\ny;1.500\nz;4.250\n")
    assert [entry.number for entry in reading.tables[0].entries.values()] == [2000, 1500, 4250]
    assert any("2.000" in one.text for one in reading.questions)


@pytest.mark.parametrize("comma", [False, True])
def test_binary_fractions_are_read_as_the_decimals_that_people_see(tmp_path: Path, comma: bool) -> None:
    stored = ["69.599999999999994", "30.399999999999999", "55.600000000000001", "44.399999999999999"]
    seen = ["69.6", "30.4", "55.6", "44.4"]
    assert [float(one) for one in stored] == [float(one) for one in seen]

    def table(shares: list[str]) -> str:
        a, b, c, d = (share.replace(".", ",") if comma else share for share in shares)
        return f"area;sex;n;percent\nnorth;f;16;{a}\nnorth;m;7;{b}\nsouth;f;10;{c}\nsouth;m;8;{d}\n"

    reading, plain = reading_of(tmp_path, table(stored)), reading_of(tmp_path, table(seen))
    assert reading.tables == plain.tables
    assert [one for one in reading.said if "4 numbers are stored as binary fractions" in one]
    assert not any("binary" in one for one in plain.said)


@pytest.mark.parametrize(
    "text",
    [
        "33.333333333333336",
        "0.30000000000000004",
        "12.500000000000000",
        "69.6",
        "69.5999999999999",
        "1234567890123456",
        "3.14159265358979312",
        "1.00000000000000000000000001",
        "a.599999999999994",
    ],
)
def test_numbers_with_digits_of_their_own_stay_as_printed(text: str) -> None:
    assert displayed_decimal(text) == text


def test_age_label_that_looks_like_a_limit(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, "Age group,Cases\n<10,15\n10-19,7\n20-29,<5\n30+,8\n")
    assert roles(reading) == "lc"
    assert dict(reading.met) == {"<5": 1}
    assert reading.symbols["<5"].meaning == "between 0 and 4"


def test_numbers_beside_a_note_are_left_out(tmp_path: Path) -> None:
    text = "age,2019,2020\n16,5,6\n17,7,8\n18,1,2\n\nNote: excludes one case of unknown age,13,16\n"
    reading = reading_of(tmp_path, text)
    assert (reading.roles["count"], sum(own.cells for own in reading.left_out)) == (6, 2)


def test_rows_with_the_same_labels_are_left_out(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, "area,n\na,5\na,6\nb,7\n")
    assert [own.cells for own in reading.left_out] == [2]
    assert set(reading.tables[0].entries) == {("b",)}


def test_stacked_breakdowns_without_a_total(tmp_path: Path) -> None:
    text = "group,variable,n\nsex,male,40\nsex,female,60\nage,young,30\nage,old,*\nregion,north,55\nregion,south,45\n"
    axis = reading_of(tmp_path, text).tables[0].axes[0]
    sets = (("", ("male", "female")), ("", ("young", "old")), ("", ("north", "south")))
    assert (axis.kind, axis.tree) == ("stacked", sets)


def test_flag_and_period_columns(tmp_path: Path) -> None:
    lines = "".join(
        f"{year},{area},{year % 7 + at},{'A' if at else 'E'}\n"
        for year in range(2010, 2020)
        for at, area in enumerate(("north", "south"))
    )
    reading = reading_of(tmp_path, "TIME_PERIOD,REF_AREA,OBS_VALUE,OBS_STATUS\n" + lines)
    assert [column.role for column in reading.tables[0].columns] == ["period", "label", "count", "flag"]


def test_measure_names_say_which_rows_count(tmp_path: Path) -> None:
    text = "area,measure,value\nnorth,Number,40\nnorth,Percentage,40.5\nsouth,Number,c\nsouth,Percentage,59.5\n"
    reading = reading_of(tmp_path, text)
    assert (reading.roles["count"], reading.roles["percentage"], reading.met["c"]) == (1, 2, 1)


def test_percentages_beside_suppressed_counts_are_kept(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, "group,n,%\nA,*,40.0\nB,*,60.0\nTotal,5,100.0\n")
    assert roles(reading) == "lcp"
    assert list(reading.tables[0].figures[0].texts) == ["40.0", "60.0", "100.0"]


def workbook(path: Path) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (
        ["Area", "n", "m"],
        ["North", 30, 14],
        ["men", 10, 5],
        ["women", 20, 9],
        ["South", 12, 7],
        ["men", 4, 3],
        ["women", 8, 4],
    ):
        sheet.append(row)
    for at in (3, 4, 6, 7):
        sheet[f"A{at}"].alignment = Alignment(indent=1)
    book.save(path)
    return book


def test_indentation_is_part_of_the_page(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    workbook(path)
    assert tree(read_files([path], told_of([]))) == {
        "North": ("North: men", "North: women"),
        "South": ("South: men", "South: women"),
    }


def test_formula_without_a_value_and_hidden_sheet_are_said(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book = workbook(path)
    book.worksheets[0]["B9"] = "=SUM(B2:B8)"
    book.worksheets[0]["A9"] = "Total"
    hidden = book.create_sheet("raw")
    hidden.sheet_state = "hidden"
    for row in (["id", "n"], ["a", 3], ["b", 4]):
        hidden.append(row)
    book.save(path)
    reading = read_files([path], told_of([]))
    assert [(own.place, own.cells) for own in reading.left_out] == [("Sheet!B9", 1)]
    assert any("'raw' is hidden" in one for one in reading.said)
    assert reading.tables[1].hidden
    assert reading.conserved


def test_writing_over_an_input_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,n\nx,1\ny,2\n")
    assert main(["read", str(path), "--write", str(path)]) == 2
    assert "is one of the files that are read" in capsys.readouterr().err
    assert path.read_text() == "a,n\nx,1\ny,2\n"


def test_every_cell_is_written_with_its_role(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Title of a table\n\na,n\nx,1\ny,*\n")
    assert main(["read", str(path), "--cells", str(tmp_path / "cells.csv")]) == 0
    with (tmp_path / "cells.csv").open() as file:
        assert [(line["place"], line["role"]) for line in csv.DictReader(file)] == [
            ("t!A1", "note"), ("t!A3", "header"), ("t!B3", "header"), ("t!A4", "label"), ("t!B4", "count"),
            ("t!A5", "label"), ("t!B5", "symbol"),
        ]  # fmt: skip


def test_what_is_told_of_nothing_is_an_error(tmp_path: Path) -> None:
    for options, word in (
        (("--total", "are=x"), "no table has this column"),
        (("--total", "a=z"), "no label"),
        (("--labels", "Q"), "no table"),
        (("--sheet", "other"), "no such sheet"),
    ):
        with pytest.raises(ConfigError, match=word):
            reading_of(tmp_path, "a,n\nx,1\ny,2\n", *options)


def test_symbol_that_is_never_met_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="never appears in place of a number"):
        reading_of(tmp_path, "a,n\nx,1\ny,2\n", "--symbol", "q=suppressed")


@pytest.mark.parametrize(
    ("name", "text"), [("e.csv", ""), ("w.csv", "\n\n,,\n"), ("n.csv", "just a text\n"), ("one.csv", "5\n")]
)
def test_file_without_a_table_still_has_a_reading(tmp_path: Path, name: str, text: str) -> None:
    reading = reading_of(tmp_path, text, name=name)
    assert reading.conserved
    assert reading.tables == ()


def test_file_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no file of tables"):
        read_files([tmp_path], told_of([]))
    with pytest.raises(DataError, match="not a regular file"):
        read_files([Path("/dev/null")], told_of([]))
    with pytest.raises(DataError, match="cannot be opened as a workbook"):
        reading_of(tmp_path, "no zip", name="t.xlsx")
    with pytest.raises(DataError, match="no JSON-stat dataset"):
        reading_of(tmp_path, '{"a": 1}', name="t.json")


@pytest.mark.parametrize("spoil", ['"size": ["x"]', '"dimension": {"a": 5}', '"value": 7'])
def test_json_stat_that_is_broken_is_named(tmp_path: Path, spoil: str) -> None:
    parts = {"id": '["a"]', "size": "[2]", "value": "[1, 2]",
             "dimension": '{"a": {"label": "area", "category": {"index": ["x", "y"]}}}'}  # fmt: skip
    whole = "{" + ", ".join(f'"{key}": {own}' for key, own in parts.items()) + "}"
    assert reading_of(tmp_path, whole, name="t.json").roles["count"] == 2
    key = spoil.split('"')[1]
    with pytest.raises(DataError, match=r"t\.json"):
        reading_of(tmp_path, whole.replace(f'"{key}": {parts[key]}', spoil), name="t.json")


def test_workbook_whose_parts_are_spoilt_is_read_or_named(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    workbook(path)
    data = path.read_bytes()
    lost, refused = 0, list[str]()
    for at in range(40, len(data), 97):
        path.write_bytes(data[:at] + b"\x07" + data[at + 1 :])
        try:
            lost += not read_files([path], told_of([])).conserved
        except DataError as error:
            refused.append(str(error))
    assert lost == 0
    assert all("t.xlsx" in text for text in refused)


def test_options_correct_a_role(tmp_path: Path) -> None:
    text = "area,size,n,comment\na,1,5,ok\nb,2,6,ok\nc,1,*,ok\nsum,4,16,ok\n"
    reading = reading_of(tmp_path, text, "--labels", "B", "--skip", "5", "--period", "2020")
    assert [column.role for column in reading.tables[0].columns] == ["label", "label", "count", "note"]
    assert reading.tables[0].population["period"] == "2020"
    assert len(reading.tables[0].entries) == 3
    assert tree(reading_of(tmp_path, text, "--total", "area=sum")) == {"sum": ("a", "b", "c")}
    assert sum(own.cells for own in reading_of(tmp_path, text, "--skip", "C").left_out) == 4


def test_px_with_words_for_its_symbols_and_a_total_of_its_own(tmp_path: Path) -> None:
    px = 'STUB="area";HEADING="sex";UNITS="number";VALUES("area")="whole","a","b";VALUES("sex")="men","women";\n'
    px += 'ELIMINATION("area")="whole";DATASYMBOL2="confidential";DATA=\n30 40;\n10 15;\n20 "..";'
    reading = reading_of(tmp_path, px, name="t.px")
    assert (reading.roles["count"], reading.met[".."], reading.symbols[".."].said) == (5, 1, "confidential")
    short = reading_of(tmp_path, px.replace('20 ".."', "20"), name="u.px")
    assert (short.roles["count"], short.roles["left out"]) == (0, 5)


def test_zero_beside_a_disclosure_flag_is_a_symbol(tmp_path: Path) -> None:
    lines = "".join(
        f"{at:05},Place {at},{'N' if at % 3 == 0 else ''},{0 if at % 3 == 0 else 7 + at}\n" for at in range(1, 20)
    )
    reading = reading_of(tmp_path, "area_fips,area,disclosure_code,employment\n" + lines)
    assert (reading.met["0 (N)"], reading.symbols["0 (N)"].meaning, reading.roles["count"]) == (6, "suppressed", 13)
    assert reading.conserved


def test_blank_value_with_a_flag_is_a_symbol(tmp_path: Path) -> None:
    lines = "".join(f"{2000 + at},DE,{'' if at % 4 == 0 else 50 + at},{'c' if at % 4 == 0 else 'A'}\n" for at in range(12))
    reading = reading_of(tmp_path, "TIME_PERIOD,GEO,OBS_VALUE,OBS_STATUS\n" + lines)
    assert (reading.met["(c)"], reading.roles["count"], reading.roles["flag"]) == (3, 9, 9)
    assert reading.conserved


def test_wide_files_are_read_within_seconds(tmp_path: Path) -> None:
    """Many columns of counts with percentages among them, and many labels that begin as totals do."""
    head = ",".join(["a", *(f"{'pct' if at % 40 == 0 else 'n'} {at}" for at in range(600))])
    lines = [
        ",".join([f"All {row}", *("12.5" if at % 40 == 0 else str(at * row % 97) for at in range(600))])
        for row in range(400)
    ]
    started = time.process_time()
    reading = reading_of(tmp_path, "\n".join([head, *lines]))
    assert reading.roles["percentage"] == 6000
    assert time.process_time() - started < 20


def test_digits_that_are_no_numbers_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("area,\u00b2\u00b2\u00b2\u00b2,x\nA,1,2\nB,3,4\n", encoding="utf-8")
    reading = read_files([path], told_of([]))
    assert [column.head for column in reading.tables[0].columns] == ["area", "\u00b2\u00b2\u00b2\u00b2", "x"]
