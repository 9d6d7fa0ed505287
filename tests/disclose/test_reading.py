"""What is read of a file is what stands in it: each text is placed, or the file is refused and the place named."""

import json
import os
from collections.abc import Callable, Mapping
from math import inf, nan
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from genverify.checker.certificate import CertificateError
from genverify.checker.linear_proofs import check_linear
from genverify.model.errors import GenverifyError
from genverify.model.linear import make_system
from genverify.reading.read_command import read_files
from genverify.reading.reading import Corrections
from genverify.solve.program import integer_point
from genverify.solve.solvers.base import Optimal
from readers_fuzz import run
from readings import ask, cpu_seconds

STAR = ("--mark", "*=suppressed")
SHARED = Path(__file__).parents[2].parent / "shared" / "tables"


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def book(folder: Path, sheets: Mapping[str, Any], change: Callable[[Any], None] = lambda book: None) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    change(made)
    made.save(folder / "t.xlsx")
    return folder / "t.xlsx"


# percentages


def test_percentages_beside_withheld_counts_are_facts_where_nothing_can_be_compared(tmp_path: Path) -> None:
    reply = ask(write(tmp_path, "group,n,%\nA,*,40.0\nB,*,60.0\nTotal,5,100.0\n"), *STAR)
    assert reply.code == 1
    assert reply.answer["safe"] is False
    assert reply.says("group=A", 2, 2)
    assert reply.says("group=B", 3, 3)
    listed = (tmp_path / "audit" / "suppress.csv").read_text()
    assert "40.0" in listed
    assert "60.0" in listed


def test_what_is_left_out_keeps_a_release_from_being_safe(tmp_path: Path) -> None:
    """They could be of their row, their column or everyone: they are left out, so nothing is called safe."""
    text = "age,Men,%,Women,%\na,*,11.0,*,12.0\nb,*,13.0,*,14.0\nc,*,15.0,*,16.0\n"
    table = write(tmp_path, text)
    reply = ask(table, *STAR)
    assert reply.code == 1
    assert reply.answer["safe"] is None
    assert "percentages" in reply.answer["left_out"][0]
    assert ask(table, *STAR, "--allow-partial").code == 0
    assert "Not everything was read" in " ".join(said(table, *STAR))


def said(*words: object) -> list[str]:
    from contextlib import redirect_stdout
    from io import StringIO

    from genverify.cli import main

    out = StringIO()
    with redirect_stdout(out):
        main(["disclose", *map(str, words)])
    return out.getvalue().splitlines()


# populations


@pytest.mark.parametrize("names", [("pop_2019.csv", "pop_2020.csv"), ("Q1 2020.csv", "Q2 2020.csv")])
def test_tables_of_two_years_are_not_the_same_people(tmp_path: Path, names: tuple[str, str]) -> None:
    first = write(tmp_path, "area,men,women,Total\nA,12,3,15\nB,*,*,13\nTotal,*,12,28\n", names[0])
    second = write(tmp_path, "area,men,women,Total\nA,12,3,15\nB,*,9,*\nTotal,16,*,28\n", names[1])
    reply = ask(first, second, *STAR)
    assert reply.refused
    assert "--same-people" in reply.text
    assert not ask(first, second, *STAR, "--same-people").refused


def test_two_years_in_titles_and_sheets_and_columns(tmp_path: Path) -> None:
    rows = [["area", "men", "women", "Total"], ["A", 12, 3, 15], ["B", "*", 9, "*"], ["Total", "*", 12, 28]]
    assert "--same-people" in ask(book(tmp_path, {"2019": rows, "2020": rows}), *STAR).text
    titled = [["People in 2019"], [], *rows, [], ["People in 2020"], [], *rows]
    assert "--same-people" in ask(book(tmp_path, {"t": titled}), *STAR).text
    by_year = write(tmp_path, "year,area,count\n2019,A,5\n2019,B,*\n2020,A,6\n2020,B,7\n")
    other = write(tmp_path, "area,sex,count\nA,m,5\nA,f,6\nB,m,7\nB,f,*\n", "sex.csv")
    assert "--same-people" in ask(by_year, other, *STAR).text


