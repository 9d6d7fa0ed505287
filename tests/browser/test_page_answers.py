"""The answers of the page that works offline, in a real browser without a network, against those of Python."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genverify.checker.linear_proofs import check_linear
from genverify.disclosure.interpretation import PrintedForm, interpret
from genverify.disclosure.intervals import ContradictionError, find_intervals, suppress_more
from genverify.disclosure.intervals import opened as opened_sums
from genverify.disclosure.link import without_sums
from genverify.model.errors import GenverifyError
from genverify.model.linear import OPEN, LinearSystem, make_system, system_of
from genverify.solve.linear.ranges import all_ranges
from genverify.solve.linear.search import Work
from page_visit import PageVisit, better
from random_tables import KINDS, TableText, random_release, random_table
from table_shapes import SHAPES

TABLES = 200
WORK = Work(seconds=30.0)
AUDIT = """async (asked) => {
  const found = [];
  for (const { files, words, flags, seconds, more } of JSON.parse(asked)) {
    try {
      const given = Object.entries(files).map(([name, text]) => ({ name, bytes: new TextEncoder().encode(text) }));
      const { line } = await genverify.reader({ ask: "read", files: given, words });
      const system = await genverify.reader({ ask: "system", words: [...words, ...flags.flatMap((own) => [own, ""])] });
      const answer = await genverify.solver({ ask: "audit", system, seconds });
      const proofs = await genverify.solver({ ask: "proofs" });
      const { lines, limit, safe, left } = answer;
      found.push({ ...proofs, line, lines, limit, safe, left, theirs: system.digest,
        suppress: more ? await genverify.solver({ ask: "suppress", seconds }) : null,
        cells: answer.cells.map((cell) => [cell.cell, cell.published, cell.lower, cell.upper ?? "",
          cell.exact, cell.attained, cell.hidden]), places: answer.cells.map((cell) => cell.place) });
    } catch (error) { found.push({ error: error.message, refused: error.refused ?? false }); }
  }
  return JSON.stringify(found);
}"""
CHECK = """async (asked) => {
  const found = [];
  for (const [sums, statements] of JSON.parse(asked)) {
    const { lo, hi, empty } = await genverify.solver({ ask: "check", sums, statements });
    found.push({ lo: lo.map(Number), hi: hi.map((own) => (own === null ? null : Number(own))), empty });
  }
  return JSON.stringify(found);
}"""
FORGE = """async (asked) => {
  let tried = 0; const passed = [], failed = [];
  const refused = async (sums, statements, what) => {
    tried += 1;
    try { await genverify.solver({ ask: "check", sums, statements }); passed.push(what); }
    catch (error) { if (!error.refused) failed.push(error.message); }
  };
  for (const [system, statements] of JSON.parse(asked)) for (const [at, own] of statements.entries()) {
    const forged = (changed) => statements.with(at, { ...own, ...changed });
    const turned = Object.fromEntries(Object.entries(own.proof.y ?? {}).map(([row, y]) => [row, -y]));
    await refused(system, forged({ value: own.value + (own.side === "upper" ? -1 : 1) }), ["value", own]);
    for (const proof of [{}, null, { y: turned }, { y: { "no row": 1 } }, { ...own.proof, d: 0 },
      { ...own.proof, y: { [system.rows[0]]: 0.5 } }]) await refused(system, forged({ proof }), ["proof", own, proof]);
    await refused(system, forged({ cell: "no cell" }), ["cell", own]);
    await refused(system, forged({ side: "empty" }), ["empty", own]);
  }
  return JSON.stringify([tried, passed, failed]);
}"""
SOLVE = """async (asked) => {
  const found = [];
  for (const sums of JSON.parse(asked)) found.push(await genverify.solver({ ask: "solve", sums, seconds: 20 }));
  return JSON.stringify(found);
}"""


def words_of(form: PrintedForm) -> list[str]:
    """What a form says, in the words of a command line."""
    pairs = [("--symbol", form.marks), ("--total", form.totals)]
    words = [word for option, own in pairs for name, text in own.items() for word in (option, f"{name}={text}")]
    return words + [word for rule in form.rule for word in ("--rule", rule)]


def asked_of(files: dict[str, str], form: PrintedForm, seconds: int = 30, more: bool = False) -> dict[str, Any]:
    flags = [*(["--allow-partial"] if form.partial else []), *(["--same-people"] if form.same_people else [])]
    return {"files": files, "words": words_of(form), "flags": flags, "seconds": seconds, "more": more}


def form_of(case: TableText) -> PrintedForm:
    return PrintedForm(printed=["table.csv"], marks=case.marks, rule=case.rule, partial=True)


@pytest.fixture(scope="module")
def cases() -> list[TableText]:
    return [random_table(number) for number in range(TABLES)]


@pytest.fixture(scope="module")
def answers(opened: PageVisit, cases: list[TableText]) -> list[dict[str, Any]]:
    opened.page.set_default_timeout(120_000)
    found: list[dict[str, Any]] = opened.ask(AUDIT, [asked_of({"table.csv": one.text}, form_of(one)) for one in cases])
    return found


def by_python(files: dict[str, str], form: PrintedForm, folder: Path, ours: dict[str, Any]) -> dict[str, Any]:
    """What Python says; sums that the page left out must contradict each other here too, and are then left out as well."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    try:
        understood = interpret(form, folder)
        linked, without = understood.linked, left_out_rows(ours)
        if without:
            with pytest.raises(ContradictionError):
                find_intervals(linked, WORK)
            linked = without_sums(linked, without)
        exposed = find_intervals(linked, WORK)
    except GenverifyError as error:
        return {"error": str(error).replace(f"{folder}/", "")}
    names = ["cell", "published", "lower", "upper", "known_exactly", "ends_attained", "hidden"]
    cells = [[row[name] for name in names] for row in exposed.rows]
    return {"digest": linked.sums.digest, "cells": cells, "statements": list(exposed.ranges.statements),
            "line": understood.reading.line(), "left": list(understood.left_out)}  # fmt: skip


