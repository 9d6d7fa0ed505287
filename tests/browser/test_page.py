"""The page that works offline, in a real browser without a network: against the answers of Python, and as people use it."""

import gzip
import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browsers import ARGS, CHROMIUM, CONTRAST, NO_BROWSER
from genverify.checker.sums import check_sums
from genverify.cli import main
from genverify.core.errors import GenverifyError
from genverify.core.sums import Sums, make_sums, sums_of
from genverify.disclosure.complement import complement
from genverify.disclosure.exposed import expose
from genverify.disclosure.exposed import opened as opened_sums
from genverify.disclosure.page_command import PAGE
from genverify.disclosure.printed import PrintedForm, PrintedTableForm, Understood, understand
from genverify.solve.sums.parts import all_ranges
from genverify.solve.sums.work import Work
from random_tables import KINDS, TableText, random_table
from table_shapes import SHAPES

sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)
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
    return { lo: lo.map(Number), hi: hi.map(Number), empty };
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
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield opened
        opened.close()


class Visit:
    """The page, opened from its file; it remembers what the console said and what was asked of a network."""

    def __init__(self, browser: Any, **context: Any) -> None:
        self.page = browser.new_context(offline=True, accept_downloads=True, **context).new_page()
        self.page.set_default_timeout(20_000)
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        allowed = ("file:", "blob:")
        self.page.on("request", lambda asked: None if asked.url.startswith(allowed) else self.said.append(asked.url))
        self.page.goto(PAGE.as_uri())

    def ask(self, code: str, asked: Any) -> Any:
        """What code of the page makes of something; as text, because the browser's own conversion of large lists is slow."""
        return json.loads(self.page.evaluate(code, json.dumps(asked)))

    def fill(self, text: str) -> None:
        self.page.fill("#text", text)

    def run(self) -> str:
        self.page.click("#run")
        self.page.wait_for_selector("#answer")
        return str(self.page.inner_text("#report"))

    @staticmethod
    def large() -> str:
        """A table of 1,600 cells, more than half of them suppressed: a search of seconds."""
        rng = np.random.default_rng(1)
        rows = [[f"r{row}", *("*" if rng.random() < 0.6 else "5" for _ in range(40))] for row in range(40)]
        return "\n".join(",".join(row) for row in [["g", *(f"c{at}" for at in range(40))], *rows])

    def failed(self) -> str:
        self.page.wait_for_selector("#failed", state="visible")
        return str(self.page.inner_text("#failed"))


@pytest.fixture(scope="module")
def opened(browser: Any) -> Iterator[Visit]:
    found = Visit(browser)
    yield found
    assert found.said == []
    found.page.context.close()


@pytest.fixture
def visit(browser: Any, request: pytest.FixtureRequest) -> Iterator[Visit]:
    found = Visit(browser, **getattr(request, "param", {"viewport": {"width": 1280, "height": 900}}))
    yield found
    assert found.said == []
    found.page.context.close()


@pytest.fixture(scope="module")
def cases() -> list[TableText]:
    return [random_table(number) for number in range(TABLES)]


@pytest.fixture(scope="module")
def answers(opened: Visit, cases: list[TableText]) -> list[dict[str, Any]]:
    opened.page.set_default_timeout(120_000)
    found: list[dict[str, Any]] = opened.ask(AUDIT, [{"text": one.text, "told": one.told} for one in cases])
    return found


def by_python(case: TableText, folder: Path) -> dict[str, Any]:
    (folder / "table.csv").write_text(case.text, encoding="utf-8")
    try:
        linked = understand(PrintedForm(printed=["table.csv"], marks=case.marks, rule=case.rule), folder).linked
        exposed = expose(linked, WORK)
    except GenverifyError as error:
        return {"error": str(error)}
    names = ["cell", "published", "lower", "upper", "exact", "attained", "hidden"]
    cells = exposed.frame[names].astype(object).to_numpy().tolist()
    return {"digest": linked.sums.digest, "cells": cells, "statements": list(exposed.ranges.statements)}


def better(statements: list[Any], at: int) -> list[Any]:
    """The statements with one of them saying more by one."""
    forged = deepcopy(statements)
    forged[at]["value"] += -1 if forged[at]["side"] == "upper" else 1
    return forged