# totals


def test_a_total_needs_numbers_that_agree_with_its_name(tmp_path: Path) -> None:
    text = "race,n\nBlack,10\nAsian,20\nAll other races,5\nWhite,*\n"
    reply = ask(write(tmp_path, text), *STAR)
    assert reply.refused or not reply.answer["unsafe_cells"]
    assert "'All other races' is the total" not in reply.text
    school = "school,n\nALL CITY LEADERSHIP SECONDARY SCHOOL,30\nBRONX SCHOOL,*\nOTHER SCHOOL,20\n"
    reply = ask(write(tmp_path, school), *STAR)
    assert reply.refused or not reply.answer["unsafe_cells"]


def test_a_name_that_may_be_a_total_is_asked_about_and_can_be_told(tmp_path: Path) -> None:
    table = write(tmp_path, "race,n\nBlack,10\nAsian,*\nAll races,35\n")
    reply = ask(table, *STAR)
    assert reply.refused
    assert "--total 'race=All races'" in reply.text
    assert ask(table, *STAR, "--total", "race=All races").says("race=Asian", 25, 25)
    assert ask(table, *STAR, "--no-total", "All races").answer["unsafe_cells"] == []


def test_indented_rows_are_parts_of_the_row_above(tmp_path: Path) -> None:
    """Their sum is that of their parent: they are never added to it, so none of them is known."""
    text = "area,men,women,Total\nNorth,10,20,30\n  North A,*,*,*\n  North B,*,*,*\nSouth,5,6,11\nTotal,15,26,41\n"
    reply = ask(write(tmp_path, text), *STAR)
    assert not reply.refused
    assert reply.answer["unsafe_cells"] == []
    spaced = [["area", "men", "women", "Total"], ["North", 10, 20, 30], ["  North A", "*", "*", "*"],
              ["  North B", "*", "*", "*"], ["South", 5, 6, 11], ["Total", 15, 26, 41]]  # fmt: skip
    reply = ask(book(tmp_path, {"t": spaced}), *STAR)
    assert not reply.refused
    assert reply.answer["unsafe_cells"] == []


@pytest.mark.parametrize("between", ["", ",,,\n"])
def test_a_blank_row_parts_what_is_indented_from_the_row_above(tmp_path: Path, between: str) -> None:
    """Without a sum in numbers nobody can tell whether rows further in belong to the row before a blank one."""
    text = f"area,men,women,Total\nNorth,10,20,30\n{between}  A,*,*,*\n  B,*,*,*\nSouth,5,6,11\nTotal,15,26,41\n"
    reply = ask(write(tmp_path, text), *STAR)
    assert reply.refused == bool(between)


@pytest.mark.parametrize(
    "inner", ["  North A,*,*,*\n", "  North A,1,1,2\n  North B,1,1,2\n", "  of which A,*,*,*\n  of which B,*,*,*\n"]
)
def test_indented_rows_that_may_not_add_up_are_refused(tmp_path: Path, inner: str) -> None:
    reply = ask(write(tmp_path, f"area,men,women,Total\nNorth,10,20,30\n{inner}South,5,*,11\nTotal,15,26,41\n"), *STAR)
    assert reply.refused
    assert "North" in reply.text


# numbers and symbols


def test_a_sign_that_may_be_decimal_or_thousands_is_asked_about(tmp_path: Path) -> None:
    table = write(tmp_path, "area;men;women;Total\nA;2.000;3;2.003\nB;4;*;13\nTotal;2.004;12;2.016\n")
    reply = ask(table, *STAR)
    assert reply.refused
    assert "--decimal" in reply.text
    assert "2.000" in reply.text
    assert ask(table, *STAR, "--decimal", ",").says("area=B, columns=women", 9, 9)
    assert any("'men'" in one for one in ask(table, *STAR, "--decimal", ".").answer["left_out"])  # no counts
    clear = write(tmp_path, "area;men;women;Total\nA;2.000;3;2.003\nB;4;*;13\nC;1.200.000;0;1.200.000\n", "clear.csv")
    assert not ask(clear, *STAR).refused


