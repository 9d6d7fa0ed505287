"""No cell of a CSV file that we write begins like a formula, and numbers stay numbers."""

import csv
from pathlib import Path

import pandas as pd
import pytest

from genverify.cli import main
from genverify.model.tablefiles import neutral, neutral_frame

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
PEOPLE = "=sex,home\n=1+1,-rents\n@m,owns\n=1+1,owns\n+f,owns\n"
RELEASE = """
name: tiny
data: people.csv
show_claims: true
tables:
  both: {columns: ["=sex", home]}
predicates:
  - {cell: "=HYPERLINK(1)", where: {home: owns}, label: "@label"}
protect:
  - {suppress: 2, name: "=cmd|' /C calc'!A0"}
"""


@pytest.mark.parametrize(
    "text", ["=1", "+a", "-a", "@a", "\ta", "\ra", "\na", "=", "-", "--5", "+1+1", "\N{FULLWIDTH EQUALS SIGN}1"]
)
def test_what_begins_like_a_formula_is_quoted(text: str) -> None:
    assert neutral(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "-5", "+5.25", "under 5", "'=1", " =1"])
def test_other_texts_stay(text: str) -> None:
    assert neutral(text) == text


def test_numbers_of_a_table_stay() -> None:
    frame = pd.DataFrame({"=a": ["=x", "y"], "n": [-5, 3], "f": [-0.5, None], "k": pd.array([-1, None], dtype="Int16")})
    assert neutral_frame(frame).to_csv(index=False) == "'=a,n,f,k\n'=x,-5,-0.5,-1\ny,3,,\n"
    assert list(frame) == ["=a", "n", "f", "k"]


def test_no_file_of_an_audit_holds_a_formula(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "release.yaml").write_text(RELEASE)
    for command in ("disclose", "what-if"):
        assert main([command, str(tmp_path / "release.yaml")]) == 0
    printed = capsys.readouterr().out
    assert "\n'=cmd|" in printed
    files = sorted((tmp_path / "audit").glob("*.csv"))
    assert [file.stem for file in files] == ["cells", "claims", "suppress", "whatif"]
    for file in files:
        with file.open(newline="") as lines:
            cells = [cell for row in csv.reader(lines) for cell in row]
        assert not [cell for cell in cells if cell.startswith(STARTS)], file
    assert "'=1+1" in (tmp_path / "audit" / "claims.csv").read_text()


def test_a_template_is_neutral_and_is_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    form = RELEASE.replace("data: people.csv", "counts: counts.csv").split("protect:")[0]
    columns = "columns:\n  '=sex': {codes: {f: f, m: m}}\n  home: {codes: {owns: owns, rents: rents}}\n"
    (tmp_path / "release.yaml").write_text(form + columns)
    assert main(["disclose", "--cells", str(tmp_path / "release.yaml")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "'=HYPERLINK(1)," in lines
    counts = {"N,": 3, "both.f.owns,": 1, "'=HYPERLINK(1),": 2}
    (tmp_path / "counts.csv").write_text("\n".join([lines[0], *(f"{line}{n}" for line, n in counts.items())]) + "\n")
    assert main(["disclose", str(tmp_path / "release.yaml")]) == 0


def test_bounds_print_no_formula(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table.csv").write_text("row,=x,y\n@a,1,2\n-b,3,4\n")
    assert main(["bounds", str(tmp_path / "table.csv"), "--given", "rows"]) == 0
    out = capsys.readouterr().out
    assert "'@a,'=x,1,1" in out
    assert not [line for line in out.splitlines() if line.startswith(STARTS) or ",=" in line]