def test_two_hundred_random_tables_have_the_ranges_of_python(
    opened: Visit, cases: list[TableText], answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    """The same system, the same ranges; Python accepts the proofs of the page, and the page those of Python."""
    expected = [by_python(case, tmp_path) for case in cases]
    both = list(zip(cases, answers, expected, strict=True))
    for number, (case, ours, theirs) in enumerate(both):
        assert ("error" in ours) == ("error" in theirs), (number, case, ours.get("error"), theirs.get("error"))
        if "error" not in ours:
            assert ours["limit"] == ""
            assert ours["digest"] == theirs["digest"] == sums_of(ours["system"]).digest, (number, case)
            assert ours["cells"] == theirs["cells"], (number, case)
            check_sums(sums_of(ours["system"]), ours["statements"])
    settled = [(case, ours, theirs) for case, ours, theirs in both if "error" not in ours]
    assert {case.kind for case, _, _ in settled} == set(KINDS)
    assert len(settled) > 0.8 * TABLES
    assert sum(cell[4] and cell[6] for _, ours, _ in settled for cell in ours["cells"]) > 100  # suppressed and yet known
    asked = [[ours["system"], theirs["statements"]] for _, ours, theirs in settled]
    for (_, ours, theirs), shown in zip(settled, opened.ask(CHECK, asked), strict=True):
        again = check_sums(sums_of(ours["system"]), theirs["statements"])
        assert shown == {"lo": again.lo, "hi": again.hi, "empty": False}
    for _, ours, theirs in both:
        if "error" in ours and "contradict" in theirs["error"]:
            assert "contradict each other (proof checked)" in ours["error"]


def without_percentages(form: PrintedForm, folder: Path) -> Understood:
    """As Python understands the tables where percentages are left out, as the page does and says."""
    found = understand(form, folder)
    unused = {name: PrintedTableForm(percent_of="none") for name in found.percent_of}
    return understand(form.model_copy(update={"tables": unused}), folder) if unused else found


def test_tables_in_many_shapes_are_read_as_python_reads_them(opened: Visit, tmp_path: Path) -> None:
    """The same cells, rows and ends, by the digest of the system; or an error on both sides."""
    marks = {"blank": "suppressed", "*": "suppressed", "status C": "suppressed"}
    cases = [TableText(text, marks) for text in SHAPES]
    ours_all = opened.ask(READ, [{"text": one.text.removeprefix("\ufeff"), "told": one.told} for one in cases])
    refused = 0
    for case, ours in zip(cases, ours_all, strict=True):
        (tmp_path / "table.csv").write_bytes(case.text.encode())
        try:
            theirs = without_percentages(PrintedForm(printed=["table.csv"], marks=marks), tmp_path).linked.sums.digest
        except GenverifyError:
            theirs, refused = None, refused + 1
        assert ours.get("digest") == theirs, (case.text, ours)
    assert len(SHAPES) - 10 > refused >= 4


def test_forged_proofs_are_refused_by_the_page_and_by_python(opened: Visit, answers: list[dict[str, Any]]) -> None:
    """Every value better by one, every proof taken away, turned around, of no row, or said to be about something else."""
    kept = [answer for answer in answers if "error" not in answer and 0 < len(answer["statements"]) < 60][:60]
    tried, passed, failed = opened.ask(FORGE, [[one["system"], one["statements"]] for one in kept])
    assert tried > 1_000
    assert (passed, failed) == ([], [])
    for answer in kept[::10]:
        for at in range(0, len(answer["statements"]), 5):
            with pytest.raises(GenverifyError):
                check_sums(sums_of(answer["system"]), better(answer["statements"], at))


def random_system(number: int) -> Sums:
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
    return make_sums({f"x{at}": (0, int(own)) for at, own in enumerate(most)}, rows)


def test_systems_that_need_cases_are_proved_by_cases(opened: Visit) -> None:
    """Where the linear program alone leaves ends open, or has a point although no counts fit."""
    systems = [random_system(number) for number in range(40)]
    found = opened.ask(SOLVE, [sums.as_dict() for sums in systems])
    for number, (sums, ours) in enumerate(zip(systems, found, strict=True)):
        theirs, shown = all_ranges(sums, WORK), check_sums(sums, ours["statements"])
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
    opened: Visit, cases: list[TableText], answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Ranges computed again by Python without these cells; about as few of them as Python finds."""
    known = [case for case, own in zip(cases, answers, strict=True) if any(c[4] and c[6] for c in own.get("cells", []))]
    ours_all, theirs_all, kept = 0, 0, [case for case in known if case.kind in ("suppressed", "circle")][:8]
    for case, ours in zip(kept, opened.ask(WITHHOLD, [{"text": one.text, "told": one.told} for one in kept]), strict=True):
        (tmp_path / "table.csv").write_text(case.text, encoding="utf-8")
        linked = understand(PrintedForm(printed=["table.csv"], marks=case.marks, rule=case.rule), tmp_path).linked
        exposed = expose(linked, WORK)
        targets = np.flatnonzero(exposed.too_narrow(1)).tolist()
        if ours is None:  # what is unclear is known exactly, but nothing of it was told to be suppressed
            assert not targets
            continue
        chosen = [linked.sums.place[cell] for cell in ours["cells"]]
        ranges = all_ranges(opened_sums(linked, chosen), WORK)
        left = [cell for cell in [*targets, *chosen] if ranges.lo[cell] == ranges.hi[cell]]
        assert sorted(linked.sums.cells[cell] for cell in left) == sorted(ours["left"])
        theirs = complement(exposed, targets, 1, WORK)
        assert len(left) <= len(theirs.left)
        ours_all, theirs_all = ours_all + len(chosen), theirs_all + len(theirs.cells)
    assert len(kept) == 8
    assert 0 < ours_all <= 1.25 * theirs_all


def test_a_table_is_pasted_explained_answered_and_its_proofs_are_checked_elsewhere(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    visit.fill("ward/age\tyoung\told\tTotal\nNorth\t*\t5\t8\nSouth\t7\t*\t\nTotal\t10\t9\t19\n")
    page.click("#run")
    assert "what do these marks mean: * (2 times), blank (1 times)?" in visit.failed()
    page.select_option("[id='mark *']", "other")
    page.fill("[aria-label='range or limit of *']", "1-4")
    page.select_option("[id='mark blank']", "suppressed")
    report = visit.run()
    assert "3 of your 3 suppressed cells are known exactly." in report
    assert "age=young (10) = ? + 7, so age=young, ward=North is 3" in report
    assert page.evaluate("document.activeElement.id") == "answer"
    row = page.locator("#cells tbody tr", has_text="age=young, ward=North")
    assert row.inner_text().split("\t") == ["age=young, ward=North", "*", "3", "3", "exactly known", "both ends", "accepted"]
    for name in ("cells.csv", "system.json.gz", "proofs.jsonl.gz"):
        with page.expect_download() as download:
            page.click(f"text={name}")
        download.value.save_as(tmp_path / name)
    assert main(["disclose", "--check", "--out", str(tmp_path), str(tmp_path)]) == 0
    head, *lines = gzip.decompress((tmp_path / "proofs.jsonl.gz").read_bytes()).splitlines()
    forged = "\n".join(json.dumps(line) for line in [json.loads(head), *better([json.loads(line) for line in lines], 0)])
    (tmp_path / "proofs.jsonl.gz").write_bytes(gzip.compress(forged.encode()))
    assert main(["disclose", "--check", "--out", str(tmp_path), str(tmp_path)]) != 0


def test_rounded_counts_and_another_total(visit: Visit) -> None:
    visit.fill("sex,yes,no,both\nf,3,6,6\nm,0,3,6\nall people,3,9,12\n")
    assert "'all people' is the total (by its name)" in visit.page.inner_text("#understood")
    visit.page.select_option("[id='total table columns']", "=both")
    visit.page.select_option("#rounding", "random")
    assert "0 of 9 rounded counts are known exactly." in visit.run()
    visit.page.select_option("[id='total table sex']", "=f")
    assert "'f' is the total, as told" in visit.page.inner_text("#understood")
    visit.page.select_option("[id='total table sex']", "")
    visit.page.fill("#base", "5")
    visit.page.click("#run")
    assert "3 cannot come from rounding to base 5" in visit.failed()


@pytest.mark.parametrize(("text", "message"), [
    ("a,b\nfew,words\n", "headers without counts below them"),
    ("only words", "no table was found"),
    ("a,b\nx,-3\ny,2\n", "table, B2: the count -3 is negative"),
    ("a,b,c\nx,3,1\ny,2,oops!\nz,1,1\n", "table, C3: 'oops!' stands among the counts"),
    ('a,b\n"x,3\ny,2\n', "a quotation mark is not closed"),
    ("a,b,c\nTotal,3,4\nAll,3,4\nx,1,1\n", "both look like the total of a"),
    ("a,b,c\nx,1,1\nx,2,2\n", "a second cell for a: x, columns: b"),
    ("a,b,c\nx,1,1\ny,2,2\nTotal,3,99\n", "contradict each other (proof checked): columns=c = sum over a (x, y)"),
    ("a,b,c\nx,1,99999999999999\ny,2,2\n", "too large for this page"),
])  # fmt: skip
def test_malformed_tables_are_refused_in_words(opened: Visit, text: str, message: str) -> None:
    opened.fill(text)
    if opened.page.is_visible("#run"):
        opened.page.click("#run")
    assert message in opened.failed()
    assert opened.page.inner_text("#report") == ""


def test_everything_works_with_the_keys_alone(visit: Visit) -> None:
    page = visit.page
    for place in ("text", "file", "example"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == place
    page.keyboard.press("Enter")
    page.wait_for_selector("#run")
    seen = []
    while not seen or seen[-1] != "run":
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id"))
        if seen[-1] == "mark *":
            page.keyboard.type("suppressed")
    assert [place for place in seen if "total" not in place] == ["mark *", "rounding", "suppress", "seconds", "run"]
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer")
    assert "suppressed cells are known exactly" in page.inner_text("#report")


def test_a_search_can_be_stopped_and_begun_again(visit: Visit) -> None:
    page = visit.page
    page.click("#example")
    page.select_option("[id='mark *']", "suppressed")
    page.evaluate("() => { document.getElementById('run').click(); document.getElementById('stop').click(); }")
    assert visit.failed() == "stopped"
    assert page.inner_text("#report") == ""
    assert "3 of your 9 suppressed cells are known exactly." in visit.run()
    page.wait_for_selector("#advice h2")
    assert page.inner_text("#advice li") == "age=18-39, ward=East"
    visit.fill(visit.large())
    page.click("#run")
    page.wait_for_function("document.getElementById('said').textContent !== ''")
    page.click("#stop")
    assert visit.failed() == "stopped"


PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
LOOKS = [PHONE | {"color_scheme": scheme} for scheme in ("light", "dark")]


@pytest.mark.parametrize("visit", LOOKS, indirect=True, ids=["light", "dark"])
def test_it_fits_a_phone_in_light_and_dark(visit: Visit) -> None:
    page = visit.page
    page.click("#example")
    page.select_option("[id='mark *']", "suppressed")
    visit.run()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate(CONTRAST) == []


def test_nothing_can_leave_the_page(browser: Any) -> None:
    """Fetches, pictures, scripts, frames, forms and workers of other places are refused by the page's own policy."""
    page = browser.new_context().new_page()
    page.goto(PAGE.as_uri())
    page.evaluate("""() => {
      window.refused = [];
      document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.effectiveDirective));
      const put = (tag, own) => document.body.append(Object.assign(document.createElement(tag), own));
      const away = "http://127.0.0.1:9/";
      fetch(away).catch(() => {});
      navigator.sendBeacon(away, "x");
      put("img", { src: away }); put("script", { src: away }); put("script", { textContent: "window.broken = 1" });
      put("iframe", { src: away }); put("link", { rel: "stylesheet", href: away });
      try { new WebSocket("ws://127.0.0.1:9/"); } catch { /* refused at once */ }
      try { new Worker(away); } catch { /* refused at once */ }
    }""")
    page.wait_for_function("window.refused.length >= 7")
    refused = set(page.evaluate("window.refused"))
    assert {"connect-src", "img-src", "script-src-elem", "frame-src", "style-src-elem"} <= refused
    assert page.evaluate("window.broken") is None
    page.context.close()
