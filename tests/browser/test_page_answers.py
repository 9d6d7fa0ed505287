"""The answers of the page that works offline, in a real browser without a network, against those of Python."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genverify.checker.linear_proofs import check_linear
from genverify.disclose.interpretation import Interpretation, PrintedForm, PrintedTableForm, interpret
from genverify.disclose.intervals import find_intervals
from genverify.disclose.intervals import opened as opened_sums
from genverify.disclose.suppression import suppress_more
from genverify.model.errors import GenverifyError
from genverify.model.linear import OPEN, LinearSystem, make_system, system_of
from genverify.solve.linear.ranges import all_ranges
from genverify.solve.linear.search import Work
from page_visit import PageVisit, better
from random_tables import KINDS, TableText, random_table
from table_shapes import SHAPES

TABLES = 200
WORK = Work(seconds=30.0)
AUDIT = """async (asked) => {
  const found = [];
  for (const { text, told } of JSON.parse(asked)) {
    try {
      const answer = await genverify.audit(text, told);
      found.push({ digest: await genverify.digestOf(answer.sums), system: answer.sums, statements: answer.statements,
        limit: answer.limit, cells: answer.cells.map((cell) => [cell.cell, cell.published, cell.lower, cell.upper ?? "",
          cell.exact, cell.attained, cell.hidden]) });
    } catch (error) { found.push({ error: error.message }); }
  }
  return JSON.stringify(found);
}"""
CHECK = """(asked) => JSON.stringify(JSON.parse(asked).map(([system, statements]) => {
  try {
    const { lo, hi, empty } = genverify.checkSums(system, statements);
    return { lo: lo.map(Number), hi: hi.map((own) => (own === null ? null : Number(own))), empty };
  } catch (error) { return error.constructor.name === "CertificateError" ? error.message : `failed: ${error}`; }
}))"""

FORGE = """(asked) => {
  let tried = 0; const passed = [], failed = [];
  const refused = (system, statements, what) => {
    tried += 1;
    try { genverify.checkSums(system, statements); passed.push(what); }
    catch (error) { if (error.constructor.name !== "CertificateError") failed.push(String(error)); }
  };
  for (const [system, statements] of JSON.parse(asked)) statements.forEach((own, at) => {
    const forged = (changed) => statements.with(at, { ...own, ...changed });
    const turned = Object.fromEntries(Object.entries(own.proof.y ?? {}).map(([row, y]) => [row, -y]));
    refused(system, forged({ value: own.value + (own.side === "upper" ? -1 : 1) }), ["value", own]);
    [{}, null, { y: turned }, { y: { "no row": 1 } }, { ...own.proof, d: 0 }, { ...own.proof, y: { [system.rows[0]]: 0.5 } }]
      .forEach((proof) => refused(system, forged({ proof }), ["proof", own, proof]));
    refused(system, forged({ cell: "no cell" }), ["cell", own]);
    refused(system, forged({ side: "empty" }), ["empty", own]);
  });
  return JSON.stringify([tried, passed, failed]);
}"""
READ = """async (asked) => {
  const found = [];
  for (const { text, told } of JSON.parse(asked)) {
    try { found.push({ digest: await genverify.digestOf(genverify.read(text, told).linked.sums) }); }
    catch (error) { found.push({ error: error.message }); }
  }
  return JSON.stringify(found);
}"""
WITHHOLD = """async (asked) => {
  const found = [];
  for (const { text, told } of JSON.parse(asked))
    found.push(await genverify.withhold(await genverify.audit(text, told), 20));
  return JSON.stringify(found);
}"""
SOLVE = """async (asked) => {
  const found = [];
  for (const sums of JSON.parse(asked)) found.push(await genverify.solve(sums, sums.cells.map((_, at) => at), 20));
  return JSON.stringify(found);
}"""


@pytest.fixture(scope="module")
def cases() -> list[TableText]:
    return [random_table(number) for number in range(TABLES)]


@pytest.fixture(scope="module")
def answers(opened: PageVisit, cases: list[TableText]) -> list[dict[str, Any]]:
    opened.page.set_default_timeout(120_000)
    found: list[dict[str, Any]] = opened.ask(AUDIT, [{"text": one.text, "told": one.told} for one in cases])
    return found


def by_python(case: TableText, folder: Path) -> dict[str, Any]:
    (folder / "table.csv").write_text(case.text, encoding="utf-8")
    try:
        linked = interpret(PrintedForm(printed=["table.csv"], marks=case.marks, rule=case.rule), folder).linked
        exposed = find_intervals(linked, WORK)
    except GenverifyError as error:
        return {"error": str(error)}
    names = ["cell", "published", "lower", "upper", "known_exactly", "ends_attained", "hidden"]
    cells = exposed.frame[names].astype(object).to_numpy().tolist()
    return {"digest": linked.sums.digest, "cells": cells, "statements": list(exposed.ranges.statements)}


def test_two_hundred_random_tables_have_the_ranges_of_python(
    opened: PageVisit, cases: list[TableText], answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    """The same system, the same ranges; Python accepts the proofs of the page, and the page those of Python."""
    expected = [by_python(case, tmp_path) for case in cases]
    # rows that are mostly blank may be headers: the page refuses them, Python may read them
    unread = [at for at, ours in enumerate(answers) if "where a count is expected" in ours.get("error", "")]
    assert len(unread) <= 0.02 * TABLES
    both = [own for at, own in enumerate(zip(cases, answers, expected, strict=True)) if at not in unread]
    for number, (case, ours, theirs) in enumerate(both):
        assert ("error" in ours) == ("error" in theirs), (number, case, ours.get("error"), theirs.get("error"))
        if "error" not in ours:
            assert ours["limit"] == ""
            assert ours["digest"] == theirs["digest"] == system_of(ours["system"]).digest, (number, case)
            assert ours["cells"] == theirs["cells"], (number, case)
            check_linear(system_of(ours["system"]), ours["statements"])
    settled = [(case, ours, theirs) for case, ours, theirs in both if "error" not in ours]
    assert {case.kind for case, _, _ in settled} == set(KINDS)
    assert len(settled) > 0.8 * TABLES
    assert sum(cell[4] and cell[6] for _, ours, _ in settled for cell in ours["cells"]) > 100  # suppressed and yet known
    asked = [[ours["system"], theirs["statements"]] for _, ours, theirs in settled]
    for (_, ours, theirs), shown in zip(settled, opened.ask(CHECK, asked), strict=True):
        again = check_linear(system_of(ours["system"]), theirs["statements"])
        assert shown == {"lo": again.lo, "hi": [None if own == OPEN else own for own in again.hi], "empty": False}
    for _, ours, theirs in both:
        if "error" in ours and "contradict" in theirs["error"]:
            assert "contradict each other (proof checked)" in ours["error"]


def without_percentages(form: PrintedForm, folder: Path) -> Interpretation:
    """As Python understands the tables where percentages are left out, as the page does and says."""
    found = interpret(form, folder)
    unused = {name: PrintedTableForm(percent_of="none") for name in found.percent_of}
    return interpret(form.model_copy(update={"tables": unused}), folder) if unused else found


def test_tables_in_many_shapes_are_read_as_python_reads_them(opened: PageVisit, tmp_path: Path) -> None:
    """The same cells, rows and ends, by the digest of the system; or an error on both sides."""
    cases = [TableText(text, dict.fromkeys(marks, "suppressed")) for text, marks in SHAPES.items()]
    ours_all = opened.ask(READ, [{"text": one.text.removeprefix("\ufeff"), "told": one.told} for one in cases])
    refused = 0
    for case, ours in zip(cases, ours_all, strict=True):
        (tmp_path / "table.csv").write_bytes(case.text.encode())
        try:
            form = PrintedForm(printed=["table.csv"], marks=case.marks)
            theirs = without_percentages(form, tmp_path).linked.sums.digest
        except GenverifyError:
            theirs, refused = None, refused + 1
        assert ours.get("digest") == theirs, (case.text, ours)
    assert len(SHAPES) - 10 > refused >= 4


def test_forged_proofs_are_refused_by_the_page_and_by_python(opened: PageVisit, answers: list[dict[str, Any]]) -> None:
    """Every value better by one, every proof taken away, turned around, of no row, or said to be about something else."""
    kept = [answer for answer in answers if "error" not in answer and 0 < len(answer["statements"]) < 60][:60]
    tried, passed, failed = opened.ask(FORGE, [[one["system"], one["statements"]] for one in kept])
    assert tried > 1_000
    assert (passed, failed) == ([], [])
    for answer in kept[::10]:
        for at in range(0, len(answer["statements"]), 5):
            with pytest.raises(GenverifyError):
                check_linear(system_of(answer["system"]), better(answer["statements"], at))


def random_system(number: int) -> LinearSystem:
    """Rows with weights other than 1 that some counts meet; in every fifth system, even weights shall make an odd number."""
    rng, odd = np.random.default_rng(number), number % 5 == 0
    most = rng.integers(1, 9, size=5)
    point = rng.integers(0, most + 1)
    rows = []
    for row in range(3):
        weights = rng.choice([2, 4, 6] if odd else [-2, 2, 3, 4, 6], size=5) * (rng.random(5) < 0.7)
        weights[0] = weights[0] or 2
        most_of_row = int(weights @ point) - odd
        entries = {f"x{at}": int(weight) for at, weight in enumerate(weights) if weight}
        rows.append((f"row {row}", entries, most_of_row - (0 if odd else number % 3), most_of_row))
    return make_system({f"x{at}": (0, int(own)) for at, own in enumerate(most)}, rows)


def test_systems_that_need_cases_are_proved_by_cases(opened: PageVisit) -> None:
    """Where the linear program alone leaves ends open, or has a point although no counts fit."""
    systems = [random_system(number) for number in range(40)]
    found = opened.ask(SOLVE, [sums.as_dict() for sums in systems])
    for number, (sums, ours) in enumerate(zip(systems, found, strict=True)):
        theirs, shown = all_ranges(sums, WORK), check_linear(sums, ours["statements"])
        assert shown.empty == ours["empty"], number
        if ours["empty"]:
            assert theirs.empty or theirs.limit, number
        else:
            assert ours["limit"] == theirs.limit == "", number
            assert (shown.lo, shown.hi) == (theirs.lo.tolist(), theirs.hi.tolist()), number
    cases = [ours for ours in found if '"below"' in json.dumps(ours["statements"])]
    assert len(cases) >= 10
    assert any(ours["empty"] for ours in cases)


def test_cells_to_withhold_leave_nothing_known_exactly(
    opened: PageVisit, cases: list[TableText], answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Ranges computed again by Python without these cells; about as few of them as Python finds."""
    known = [case for case, own in zip(cases, answers, strict=True) if any(c[4] and c[6] for c in own.get("cells", []))]
    ours_all, theirs_all, kept = 0, 0, [case for case in known if case.kind in ("suppressed", "circle")][:8]
    for case, ours in zip(kept, opened.ask(WITHHOLD, [{"text": one.text, "told": one.told} for one in kept]), strict=True):
        (tmp_path / "table.csv").write_text(case.text, encoding="utf-8")
        linked = interpret(PrintedForm(printed=["table.csv"], marks=case.marks, rule=case.rule), tmp_path).linked
        exposed = find_intervals(linked, WORK)
        targets = np.flatnonzero(exposed.unclear & (exposed.width == 0)).tolist()
        if ours is None:  # what is unclear is known exactly, but nothing of it was told to be suppressed
            assert not targets
            continue
        chosen = [linked.sums.place[cell] for cell in ours["cells"]]
        ranges = all_ranges(opened_sums(linked, chosen), WORK)
        left = [cell for cell in [*targets, *chosen] if ranges.lo[cell] == ranges.hi[cell]]
        assert sorted(linked.sums.cells[cell] for cell in left) == sorted(ours["left"])
        theirs = suppress_more(exposed, targets, 1, WORK)
        assert len(left) <= len(theirs.left)
        ours_all, theirs_all = ours_all + len(chosen), theirs_all + len(theirs.cells)
    assert len(kept) == 8
    assert 0 < ours_all <= 1.25 * theirs_all