def test_a_header_that_could_be_a_total_of_its_row_makes_no_tidy_table(tmp_path: Path) -> None:
    for head in ("persons", "people", "number", "n", "value", "count", "frequency"):
        reply = ask(write(tmp_path, f"area,men,women,{head}\nA,12,3,15\nB,4,*,13\nTotal,16,12,28\n"), *STAR)
        assert reply.refused or reply.says("area=B, columns=women", 9, 9), head
        reply = ask(write(tmp_path, f"area,men,women,{head}\nA,12,3,15\nB,4,*,13\nTotal,16,12,28\n"))
        assert reply.refused, head


def test_repeated_headers_are_no_labels(tmp_path: Path) -> None:
    reply = ask(write(tmp_path, "area,Count,Count,Count\nA,12,3,15\nB,4,*,13\nTotal,16,12,28\n"), *STAR)
    assert reply.refused
    assert "Count" in reply.text


def test_a_row_of_n_is_no_second_header(tmp_path: Path) -> None:
    reply = ask(write(tmp_path, "area,men,women\nA,N,N\nB,4,9\nTotal,16,12\n"), "--mark", "N=suppressed")
    assert reply.refused or reply.says("area=A, columns=men", 12, 12)


@pytest.mark.parametrize("options", [(), ("--mark", "[REDACTED]=suppressed")])
def test_rows_of_symbols_are_no_headers(tmp_path: Path, options: tuple[str, ...]) -> None:
    text = "area,men,women,Total\nA,[REDACTED],[REDACTED],[REDACTED]\nB,4,9,13\nTotal,16,12,28\n"
    reply = ask(write(tmp_path, text), *options)
    assert reply.refused if not options else reply.says("area=A, columns=men", 12, 12)


@pytest.mark.parametrize("symbol", ["*", "[c]", "[x]", "[low]", "..", "Suppressed", "Redacted", "[REDACTED]", "Masked"])
def test_a_symbol_is_no_label_and_no_header(tmp_path: Path, symbol: str) -> None:
    label = ask(write(tmp_path, f"area,sex,count\nA,m,5\nA,f,6\n{symbol},m,7\n{symbol},f,8\n"))
    assert label.refused
    header = ask(write(tmp_path, f"area,men,{symbol}\nA,5,6\nB,7,8\n"))
    assert header.refused
    told = ask(write(tmp_path, f"area,men,{symbol}\nA,5,6\nB,7,8\n"), "--label", symbol)
    assert not told.refused


@pytest.mark.parametrize("symbol", ["S", "D", "N", "NA", "<5", "-", ":"])
def test_a_symbol_among_numbers_makes_no_column_of_labels(tmp_path: Path, symbol: str) -> None:
    text = f"area,age,count\nA,5,6\nA,7,9\nB,5,7\nB,{symbol},9\n"
    assert ask(write(tmp_path, text)).refused


def test_a_told_symbol_that_is_never_met_is_an_error(tmp_path: Path) -> None:
    reply = ask(write(tmp_path, "area,men,women,Total\nA,12,3,15\nB,4,*,13\n"), *STAR, "--mark", "[c]=suppressed")
    assert reply.refused
    assert "[c]" in reply.text


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("area,men,women\nA,12,3\nB,4,*\nTotal,,\n", "B4"),  # a total without counts is no footnote
        ("area,men,women\nA,12,3\nX,,\nB,4,*\nTotal,16,9\n", "B3"),  # a row without counts: a heading, or blanks?
        ("area,men,women\nA,12,3\nB,4,*\n\n7\n", "A5"),  # a number outside of every table
    ],
)
def test_every_cell_is_placed_or_named(tmp_path: Path, text: str, named: str) -> None:
    reply = ask(write(tmp_path, text), *STAR)
    assert reply.refused
    assert named in reply.text


