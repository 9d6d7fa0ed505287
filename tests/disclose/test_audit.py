"""The value that gv.disclose returns: the same for frames, files and release files, in Python and from the command."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import genverify as gv
from genverify.checker.certificate import CertificateError
from genverify.cli import main
from genverify.disclosure.audit_value import COLUMNS
from genverify.disclosure.record_audit import RecordsAudit
from genverify.disclosure.tables_audit import TablesAudit
from genverify.disclosure.whatif import what_if
from genverify.model.errors import ConfigError, GenverifyError
from tiny_release import PEOPLE, YAML, write

TABLE = "area,f,m,Total\nA,*,4,7\nB,5,*,9\nC,2,3,5\nTotal,*,11,21\n"
STAR = {"*": "suppressed"}
FRAME = pd.DataFrame({"area": ["A", "B", "C", "Total"], "f": ["*", 5, 2, "*"], "m": [4, "*", 3, 11], "Total": [7, 9, 5, 21]})


def released(folder: Path) -> Path:
    """Women below 65 count 4, of 5: the one above 65 is suppressed, and known."""
    people = PEOPLE + "f,22,owns,south\nf,23,owns,south\n"
    return write(folder, YAML.replace("[sex, age]}", "[sex, age], totals: [age]}") + "published_as: {suppress: 3}\n", people)


def test_a_frame_and_its_file_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    ways = [
        gv.disclose(FRAME, symbol=STAR),
        gv.disclose(FRAME.set_index("area"), symbol=["*=suppressed"]),
        gv.disclose({"table": FRAME.astype({"Total": float})}, symbol="*=suppressed"),
        gv.disclose(tmp_path / "table.csv", symbol=STAR),
        gv.disclose([str(tmp_path / "table.csv")], symbol=STAR),
        gv.disclose(gv.read(tmp_path / "table.csv", symbol=STAR)),
        gv.disclose(gv.read([tmp_path / "table.csv"]), symbol=STAR),
    ]
    assert len({one.as_json() for one in ways}) == len({one.cells.to_csv() for one in ways}) == 1
    found = ways[0]
    assert found.answer["suppressed_known_exactly"] == 3
    assert found.safe is False
    assert found.check() == "6 statements about 12 cells: all proofs right; 12 cells known exactly"
    assert "3 of your 3 suppressed cells are known exactly." in found.report()


def test_a_reading_is_audited_as_it_is_and_its_results_can_be_checked(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "table.csv", index=False)
    reading = gv.read(tmp_path / "table.csv", symbol=STAR)
    gv.disclose(reading).write(tmp_path / "out")
    assert main(["disclose", "--check", str(tmp_path / "out")]) == 0
    other = replace(reading, symbols={"*": replace(reading.symbols["*"], meaning="missing")})  # corrected in Python
    assert gv.disclose(other).answer["suppressed"] == 0
    with pytest.raises(GenverifyError, match=r"table\.csv: this reading does not say where the file lies"):
        gv.disclose(replace(reading, sources=tuple(replace(one, path=None) for one in reading.sources)))
    (tmp_path / "table.csv").write_text("another table\n")
    with pytest.raises(GenverifyError, match=r"table\.csv"):
        gv.disclose(reading)


@pytest.mark.parametrize("records", [False, True])
def test_every_audit_has_the_same_columns_and_files(tmp_path: Path, records: bool) -> None:
    found = gv.disclose(released(tmp_path)) if records else gv.disclose(FRAME, symbol=STAR)
    assert isinstance(found, RecordsAudit if records else TablesAudit)
    assert tuple(found.cells) == COLUMNS
    assert found.write(tmp_path / "out") == tmp_path / "out"
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"cells.csv", "suppress.csv", "answer.json", "report.html", "reading.yaml"} <= files
    assert json.loads((tmp_path / "out" / "answer.json").read_text()) == found.answer
    assert found.check(tmp_path / "out") == found.check()
    assert main(["disclose", "--check", str(tmp_path / "out")]) == 0
    (tmp_path / "out" / "cells.csv").write_text("mine")
    with pytest.raises(GenverifyError, match=r"cells\.csv: differs from what is proved"):
        found.check(tmp_path / "out")


@pytest.mark.parametrize("records", [False, True])
def test_what_is_shown_names_the_statements_that_prove_it(tmp_path: Path, records: bool) -> None:
    found = gv.disclose(released(tmp_path)) if records else gv.disclose(FRAME, symbol=STAR)
    for row in found.unsafe_cells:
        for number in row["proof"].split():
            statement = found.statements[int(number)]
            assert statement["cell"] == row["cell"]
            assert statement["m" if records else "value"] == row["lower"] == row["upper"]
        assert f"proof: statement {row['proof']}" in found.report()
    listed = {one["cell"]: one["proof"] for one in found.answer["unsafe_cells"]}
    shown = found.cells[found.cells["cell"].isin(listed)]
    assert dict(zip(shown["cell"], shown["proof"], strict=True)) == listed != {}


def test_a_false_range_of_a_cell_is_refused(tmp_path: Path) -> None:
    found = gv.disclose(released(tmp_path))
    assert isinstance(found, RecordsAudit)
    found.statements[0]["m"] += 1 if found.statements[0]["goal"] == "at least" else -1  # type: ignore[index]
    with pytest.raises(CertificateError, match="shows only"):
        found.check()


def test_what_if_begins_with_the_audit(tmp_path: Path) -> None:
    one = gv.disclose(released(tmp_path), search_seconds=0)
    assert isinstance(one, RecordsAudit)
    assert what_if(one.described, one.attack, 2)["claims"].tolist() == [len(one.claims)]


@pytest.mark.parametrize(("options", "words"), [
    ({"symbl": STAR}, r"unknown option symbl: did you mean symbol"),
    ({"cells": True}, r"--cells applies to a release file"),
    ({"symbol": {"*": "perhaps"}}, "perhaps"),
    ({"symbol": {**STAR, "?": "suppressed"}}, "--symbol \\?: never appears in place of a number"),
    ({"fail_on": "nonsense"}, "--fail-on nonsense"),
    ({"sensitive": "p=10"}, "--contributions and --sensitive go together"),
    ({}, "what do these symbols mean"),
])  # fmt: skip
def test_options_are_those_of_the_command(options: dict[str, object], words: str) -> None:
    with pytest.raises(GenverifyError, match=words):
        gv.disclose(FRAME, **options)


def test_what_is_no_table_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="int: give a frame, or frames by name"):
        gv.disclose({"t": 3})
    with pytest.raises(ConfigError, match="no tables are given"):
        gv.disclose([])
    with pytest.raises(ConfigError, match=r"--symbol applies to printed tables and --check, not to a release file"):
        gv.disclose(released(tmp_path), symbol=STAR)
    with pytest.raises(GenverifyError, match="no such file"):
        gv.disclose(tmp_path / "none.csv")


def test_a_frame_called_like_a_path_is_stored_inside(tmp_path: Path) -> None:
    gv.disclose({"../evil": FRAME}, symbol=STAR).write(tmp_path / "deep" / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert main(["disclose", "--check", str(tmp_path / "deep" / "out")]) == 0


def test_the_former_name_of_the_option_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    said = []
    for option in ("--mark", "--symbol"):
        assert main(["disclose", str(tmp_path / "t.csv"), option, "*=suppressed", "--json"]) == 0
        said.append(json.loads(capsys.readouterr().out))
    assert said[0] == said[1]


def test_a_file_without_counts_is_answered_and_checked(tmp_path: Path) -> None:
    """Nothing is audited, so nothing is safe; what was written is what is proved, whatever folder it is checked from."""
    (tmp_path / "rates.csv").write_text("area,change\nA,1.5\nB,2.5\nC,0.4\n")
    found = gv.disclose(tmp_path / "rates.csv", allow_partial=True)
    assert found.answer["safe"] is None
    assert len(found.cells) == 0
    found.write(tmp_path / "out")
    found.check(tmp_path / "out")
    assert main(["disclose", str(tmp_path / "out"), "--check"]) == 0
