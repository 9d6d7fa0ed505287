"""Tables that were once answered falsely, as the offline page has them too: a right answer, or a refusal."""

import json
import re
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest

from genverify.disclose.answer import Answer, read_fail_on
from genverify.disclose.intervals import find_intervals
from genverify.disclose.reading import PrintedForm, interpret
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


def _answer(case: dict[str, Any], folder: Path) -> Answer | GenverifyError:
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
        return Answer(
            find_intervals(understood.linked, Work(seconds=60.0)), read_fail_on("exact"), left_out=understood.left_out
        )
    except GenverifyError as error:
        return error


def _ranges(answer: Answer) -> dict[str, list[int | None]]:
    """The range of every printed cell by its place: B2, or the number of its line where each line is a cell."""
    found = {}
    for row in answer.frame("plain").to_dict("records"):
        upper = re.fullmatch(r"\d+", str(row["upper"]))
        found[str(row["place"]).rsplit(", ", 1)[-1].removeprefix("line ")] = [
            int(row["lower"]),
            int(upper[0]) if upper else None,
        ]
    return found
