"""Percentages beside counts: what they are of, what they give away, and what contradicts them."""

import json
from pathlib import Path

import pytest

from genverify.cli import main

TWO_WAY = """,Men,,Women,,Total,
status,n,{head},n,{head},n,{head}
never,30,60.0,*,71.4,*,66.7
former,*,22.0,*,18.6,24,20.0
current,*,18.0,*,10.0,16,13.3
Total,50,100.0,70,100.0,120,100.0
"""
MARK = ("--mark", "*=suppressed")


def said(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    main(["disclose", *map(str, words)])
    out = capsys.readouterr()
    return out.out + out.err


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("head", ["%", "column %"])
def test_percentages_give_withheld_counts_away(tmp_path: Path, capsys: pytest.CaptureFixture[str], head: str) -> None:
    """11 of 50 are 22 %: every withheld count follows from its percentage, and proofs name the place where it stands."""
    found = said(capsys, write(tmp_path, TWO_WAY.format(head=head)), *MARK)
    assert "12 percentages" in found
    assert "are of their column" in found
    assert "6 of your 6 suppressed cells are known exactly." in found
    assert "t.csv, C4: 22.0 % of columns=Men" in found
    assert "Withhold the 7 percentages beside withheld counts." in found
    answer = json.loads((tmp_path / "audit" / "answer.json").read_text())
    assert (answer["withhold"], answer["still_unsafe"]) == (["status=former"], [])
    assert main(["disclose", "--check", str(tmp_path / "t.csv")]) == 0


def test_the_reading_is_written_and_can_be_corrected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path, TWO_WAY.format(head="%"))
    said(capsys, table, *MARK, "--write", tmp_path / "r.yaml")
    text = (tmp_path / "r.yaml").read_text()
    assert "percent_of: column" in text
    (tmp_path / "r.yaml").write_text(text.replace("percent_of: column", "percent_of: none"))
    found = said(capsys, tmp_path / "r.yaml")
    assert "12 percentages left out, as told" in found
    assert "2 of your 6 suppressed cells are known exactly." in found
    (tmp_path / "r.yaml").write_text(text.replace("percent_of: column", "percent_of: row"))
    assert "as a percentage of their row contradicts the counts beside it" in said(capsys, tmp_path / "r.yaml")


def test_percentages_of_rows_in_brackets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path, "age,Men,Women,Total\nyoung,30 (75%),10 (25%),40 (100%)\nold,10 (20%),40 (80%),50 (100%)\n")
    assert "6 percentages (in brackets) are of their row" in said(capsys, table)


def test_a_line_for_each_cell_may_have_its_percentage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, write(tmp_path, "age,n,%\na,30,30\nb,*,45\nc,*,25\nTotal,100,100\n"), *MARK)
    assert "2 of your 2 suppressed cells are known exactly." in found


def test_a_wrong_percentage_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "a,30,30\nb,50,55\nc,10,10\nd,5,5\ne,5,5\nTotal,100,100\n"
    found = said(capsys, write(tmp_path, f"age,n,%\n{rows}"))
    assert "t.csv, line 3: 55 as a percentage of their column contradicts the counts beside it (50 of 100)" in found


def test_a_contradiction_that_only_the_sums_show_is_proved_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = TWO_WAY.format(head="%").replace("16,13.3", "15,12.5").replace("*,66.7", "81,67.5")
    found = said(capsys, write(tmp_path, wrong), *MARK)
    assert "contradict each other (proof checked)" in found
    assert "fact: " in found


def test_what_percentages_mean_is_not_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path, "age,n,%\na,30,11\nb,*,45\nc,20,25\nTotal,100,100\n")
    assert "they agree with no counts" in said(capsys, table, *MARK)
    rounded = write(tmp_path, "age,n,%\na,30,30\nb,*,45\nc,24,25\nTotal,99,100\n", "r.csv")
    assert "they may be of rounded counts" in said(capsys, rounded, *MARK, "--rule", "random=3")