def test_a_column_of_counts_without_a_header_is_placed_by_its_letter(tmp_path: Path) -> None:
    ask(write(tmp_path, "area,men,women,\nA,12,3,9\nB,4,*,13\n"), *STAR)
    assert "columns=(column D)" in (tmp_path / "audit" / "cells.csv").read_text().replace('"', "")


def test_columns_that_are_no_counts_are_left_out_by_name(tmp_path: Path) -> None:
    reply = ask(write(tmp_path, "school,takers,average score\nA,12,400\nB,20,410\n"))
    assert reply.answer["safe"] is None
    assert any("average score" in one for one in reply.answer["left_out"])


def test_a_flag_beside_a_printed_count_is_no_decoration(tmp_path: Path) -> None:
    """The 0 beside N may be no count at all."""
    reply = ask(write(tmp_path, "area,sex,value,flag\nA,m,5,\nA,f,0,N\nB,m,7,\nB,f,8,\n"))
    assert reply.answer["safe"] is None
    assert "'N'" in reply.answer["left_out"][0]


# workbooks


ROWS = [["area", "men", "women", "Total"], ["A", 12, 3, 15], ["B", 4, "*", 13], ["Total", 16, 12, 28]]


def test_a_formula_without_its_value_is_named(tmp_path: Path) -> None:
    rows = [*ROWS[:3], ["Total", "=SUM(B2:B3)", "=SUM(C2:C3)", "=SUM(D2:D3)"]]
    reply = ask(book(tmp_path, {"t": rows}), *STAR)
    assert reply.refused
    assert "B4" in reply.text
    assert "formula" in reply.text


def test_hidden_sheets_rows_and_columns_are_read_and_said(tmp_path: Path) -> None:
    raw = [["area", "men", "women", "Total"], ["A", 12, 3, 15], ["B", 4, 9, 13], ["Total", 16, 12, 28]]

    def hide(made: Any) -> None:
        made["raw"].sheet_state = "hidden"
        made["t"].row_dimensions[3].hidden = True
        made["t"].column_dimensions["B"].hidden = True

    path = book(tmp_path, {"t": ROWS, "raw": raw}, hide)
    reply = ask(path, *STAR)
    assert not reply.refused
    assert reply.answer["suppressed"] == 0  # the star is printed on the hidden sheet
    notes = " ".join(read_files([path], Corrections()).said)
    assert "sheet 'raw' is hidden" in notes
    assert "1 rows and 1 columns are hidden" in notes


def test_a_comment_in_a_workbook_is_left_out_by_name(tmp_path: Path) -> None:
    comments = pytest.importorskip("openpyxl.comments")

    def comment(made: Any) -> None:
        made["t"]["C3"].comment = comments.Comment("it is 9", "me")

    assert "comment" in " ".join(ask(book(tmp_path, {"t": ROWS}, comment), *STAR).answer["left_out"])


def test_a_formatted_cell_far_away_costs_nothing(tmp_path: Path) -> None:
    def far(made: Any) -> None:
        made["t"]["A1048576"].number_format = "0.00"
        made["t"]["XFD1"].number_format = "0.00"

    assert ask(book(tmp_path, {"t": ROWS}, far), *STAR).says("area=B, columns=women", 9, 9)


def test_a_value_at_the_last_place_of_a_sheet_is_refused_at_once(tmp_path: Path) -> None:
    def far(made: Any) -> None:
        made["t"]["XFD1048576"] = 1

    assert "XFD1048576" in ask(book(tmp_path, {"t": ROWS}, far), *STAR).text


# axes


def test_a_code_and_its_name_are_one_axis(tmp_path: Path) -> None:
    rows = "".join(f"{100 + at}x,School {at},{at + 5},{at + 7}\n" for at in range(300))
    (table,) = read_files([write(tmp_path, f"code,name,boys,girls\n{rows}")], Corrections()).tables
    assert [(axis.name, axis.columns) for axis in table.axes] == [("name", (0, 1)), ("columns", ())]


