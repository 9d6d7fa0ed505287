"""Twelve files in twelve shapes are read without a release file; malformed ones are refused with a word on what to do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from genverify.disclosure.interpretation import Interpretation, PrintedForm, interpret
from genverify.disclosure.link import name_of
from genverify.model.errors import GenverifyError

TWO_WAY = "Age \\ Sex,Women,Men,Total\n0-14,12,18,30\n15-64,40,41,81\n65+,3,6,9\nTotal,55,65,120\n"
WANTED = {"Age=0-14, Sex=Women": 12, "Age=65+, Sex=Men": 6, "Sex=Men": 65, "everyone": 120}


def plain_csv(folder: Path) -> Path:
    (folder / "t.csv").write_text(TWO_WAY)
    return folder / "t.csv"


def semicolons_in_a_code_page(folder: Path) -> Path:
    """Semicolons, Windows code page, blanks as thousands separators, a title above and a footnote below."""
    text = (
        "Bev\u00f6lkerung nach Alter;;;\n;;;\n"
        + TWO_WAY.replace(",", ";").replace("120", "120")
        + ";;;\nQuelle: erfunden;;;\n"
    )
    (folder / "t.csv").write_bytes(text.encode("cp1252"))
    return folder / "t.csv"


def tabs_in_utf16(folder: Path) -> Path:
    (folder / "t.txt").write_bytes(TWO_WAY.replace(",", "\t").encode("utf-16"))
    return folder / "t.txt"


def tidy(folder: Path) -> Path:
    (folder / "t.csv").write_text(long_form("Age,Sex,count"))
    return folder / "t.csv"


def sdmx(folder: Path) -> Path:
    lines = [f"X:Y(1.0),{line},A,F" for line in long_form("Age,Sex,OBS_VALUE").replace("Total", "_T").splitlines()[1:]]
    (folder / "t.csv").write_text("\n".join(["DATAFLOW,Age,Sex,OBS_VALUE,OBS_STATUS,CONF_STATUS", *lines]) + "\n")
    return folder / "t.csv"


def long_form(head: str) -> str:
    rows = [line.split(",") for line in TWO_WAY.splitlines()]
    lines = [f"{row[0]},{sex},{row[at]}" for row in rows[1:] for at, sex in enumerate(rows[0]) if at]
    return "\n".join([head, *lines]) + "\n"


def workbook(folder: Path) -> Path:
    """A sheet of notes, then a sheet with a title, two header rows (the first merged) and percentages beside counts."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active["A1"] = "All counts are made up."
    sheet = book.create_sheet("Table 1")
    rows = [["People by age and sex", *[None] * 6], ["Age", "Women", None, "Men", None, "Total", None],
            [None, "Number", "%", "Number", "%", "Number", "%"]]  # fmt: skip
    for line in TWO_WAY.splitlines()[1:]:
        age, women, men, total = line.split(",")
        rows.append([age, int(women), 0.4, int(men), 0.6, int(total), 1.0])
    for row in rows:
        sheet.append(row)
    for row in range(4, 8):
        for column in "CEG":
            sheet[f"{column}{row}"].number_format = "0%"
    for cells in ("B2:C2", "D2:E2", "F2:G2"):
        sheet.merge_cells(cells)
    sheet["A3"] = "Age"
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def two_tables_on_a_sheet(folder: Path) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in TWO_WAY.splitlines():
        book.active.append([int(text) if text.isdecimal() else text for text in line.split(",")])
    book.active.append([])
    for row in (
        ["Age", "Town", "Country", "Total"],
        ["0-14", 10, 20, 30],
        ["15-64", 40, 41, 81],
        ["65+", 4, 5, 9],
        ["Total", 54, 66, 120],
    ):
        book.active.append(row)
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def pc_axis(folder: Path) -> Path:
    values = "\n".join(" ".join(line.split(",")[1:]) for line in TWO_WAY.splitlines()[1:])
    (folder / "t.px").write_text(
        'CHARSET="ANSI";\nTITLE="People";\nSTUB="Age";\nHEADING="Sex";\nVALUES("Age")="0-14","15-64","65+","Total";\n'
        f'VALUES("Sex")="Women","Men","Total";\nELIMINATION("Sex")="Total";\nDATA=\n{values};\n'
    )
    return folder / "t.px"