CASES = json.loads((Path(__file__).parents[1] / "data" / "false_answers.json").read_text(encoding="utf-8"))
SAID = """async (asked) => {
  const { text, told } = JSON.parse(asked);
  try {
    const { cells, safe, counts } = await genverify.audit(text, told);
    return JSON.stringify({ safe, counts, cells: cells.map((cell) => [cell.place, cell.lower, cell.upper]) });
  } catch (error) { return JSON.stringify({ refused: error.message, kind: error.constructor.name }); }
}"""


@pytest.mark.parametrize("case", [case for case in CASES if case["page"]], ids=lambda case: case["name"])
def test_no_false_answer_in_the_browser(opened: PageVisit, case: dict[str, Any]) -> None:
    """The cases of the modules' own tests, in the built page with its solver: refused in words, or right."""
    (text,) = case["files"].values()
    said = opened.ask(SAID, {"text": text, "told": {"marks": case["marks"], "totals": case["totals"], "seconds": 20}})
    if "refused" in said:
        assert "refused" in case["outcome"], said
        assert said["kind"] == "Problem", said
        return
    found = {place.removeprefix("table, "): ends for place, *ends in said["cells"]}
    at = {place: found.get(place) or found.get(f"line {place.lstrip('ABCDE')}") for place in case.get("cells", {})}
    right = all(at[place] == ends for place, ends in case.get("cells", {}).items())
    assert right or ("not safe" in case["outcome"] and not said["safe"]), said
