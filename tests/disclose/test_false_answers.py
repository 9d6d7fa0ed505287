"""Tables that were once answered falsely, as the offline page has them too: a right answer, or a refusal."""

import csv
import json
import re
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest

from genverify.cli import main
from genverify.disclosure.audit_value import Source
from genverify.disclosure.interpretation import PrintedForm, interpret
from genverify.disclosure.intervals import find_intervals
from genverify.disclosure.tables_audit import TablesAudit
from genverify.model.errors import GenverifyError
from genverify.solve.linear.search import Work

CASES = json.loads((Path(__file__).parents[1] / "data" / "false_answers.json").read_text(encoding="utf-8"))
CELLS, NOT_SAFE, REFUSED = "cells", "not safe", "refused"


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_table_that_was_answered_falsely(case: dict[str, Any], tmp_path: Path) -> None:
    answer = _answer(case, tmp_path)
    if isinstance(answer, GenverifyError):
        assert REFUSED in case["outcome"], answer
        assert "contradict each other" not in str(answer)
        return
    found = _ranges(answer)
    if answer.left_out and NOT_SAFE in case["outcome"]:
        assert answer.safe is not True
    else:
        assert CELLS in case["outcome"], found
        cells = case.get("cells", {})
        assert {place: found.get(place, found.get(place.lstrip(ascii_uppercase))) for place in cells} == cells
    said = "\n".join([*answer.lines(), *answer.reasons(), *answer.advice()])
    # the page leaves percentages out; here they are facts, so that all of the file is read
    never = [] if case["about"] == "percentages" and not answer.left_out else case["never"]
    assert [words for words in never if words in said] == []


def _answer(case: dict[str, Any], folder: Path) -> TablesAudit | GenverifyError:
    texts = {**case["files"], **{f"{column}.hrc": text for column, text in case.get("hierarchy", {}).items()}}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    form = PrintedForm(
        printed=list(case["files"]),
        marks=case["marks"],
        totals=case["totals"],
        hierarchies={column: f"{column}.hrc" for column in case.get("hierarchy", {})},
    )
    try:
        understood = interpret(form, folder)
        exposed = find_intervals(understood.linked, Work(seconds=60.0))
        return TablesAudit(exposed=exposed, source=Source(left_out=understood.left_out))
    except GenverifyError as error:
        return error


def _ranges(answer: TablesAudit) -> dict[str, list[int | None]]:
    """The range of every printed cell by its place: B2, or the number of its line where each line is a cell."""
    found = {}
    for row in answer.cells.to_dict("records"):
        upper = re.fullmatch(r"\d+", str(row["upper"]))
        found[str(row["place"]).rsplit(", ", 1)[-1].removeprefix("line ")] = [
            int(row["lower"]),
            int(upper[0]) if upper else None,
        ]
    return found


REAL = [
    ("opensafely_antipsychotics_tpp_dementia.csv", "[REDACTED]", ["[REDACTED]=suppressed"], "round=5"),
    ("opensafely_antivirals_high_risk_cohort.csv", "<8", [], "round=10"),
    ("scot_covid_cumulative_cases_by_board.csv", "*", ["*=suppressed"], "exact"),
]


@pytest.mark.parametrize(("name", "symbol", "marks", "rule"), REAL)
def test_a_published_table_that_was_called_safe_or_contradictory(
    name: str, symbol: str, marks: list[str], rule: str, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it is it is asked about; with the options of the questions all its symbols are seen, or it is refused."""
    path = root.parent / "shared" / "tables" / name
    if not path.exists():
        pytest.skip(f"no ../shared/tables/{name} beside the repository")
    symbols = sum(cell == symbol for row in csv.reader(path.read_text(encoding="utf-8-sig").splitlines()) for cell in row)
    told = [word for mark in marks for word in ("--mark", mark)]
    for options in ([], ["--rule", "exact"], told, [*told, "--rule", rule]):
        status = main(["disclose", str(path), "--out", str(tmp_path / "o"), "--fail-on", "exact", "--json", *options])
        said = capsys.readouterr()
        assert "nothing is hidden" not in said.out + said.err
        assert "contradict" not in said.err
        if status != 2:
            answer = json.loads(said.out)
            assert answer["suppressed"] == symbols
            assert answer["safe"] is None or name.startswith("opensafely_antipsychotics")


def test_breakdowns_of_the_same_people_are_recognised_though_they_share_a_label(root: Path, tmp_path: Path) -> None:
    """A published table of five of them: the ranges of redacted counts are those of sums that are computed here."""
    path = root.parent / "shared" / "tables" / REAL[0][0]
    if not path.exists():
        pytest.skip(f"no ../shared/tables/{REAL[0][0]} beside the repository")
    form = PrintedForm(printed=[str(path)], marks={"[REDACTED]": "suppressed"}, rule=["round=5"])
    ranges = _ranges(TablesAudit(exposed=find_intervals(interpret(form, Path()).linked, Work())))
    header, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    hidden = 0
    for column in range(2, len(header)):
        groups: dict[str, list[tuple[int, str]]] = {}
        for line, row in enumerate(rows, start=2):
            groups.setdefault(row[0], []).append((line, row[column]))
        known = {own: [int(text) for _, text in cells if text.isdecimal()] for own, cells in groups.items()}
        least = max(sum(max(n - 2, 0) for n in numbers) for numbers in known.values())
        whole = [own for own, cells in groups.items() if len(known[own]) == len(cells)]
        most = min(sum(n + 2 for n in known[own]) for own in whole)
        for own, cells in groups.items():
            lines = [line for line, text in cells if not text.isdecimal()]
            top = most - sum(max(n - 2, 0) for n in known[own])
            low = max(least - sum(n + 2 for n in known[own]), 0) if len(lines) == 1 else 0
            for line in lines:
                hidden += 1
                assert ranges[f"{ascii_uppercase[column]}{line}"] == [low, top]
    assert hidden == 6