def json_stat(folder: Path) -> Path:
    values = [int(text) for line in TWO_WAY.splitlines()[1:] for text in line.split(",")[1:]]
    age = {"category": {"index": ["0-14", "15-64", "65+", "Total"]}}
    sex = {"category": {"index": {"f": 0, "m": 1, "t": 2}, "label": {"f": "Women", "m": "Men", "t": "Total"}}}
    dataset = {"version": "2.0", "class": "dataset", "id": ["Age", "Sex"], "size": [4, 3], "value": values}
    (folder / "t.json").write_text(json.dumps({**dataset, "dimension": {"Age": age, "Sex": sex}}))
    return folder / "t.json"


def r_data_frame(folder: Path) -> Path:
    pyreadr = pytest.importorskip("pyreadr")
    rows = [line.split(",") for line in long_form("Age,Sex,Freq").splitlines()]
    frame = pd.DataFrame(rows[1:], columns=rows[0]).assign(Freq=lambda own: own["Freq"].astype(float))
    pyreadr.write_rds(str(folder / "t.rds"), frame)
    return folder / "t.rds"


def parquet(folder: Path) -> Path:
    rows = [line.split(",") for line in long_form("Age,Sex,count").splitlines()]
    pd.DataFrame(rows[1:], columns=rows[0]).to_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def tau_argus(folder: Path) -> Path:
    (folder / "t.tab").write_text("\n".join(f"{line},S" for line in long_form("").splitlines() if line) + "\n")
    (folder / "t.rda").write_text(
        '   <SEPARATOR>  ","\nAge\n   <RECODEABLE>\n   <TOTCODE> "Total"\n   <HIERARCHICAL>\n   <HIERCODELIST> "age.hrc"\n'
        '   <HIERLEADSTRING> "@"\nSex\n   <RECODEABLE>\n   <TOTCODE> "Total"\nCount\n   <FREQUENCY>\nStat\n   <STATUS>\n'
    )
    (folder / "age.hrc").write_text("0-14\n15-64\n65+\n")
    return folder


def acro_session(folder: Path) -> Path:
    lines = TWO_WAY.splitlines()
    (folder / "output_0_0.csv").write_text("\n".join([lines[0], *(line.replace(",3,", ",,") for line in lines[1:])]) + "\n")
    output = {
        "uid": "output_0",
        "type": "table",
        "status": "fail",
        "output": ["output_0_0.csv"],
        "outcome": {"Women": {"65+": "threshold; "}},
    }
    (folder / "results.json").write_text(json.dumps({"version": "0.4.8", "results": {"output_0": output}}))
    return folder


SHAPES = [plain_csv, semicolons_in_a_code_page, tabs_in_utf16, tidy, sdmx, workbook, two_tables_on_a_sheet, pc_axis,
          json_stat, r_data_frame, parquet, tau_argus, acro_session]  # fmt: skip


def read(path: Path, **told: Any) -> Interpretation:
    return interpret(
        PrintedForm(printed=[path.name] if path.is_file() else ["."], **told), path.parent if path.is_file() else path
    )


def counts(understood: Interpretation) -> dict[str, int]:
    return {name_of(key): said[0][2].lo for key, said in understood.linked.printed.items() if said[0][2].lo == said[0][2].hi}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_all_shapes_say_the_same(shape: Callable[[Path], Path], tmp_path: Path) -> None:
    understood = read(
        shape(tmp_path), marks={"suppressed": "suppressed"} if shape is acro_session else {}, partial=shape is workbook
    )
    columns = {frozenset(table.columns) for table in understood.tables}
    found = counts(understood)
    if shape is workbook:  # its columns have no name: nothing on the sheet says what Women and Men are
        found = {name.replace("columns=", "Sex="): count for name, count in found.items()}
    else:
        assert frozenset({"Age", "Sex"}) in columns or frozenset({"rows", "columns"}) in columns
    assert {name: found.get(name) for name in WANTED} == WANTED


def test_labels_are_separated_from_notes_and_percentages(tmp_path: Path) -> None:
    understood = read(workbook(tmp_path), partial=True)
    (table,) = understood.tables
    assert [share.entry.text for share in table.shares if share.labels == ("0-14", "Women")] == ["40%"]
    assert understood.reading.conservation["notes"] == 2