def test_tables_that_would_unfold_into_too_many_cells_are_refused(tmp_path: Path) -> None:
    rows = "".join(f"a{at},b{at % 299},c{at % 7},{at + 5}\n" for at in range(1200))
    reply = ask(write(tmp_path, f"a,b,c,count\n{rows}"))
    assert reply.answer["printed_cells"] == 1200  # each a stands in one b and one c: nothing is crossed
    rng = Random(1)
    rows = "".join(",".join(rng.choice("xyz") for _ in range(18)) + f",{at + 5}\n" for at in range(300))
    path = write(tmp_path, ",".join(f"d{at}" for at in range(18)) + f",count\n{rows}")
    assert ask(path).answer["printed_cells"] == 300  # nothing adds up: nothing is crossed
    reply = ask(path, *(word for at in range(18) for word in ("--total", f"d{at}=x")))
    assert reply.refused
    assert "combinations" in reply.text


def test_breakdowns_of_the_same_people_are_no_parts_of_a_whole(tmp_path: Path) -> None:
    """Age is printed whole, so that the withheld sex follows from it; without a whole breakdown nobody can say."""
    rows = "age,young,31\nage,old,42\nsex,men,30\nsex,women,*\nplace,town,21\nplace,country,52\n"
    reply = ask(write(tmp_path, f"group,label,people,ill\n{rows}".replace("\n", ",1\n").replace("ill,1", "ill")), *STAR)
    assert reply.says("columns=people, label=women", 43, 43)
    assert ask(write(tmp_path, "group,label,n,m\nage,young,31,2\nage,old,*,3\nsex,men,9,*\nsex,women,8,4\n"), *STAR).refused


def test_counts_that_look_rounded_are_asked_about(tmp_path: Path) -> None:
    rows = "".join(f"a{at},{at * 5},{at * 35}\n" for at in range(1, 14))
    table = write(tmp_path, f"area,men,women\n{rows}")
    assert "--rule round=5" in ask(table).text
    assert not ask(table, "--rule", "exact").refused
    assert ask(table, "--rule", "round=5").answer["other_unclear"] == 26


def test_what_one_date_tells_of_the_next_is_left_out(tmp_path: Path) -> None:
    reply = ask(write(tmp_path, "Date,A,B\n2020-03-01,*,7\n2020-03-02,5,8\n2020-03-03,5,9\n"), *STAR)
    assert reply.answer["safe"] is None
    assert "running totals" in reply.answer["left_out"][0]


@pytest.mark.parametrize(
    "name",
    [
        "opensafely_antipsychotics_tpp_dementia.csv",
        "opensafely_antivirals_high_risk_cohort.csv",
        "scot_covid_cumulative_cases_by_board.csv",
        "us_nyc_sat_results_2012.csv",
    ],
)
def test_published_tables_that_were_read_wrongly_are_refused_or_right(tmp_path: Path, name: str) -> None:
    if not (SHARED / name).is_file():
        pytest.skip("the shared tables are not here")
    reply = ask(SHARED / name, folder=tmp_path, seconds=60)
    assert reply.refused or reply.answer["safe"] is None
    assert "contradict" not in reply.text
    assert "Traceback" not in reply.text


# hostile input