def left_out_rows(ours: dict[str, Any]) -> list[str]:
    """The sums of the page's system that say nothing."""
    if "error" in ours:
        return []
    system = ours["system"]
    rows = zip(system["rows"], system["least"], system["most"], strict=True)
    return [row for row, least, most in rows if least is most is None]


def compare(ours: dict[str, Any], theirs: dict[str, Any], about: Any) -> None:
    """The same reading, system and intervals, and proofs that Python accepts; or the same mistake."""
    assert ours.get("error") == theirs.get("error"), about
    if "error" in ours:
        return
    assert ours["limit"] == "", about
    assert ours["line"] == theirs["line"], about
    without = left_out_rows(ours)
    left = ours["left"]
    if without:
        *left, said = left
        first = said.removeprefix(f"{len(without)} sums that contradict each other (proof checked): ").partition("; ")[0]
        assert any(first.startswith(row) for row in without), about
    assert left == theirs["left"], about
    assert ours["digest"] == theirs["digest"] == system_of(ours["system"]).digest, about
    assert without or ours["digest"] == ours["theirs"], about
    assert ours["cells"] == theirs["cells"], about
    check_linear(system_of(ours["system"]), ours["statements"])


def test_two_hundred_random_tables_have_the_intervals_of_python(
    opened: PageVisit, cases: list[TableText], answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    """The same reading and system, the same intervals; each side accepts the proofs of the other."""
    expected = [
        by_python({"table.csv": case.text}, form_of(case), tmp_path, ours) for case, ours in zip(cases, answers, strict=True)
    ]
    for number, (case, ours, theirs) in enumerate(zip(cases, answers, expected, strict=True)):
        compare(ours, theirs, (number, case))
    settled = [own for own in zip(cases, answers, expected, strict=True) if "error" not in own[1]]
    assert {case.kind for case, _, _ in settled} == set(KINDS)
    assert len(settled) > 0.8 * TABLES
    assert sum(cell[4] and cell[6] for _, ours, _ in settled for cell in ours["cells"]) > 100  # suppressed and yet known
    asked = [[ours["system"], theirs["statements"]] for _, ours, theirs in settled]
    for (_, ours, theirs), shown in zip(settled, opened.ask(CHECK, asked), strict=True):
        again = check_linear(system_of(ours["system"]), theirs["statements"])
        assert shown == {"lo": again.lo, "hi": [None if own == OPEN else own for own in again.hi], "empty": False}


def test_releases_with_totals_percentages_and_several_files_have_the_intervals_of_python(
    opened: PageVisit, tmp_path: Path
) -> None:
    """Told totals, stacked breakdowns, linked files, and percentages, which are facts of the system here too."""
    kept = [own for number in range(45) if not (own := random_release(number)).hrc]
    forms, files = [], []
    for release in kept:
        files.append({f"t{at}.csv": sheet.text for at, sheet in enumerate(release.sheets)})
        told = {name: own for name, own in release.told.items() if name in ("marks", "totals", "rule")}
        forms.append(PrintedForm(printed=list(files[-1]), partial=True, **told))
    files.append({"t.csv": "group,n,%\nA,*,40.0\nB,*,60.0\nTotal,5,100.0\n"})
    forms.append(PrintedForm(printed=["t.csv"], marks={"*": "suppressed"}))
    ours_all = opened.ask(AUDIT, [asked_of(own, form) for own, form in zip(files, forms, strict=True)])
    for number, (own, form, ours) in enumerate(zip(files, forms, ours_all, strict=True)):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        compare(ours, by_python(own, form, folder, ours), (number, own))
    assert sum("error" not in ours for ours in ours_all) > len(kept) / 2
    assert any("fact: " in row for row in ours_all[-1]["system"]["rows"])
    assert [cell[2:5] for cell in ours_all[-1]["cells"]] == [[2, 2, True], [3, 3, True], [5, 5, True]]


def test_tables_in_many_shapes_are_read_as_python_reads_them(opened: PageVisit, tmp_path: Path) -> None:
    """The same system by its digest, or the same mistake."""
    forms = [PrintedForm(printed=["table.csv"], marks=dict.fromkeys(marks, "suppressed")) for marks in SHAPES.values()]
    texts = list(SHAPES)
    ours_all = opened.ask(AUDIT, [asked_of({"table.csv": text}, form) for text, form in zip(texts, forms, strict=True)])
    for text, form, ours in zip(texts, forms, ours_all, strict=True):
        compare(ours, by_python({"table.csv": text}, form, tmp_path, ours), text)
    assert sum("error" not in ours for ours in ours_all) >= 10


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


def test_cells_to_suppress_leave_nothing_known_exactly(
    opened: PageVisit, cases: list[TableText], answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Intervals computed again by Python without these cells; not many more of them than the fewest, which Python finds."""
    known = [case for case, own in zip(cases, answers, strict=True)
             if any(c[4] and c[6] for c in own.get("cells", [])) and not own["left"]]  # fmt: skip
    ours_all, theirs_all, kept = 0, 0, [case for case in known if case.kind in ("suppressed", "circle")][:8]
    asked = [asked_of({"table.csv": one.text}, form_of(one), 20, more=True) for one in kept]
    for case, said in zip(kept, opened.ask(AUDIT, asked), strict=True):
        ours = said["suppress"]
        (tmp_path / "table.csv").write_text(case.text, encoding="utf-8")
        linked = interpret(form_of(case), tmp_path).linked
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
        assert len(left) <= theirs.left
        ours_all, theirs_all = ours_all + len(chosen), theirs_all + len(theirs.cells)
    assert len(kept) == 8
    assert 0 < ours_all <= 1.4 * theirs_all  # the page goes step by step, Python has the fewest


CASES = json.loads((Path(__file__).parents[1] / "data" / "false_answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", [case for case in CASES if "hierarchy" not in case], ids=lambda case: case["name"])
def test_no_false_answer_in_the_browser(opened: PageVisit, case: dict[str, Any], tmp_path: Path) -> None:
    """Tables that were once answered falsely: refused in words, or right; and in each case as Python has it."""
    form = PrintedForm(printed=list(case["files"]), marks=case["marks"], totals=case["totals"])
    (said,) = opened.ask(AUDIT, [asked_of(case["files"], form, 20)])
    compare(said, by_python(case["files"], form, tmp_path, said), case)
    if "error" in said:
        assert "refused" in case["outcome"], said
        assert not said["refused"], said
        return
    found = {place.rsplit(", ", 1)[-1]: [cell[2], cell[3] if cell[3] != "" else None]
             for place, cell in zip(said["places"], said["cells"], strict=True)}  # fmt: skip
    right = all(found.get(place) == ends for place, ends in case.get("cells", {}).items())
    assert right or ("not safe" in case["outcome"] and not said["safe"]), said
    never = [] if case["about"] == "percentages" and not said["left"] else case["never"]
    assert [words for words in never if words in "\n".join(said["lines"])] == []