def test_sections_indents_bands_and_sizes_in_headers(tmp_path: Path) -> None:
    """A summary table as gtsummary prints it: sections, counts with percentages, N in the headers."""
    (tmp_path / "t.csv").write_text(
        'Characteristic,"Drug A, N = 98","Drug B, N = 102"\nStage,,\nT1,28 (29%),25 (25%)\n'
        "T2,25 (26%),29 (28%)\nT3,45 (46%),48 (47%)\n"
        "Response,,\nno,70 (71%),*\nyes,28 (29%),*\n"
    )
    (table,) = read(tmp_path / "t.csv", marks={"*": "suppressed"}).tables
    assert table.columns == ("Characteristic", "columns")
    assert table.sums["Characteristic"].parts == {"Total": (("T1", "T2", "T3"), ("no", "yes"))}
    assert table.entries["Total", "Drug A"].text == "98"
    assert table.entries["T1", "Drug A"].number == 28
    assert len(table.shares) == 8


def test_thousands_and_bands(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('age,n\n0-4,"1,200"\n5-9,"1,300"\n0-9,"2,500"\n10+,507\nTotal,"3,007"\n')
    (table,) = read(tmp_path / "t.csv").tables
    assert dict(table.sums["age"]) == {"Total": ("0-9", "10+"), "0-9": ("0-4", "5-9")}


MALFORMED = {
    "empty.csv": ("", "no table with counts"),
    "no_body.csv": ("Age,Women,Men\nyoung,many,few\nold,some,none at all\n", "no table with counts"),
    "word.csv": ("Age,Women,Men\nyoung,3,4\nold,5,about six\n", "is it a label.*--counts C"),
    "twice.csv": ("Age,Women,Men\nyoung,3,4\nyoung,5,6\n", "same labels as another row"),
    "two_totals.csv": (
        "Age,Women,Men\nyoung,3,4\nTotal,3,4\nAll ages,3,4\n",
        "'Total' is called a total, but its parts are not clear",
    ),
    "broken.json": ('{"version": "2.0", "class": "dataset"', "not valid JSON"),
    "short.json": (
        '{"id": ["a"], "size": [2], "value": [1], "dimension": {"a": {"category": {"index": ["x", "y"]}}}}',
        r"blank \(1 times\)",
    ),
    "short.px": ('STUB="a";\nVALUES("a")="x","y";\nDATA=\n1 2 3;\n', "3 cells are printed, but the labels make 2"),
    "no_book.xlsx": ("this is no workbook", "cannot be opened as a workbook"),
    "old.xls": ("x", "cannot be opened as a workbook"),
    "quotes.csv": ('Age,Women\n"young,3\nold,4\n', "quotation marks|no table|same labels"),
    "lonely.tab": ("a,1\n", "lonely.rda is missing"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files_are_refused_with_a_clear_message(name: str, tmp_path: Path) -> None:
    text, message = MALFORMED[name]
    if name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
    (tmp_path / name).write_text(text)
    with pytest.raises(GenverifyError, match=message) as error:
        interpret(PrintedForm(printed=[name]), tmp_path)
    assert name.split(".")[0] in str(error.value)


def test_a_column_with_negative_numbers_counts_nobody(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Age,Women,Men\nyoung,-3,4\nold,5,6\n")
    understood = read(tmp_path / "t.csv")
    assert len(understood.linked.printed) == 2
    assert "'Women'" in understood.left_out[0]


def test_symbols_are_never_guessed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Age,Women,Men,Total\nyoung,*,4,9\nold,<5,,8\nTotal,8,9,17\n")
    with pytest.raises(GenverifyError, match=r"\* \(1 times\), blank \(1 times\)"):
        read(tmp_path / "t.csv")
    symbols = read(tmp_path / "t.csv", marks={"*": "1-4", "blank": "suppressed"}).symbols
    assert [symbols[text].limits for text in ("*", "<5", "")] == [(1, 4), (0, 4), None]
    assert [symbols[text].how for text in ("*", "<5", "")] == ["as given", "printed as a limit", "as given"]


def test_a_number_that_the_rule_cannot_print_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Age,Women,Men\nyoung,3,4\nold,6,9\n")
    with pytest.raises(GenverifyError, match=r"C2: 4 cannot come from rounding to base 3"):
        read(tmp_path / "t.csv", rule=["random=3"])