DIGITS = "9" * 5000
HOSTILE: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "inside itself": ("g.csv", "a,n\nx,1\ny,2\n", ("--inside", "g=g")),
    "a long word": ("t.px", "A" * 200_000, ()),
    "many digits": ("t.csv", f"a,n\nx,{DIGITS}\ny,2\n", ()),
    "a large number": ("t.csv", f"a,n\nx,{10**17}\ny,2\nTotal,{10**17 + 2}\n", ()),
    "a large percentage": ("t.csv", f"a,n,%\nx,*,{DIGITS}.5\ny,2,4\nTotal,5,100\n", STAR),
    "a large band": ("t.csv", f"a,n\n0-{DIGITS},<{DIGITS}\n1-2,2\n", ()),
    "a large limit": ("t.csv", f"a,n\nx,<{DIGITS}\ny,2\n", ()),
    "a large mark": ("t.csv", "a,n\nx,*\ny,2\n", ("--mark", f"*=1-{DIGITS}")),
    "a large mark from 10^18": ("t.csv", "a,n\nx,*\ny,2\n", ("--mark", f"*={10**18}-{10**19}")),
    "a large rule": ("t.csv", "a,n\nx,5\ny,2\n", ("--rule", f"suppress={DIGITS}")),
    "a large base": ("t.csv", "a,n\nx,5\ny,2\n", ("--rule", f"round={10**30}")),
    "a large fact": ("t.csv", "a,n\nx,*\ny,2\n", (*STAR, "--fact", f"a=x >= {DIGITS}")),
    "a large fact from 10^18": ("t.csv", "a,n\nx,*\ny,2\n", (*STAR, "--fact", f"a=x >= {10**18}")),
    "a large percentage as a fact": ("t.csv", "a,n\nx,*\ny,2\n", (*STAR, "--fact", f"percent a=x of everyone = 1.{DIGITS}")),
    "thirty dimensions": (
        "t.json",
        json.dumps({
            "id": [f"d{at}" for at in range(30)], "size": [2] * 30, "value": {"0": 1},
            "dimension": {f"d{at}": {"category": {"index": ["a", "b"]}} for at in range(30)},
        }),
        (),
    ),
    "thirty dimensions in lines": (
        "t.csv", ",".join(f"d{at}" for at in range(30)) + ",count\n"
        + "".join(",".join("ab"[at >> bit & 1] for bit in range(30)) + ",1\n" for at in range(2**29, 2**30, 2**24 + 77)),
        tuple(word for at in range(30) for word in ("--total", f"d{at}=a")),
    ),
    "thirty variables": (
        "t.px", "STUB=" + ",".join(f'"d{at}"' for at in range(30)) + ";\n"
        + "".join(f'VALUES("d{at}")="a","b";\n' for at in range(30)) + "DATA=1 2;\n", (),
    ),
    "deep": ("t.json", '{"a":' * 5000 + "1" + "}" * 5000, ()),
    "numbers as labels": ("t.json", '{"id": 5, "size": "x", "value": 1, "dimension": {"a": 3}}', ()),
    "a circle": ("t.csv", "a,n\nx,*\ny,2\nTotal,5\n", (*STAR, "--hierarchy", "a={folder}/c.hrc")),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_input_is_refused_in_words(tmp_path: Path, case: str) -> None:
    name, text, options = HOSTILE[case]
    write(tmp_path, "x\n@y\n@@x\n", "c.hrc")
    reply = ask(write(tmp_path, text, name), *(word.replace("{folder}", str(tmp_path)) for word in options), seconds=5)
    assert reply.refused
    assert len(reply.text) < 3000  # a message, not the file


def test_reading_takes_time_in_proportion_to_the_file(tmp_path: Path) -> None:
    """Subtotals, bands and rows that stand further in, by the ten thousand."""
    with cpu_seconds(20):
        for row in ("x{0},1\ny{0},2\ntotal {0},3\n", "{0}-{1},1\n", "p{0},3\n  q{0},1\n  r{0},2\n", "a{0},*\n"):
            rows = "".join(row.format(at, at + 1) for at in range(20_000))
            read_files([write(tmp_path, f"label,n\n{rows}")], Corrections())


RDA = 'Age\n<RECODEABLE>\n<TOTCODE> "Total"\n<HIERCODELIST> "{}"\n<HIERLEADSTRING> "{}"\nCount\n<FREQUENCY>\n'


@pytest.mark.parametrize(
    ("hierarchy", "lead"), [("a.hrc", ""), ("../secret.hrc", "@"), ("{folder}/secret.hrc", "@"), ("secret.txt", "@")]
)
def test_a_file_names_no_other_file_outside_its_folder(tmp_path: Path, hierarchy: str, lead: str) -> None:
    own = tmp_path / "own"
    own.mkdir()
    for name in ("secret.hrc", "own/secret.txt"):
        write(tmp_path, "@@the secret\n", name)
    write(own, "x\ny\n", "a.hrc")
    write(own, "x,1\ny,2\nTotal,3\n", "t.tab")
    write(own, RDA.format(hierarchy.replace("{folder}", str(tmp_path)), lead), "t.rda")
    reply = ask(own / "t.tab", seconds=5)
    assert reply.refused
    assert "the secret" not in reply.text


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    from genverify.run.jobs import digest

    with pytest.raises(GenverifyError, match="regular file"):
        digest(Path("/dev/zero"))
    for name in ("t.csv", "t.yaml", "t.xlsx", "t.rda"):
        os.mkfifo(tmp_path / name)
        reply = ask(tmp_path / name, seconds=5)
        assert "regular file" in reply.text


def test_a_packed_workbook_is_measured_before_it_is_unpacked(tmp_path: Path) -> None:
    import zipfile

    path = book(tmp_path, {"t": ROWS})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/large.bin", b"0" * 5_000_000)
    assert "bytes" in ask(path, *STAR, "--max-bytes", "1000000").text


def test_a_broken_workbook_is_refused(tmp_path: Path) -> None:
    import zipfile

    path, broken = book(tmp_path, {"t": ROWS}), tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(broken, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            new.writestr(name, text[:-20] if "sheet1" in name else text)
    assert "cannot be read" in ask(broken, *STAR).text


MALFORMED_STATEMENTS: list[Any] = [
    None, [], 5, "x", {}, {"side": []}, {"side": "upper", "cell": []},
    {"side": "upper", "cell": {}, "value": 1, "proof": {}},
    {"side": "upper", "cell": "a", "value": 1, "proof": {"y": 5}},
    {"side": "upper", "cell": "a", "value": 1, "proof": {"y": [1]}},
    {"side": "upper", "cell": "a", "value": 1, "proof": {"y": ["ab"]}},
    {"side": "upper", "cell": "a", "value": 1, "proof": {"at": 1, "cell": []}},
    {"side": "upper", "cell": "a", "value": 1, "proof": {"y": {"r": 10**400}}},
    {"side": "upper", "cell": "a", "value": 2**62, "proof": {"y": {}}},
    {"side": "lower", "cell": "a", "value": -(2**62), "proof": {"y": {}}},
    {"side": "empty", "proof": {"at": 0, "cell": "a", "below": 5, "above": None}},
]  # fmt: skip


@pytest.mark.parametrize("statement", MALFORMED_STATEMENTS, ids=range(len(MALFORMED_STATEMENTS)))
def test_malformed_statements_are_refused_without_a_traceback(statement: Any) -> None:
    sums = make_system({"a": (0, 5), "b": (0, 5), "t": (7, 7)}, [("r", {"t": -1, "a": 1, "b": 1}, 0, 0)])
    with pytest.raises(CertificateError):
        check_linear(sums, [statement])


@pytest.mark.parametrize("point", [[inf], [nan], [1e300]])
def test_a_solver_that_answers_infinity_has_no_integer_point(point: list[float]) -> None:
    assert integer_point(np.array(point)) is None


@pytest.mark.parametrize("value", [inf, -inf, nan])
def test_a_solver_whose_best_value_is_infinite_is_not_believed(value: float) -> None:
    with pytest.raises(GenverifyError, match="nothing is reported"):
        Optimal(value, np.zeros(1))


def test_a_seeded_part_of_the_fuzz_target() -> None:
    """`make fuzz` asks about 2,000 such tables."""
    outcomes, failures = run(100, seed=5)
    assert failures == []
    assert outcomes["answered"] > 10
