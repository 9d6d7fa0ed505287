"""The page that works offline, in a real browser without a network, as people use it."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browsers import CONTRAST
from genverify.cli import main
from genverify.disclosure.disclose_command import PAGE
from page_visit import PageVisit, better


@pytest.fixture
def visit(browser: Any, request: pytest.FixtureRequest) -> Iterator[PageVisit]:
    found = PageVisit(browser, **getattr(request, "param", {"viewport": {"width": 1280, "height": 900}}))
    yield found
    found.end()


def test_a_table_is_pasted_explained_answered_and_its_proofs_are_checked_elsewhere(visit: PageVisit, tmp_path: Path) -> None:
    page = visit.page
    text = "ward/age\tyoung\told\tTotal\nNorth\t*\t5\t8\nSouth\t7\t*\t\nTotal\t10\t9\t19\n"
    visit.fill(text)
    page.click("#run")
    assert "what do these symbols mean: * (2 times), blank (1 times)?" in visit.failed()
    page.select_option("[id='symbol *']", "other")
    page.fill("[aria-label='range of *']", "1-4")
    page.press("[aria-label='range of *']", "Tab")
    visit.settled()
    visit.mean("blank", "suppressed")
    assert page.inner_text("#command") == "genverify read table.csv --symbol '*=1-4' --symbol blank=suppressed"
    report = visit.run()
    assert "3 of your 3 suppressed cells are known exactly." in report
    assert "= ? + 5, so age=young, ward=North is 3" in report or "= ? + 7, so age=young, ward=North is 3" in report
    assert "genverify disclose table.csv --symbol '*=1-4' --symbol blank=suppressed" in report
    assert page.evaluate("document.activeElement.id") == "answer"
    row = page.locator("#cells tbody tr", has_text="age=young, ward=North")
    assert row.inner_text().split("\t") == ["age=young, ward=North", "*", "3", "3", "exactly known", "both ends", "accepted"]
    for name in ("cells.csv", "system.json.gz", "proofs.jsonl.gz"):
        with page.expect_download() as download:
            page.click(f"text={name}")
        download.value.save_as(tmp_path / name)
    (tmp_path / "table.csv").write_text(text)
    check = ["disclose", "--check", "--out", str(tmp_path), str(tmp_path / "table.csv")]
    marks = ["--symbol", "*=1-4", "--symbol", "blank=suppressed"]
    assert main([*check, *marks]) == 0
    assert main([*check, "--symbol", "*=1-5", "--symbol", "blank=suppressed"]) == 2  # other tables than those of the proofs
    certificate = json.loads(gzip.decompress((tmp_path / "proofs.jsonl.gz").read_bytes()))
    forged = json.dumps(certificate | {"statements": better(certificate["statements"], 0)})
    (tmp_path / "proofs.jsonl.gz").write_bytes(gzip.compress(forged.encode()))
    assert main([*check, *marks]) == 2


def test_rounded_counts(visit: PageVisit) -> None:
    visit.fill("sex,yes,no,all\nf,3,6,9\nm,3,3,6\nall people,6,9,15\n")
    visit.page.select_option("#rounding", "random")
    assert "0 of 9 rounded counts are known exactly." in visit.run()
    visit.page.fill("#base", "5")
    visit.page.press("#base", "Tab")  # the table is read again with it; a click meanwhile would be about the former reading
    visit.settled()
    visit.page.click("#run")
    assert "3 cannot come from rounding to base 5" in visit.failed()
    visit.page.fill("#base", "")
    visit.page.press("#base", "Tab")
    visit.settled()
    visit.page.click("#run")
    assert "the base of the rounding: NaN is not a whole number" in visit.failed()


@pytest.mark.parametrize(("text", "message"), [
    ("a,b\nfew,words\n", "no table with counts was found"),
    ("only words", "no table with counts was found"),
    ("a,b,c\nx,1,1\ny,2,2\nTotal,3,99\n", "is called a total, but its parts are not clear"),
    ("a,b,c\nx,1,99999999999999999\ny,2,2\n", "too large to compute with exactly"),
])  # fmt: skip
def test_what_cannot_be_answered_is_said_in_words(opened: PageVisit, text: str, message: str) -> None:
    opened.fill(text)
    assert " cells = " in opened.page.inner_text("#line")
    opened.page.click("#run")
    assert message in opened.failed()
    assert opened.page.inner_text("#report") == ""


def test_sums_that_contradict_each_other_are_named_and_left_out(visit: PageVisit) -> None:
    visit.fill("a,b,c\nx,1,1\ny,*,2\nz,30,4\nTotal,33,99\n")
    visit.mean("*", "suppressed")
    visit.click("5", "Total is the total of a")
    answer = visit.run()
    assert "1 sums that contradict each other (proof checked): columns=c = sum over a" in answer
    assert "At least 1 of your 1 suppressed cells are known exactly." in answer or "1 of your 1 suppressed" in answer


def test_an_old_or_broken_workbook_is_refused_and_the_remedy_is_said(visit: PageVisit, tmp_path: Path) -> None:
    (tmp_path / "book.xls").write_bytes(b"\xd0\xcf\x11\xe0 no matter what")
    visit.page.set_input_files("#file", tmp_path / "book.xls")
    assert "book.xls: this page reads .xlsx and .ods, not older Excel files. Save it as .xlsx" in visit.failed()
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04 no matter what")
    visit.page.set_input_files("#file", tmp_path / "book.xlsx")
    visit.page.wait_for_function("() => document.getElementById('failed').textContent.includes('book.xlsx')")
    assert "cannot be opened as a workbook" in visit.failed()


def settled(visit: PageVisit) -> None:
    visit.page.wait_for_function("() => !document.getElementById('run').disabled")


def test_cells_that_force_another_light_up(visit: PageVisit) -> None:
    visit.fill("ward,young,old,Total\nNorth,*,5,8\nSouth,4,*,9\nTotal,7,10,17\n")
    visit.mean("*", "suppressed")
    visit.run()
    settled(visit)
    visit.page.locator("#tables td.unsafe button").first.click()
    visit.page.wait_for_selector("#forced:not([hidden])")
    lit = visit.page.locator("#tables td.forces button").evaluate_all("all => all.map(own => own.firstChild.data)")
    assert sorted(lit) in (["5", "8"], ["4", "7"])  # the rest of its row, or of its column
    assert "North is 3" in visit.page.inner_text("#forced")
    visit.page.keyboard.press("Escape")
    assert visit.page.locator("#tables td.forces").count() == 0


def test_a_click_suppresses_a_count_and_another_prints_it(visit: PageVisit) -> None:
    visit.fill("ward,young,old,Total\nNorth,*,5,8\nSouth,4,*,9\nTotal,7,10,17\n")
    visit.mean("*", "suppressed")
    assert "2 of your 2 suppressed cells are known exactly." in visit.run()
    settled(visit)
    visit.page.click("#try")
    visit.page.wait_for_selector("#undo")
    settled(visit)
    report = visit.page.inner_text("#report")
    assert "0 of your 4 suppressed cells are known exactly." in report
    assert "cells.csv" not in visit.page.inner_text("#report .actions >> nth=0")
    cell = visit.page.locator("#tables td.added button").first
    cell.press("Enter")
    visit.page.wait_for_function("() => document.querySelectorAll('#tables td.added').length === 1")
    settled(visit)
    visit.page.click("#undo")
    visit.page.wait_for_function("() => !document.getElementById('undo')")
    settled(visit)
    assert "2 of your 2 suppressed cells are known exactly." in visit.page.inner_text("#report")


def test_a_contradiction_is_framed_in_the_table_and_in_the_sheet(visit: PageVisit) -> None:
    visit.fill("a,b,c\nx,1,1\ny,*,2\nz,30,4\nTotal,33,99\n")
    visit.mean("*", "suppressed")
    visit.click("5", "Total is the total of a")
    visit.run()
    settled(visit)
    texts = [visit.page.locator(f"{table} td.clash").all_inner_texts() for table in ("#tables", ".sheet")]
    assert texts == [["1", "2", "4", "99"]] * 2


def test_percentages_are_facts_of_the_answer(visit: PageVisit) -> None:
    visit.fill("group,n,%\nA,*,40.0\nB,*,60.0\nTotal,5,100.0\n")
    visit.mean("*", "suppressed")
    assert "2 of your 2 suppressed cells are known exactly." in visit.run()


def test_what_was_left_out_stands_first_and_nothing_is_proposed(visit: PageVisit) -> None:
    visit.fill("area,a,b,rate per 1000\nN,*,2,0.4\nS,3,4,7.1\nE,5,4,7.9\nTotal,10,10,5.2\n")
    visit.mean("*", "suppressed")
    report = visit.run()
    assert "Not everything was read. Left out, and may give away more: " in report
    assert "rate per 1000" in report
    visit.page.wait_for_function("() => document.getElementById('said').textContent === ''")
    assert visit.page.inner_text("#advice") == ""


def test_a_label_that_may_be_a_total_is_asked_about(visit: PageVisit) -> None:
    visit.fill("race,x,y\nWhite,*,*\nBlack,*,3\nAll other races,30,40\n")
    visit.mean("*", "suppressed")
    visit.page.click("#run")
    assert "'All other races' is called a total" in visit.failed()
    visit.page.click("text=No, it is not")
    visit.settled()
    assert "--no-total 'All other races'" in visit.page.inner_text("#command")
    assert "0 of your 3 suppressed cells are known exactly." in visit.run()
    visit.click("4", "All other races is the total of race")
    assert "1 of your 3 suppressed cells are known exactly." in visit.run()
    visit.fill("race,x,y\nWhite,1,3\nBlack,2,3\nAll other races,3,6\n")  # what was told of * is not told any more
    assert visit.page.locator("#corrections").count() == 0


def test_labels_are_shown_as_texts(visit: PageVisit) -> None:
    label = "<img src=x onerror=window.broken=1>\u001b[31m"
    visit.fill(f"area,a,b,Total\n{label},*,3,9\nS,2,*,4\n")
    visit.mean("*", "suppressed")
    assert "2 of your 2 suppressed cells are known exactly." in visit.run()
    assert '"<img src=x onerror=window.broken=1>\\u001b[31m"' in visit.page.inner_text("#cells")
    assert visit.page.evaluate("[window.broken ?? null, document.images.length]") == [None, 0]


def test_a_large_table_does_not_freeze_the_page(visit: PageVisit) -> None:
    """The main thread goes on while the threads read and search: no pause between two turns is long."""
    lines = [",".join(["code", "street", *(f"c{at}" for at in range(12))])]
    lines += [
        ",".join([f"{at:04d}X", f"Street {at // 2}", *(str(at % 90 + own) for own in range(12))]) for at in range(4_000)
    ]
    longest = visit.page.evaluate(
        """async (text) => {
          const box = document.getElementById("text");
          let last = performance.now(), longest = 0;
          const turn = setInterval(() => {
            const now = performance.now();
            [longest, last] = [Math.max(longest, now - last), now];
          }, 10);
          box.value = text;
          box.dispatchEvent(new Event("input"));
          while (document.getElementById("reads").textContent !== "") await new Promise((done) => setTimeout(done, 20));
          clearInterval(turn);
          return longest;
        }""",
        "\n".join(lines),
    )
    assert longest < 1_500  # on a busy machine; alone it is far less
    assert "48,000 counts" in visit.page.inner_text("#line")
    visit.page.click("#run")
    assert "48,000 counts are too many for this page (at most 5,000)" in visit.failed()


def test_everything_works_with_the_keys_alone(visit: PageVisit) -> None:
    page = visit.page
    for place in ("text", "file", "example"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == place
    page.keyboard.press("Enter")
    page.wait_for_selector("#run")
    visit.settled()
    page.focus(".sheet thead button >> nth=1")
    page.keyboard.press("Enter")  # the menu of column B opens, its first choice in focus
    assert page.evaluate("document.activeElement.textContent") == "It holds labels"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "Bcount"
    page.focus("[id='symbol *']")
    page.keyboard.type("suppressed")
    visit.settled()
    seen = list[str]()
    while not seen or seen[-1] != "run":
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id"))
    last = ["rounding", "suppress", "same-people", "allow-partial", "seconds", "run"]
    assert [place for place in seen if place in last] == last
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer")
    assert "suppressed cells are known exactly" in page.inner_text("#report")


def test_a_search_can_be_stopped_and_begun_again(visit: PageVisit) -> None:
    page = visit.page
    page.click("#example")
    visit.settled()
    visit.mean("*", "suppressed")
    assert "3 of your 9 suppressed cells are known exactly." in visit.run()
    page.wait_for_selector("#advice h2")
    assert "ward=East" in page.inner_text("#advice li")
    visit.fill(visit.large())
    visit.mean("*", "suppressed")
    page.click("#run")
    page.wait_for_function("() => document.getElementById('said').textContent.includes(' of ')")
    page.click("#stop")
    assert visit.failed() == "stopped"
    page.click("#example")
    visit.settled()
    visit.mean("*", "suppressed")
    assert "3 of your 9 suppressed cells are known exactly." in visit.run()


PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
LOOKS = [PHONE | {"color_scheme": scheme} for scheme in ("light", "dark")]


@pytest.mark.parametrize("visit", LOOKS, indirect=True, ids=["light", "dark"])
def test_it_fits_a_phone_in_light_and_dark(visit: PageVisit) -> None:
    page = visit.page
    page.click("#example")
    visit.settled()
    visit.mean("*", "suppressed")
    visit.run()
    page.click(".sheet thead button >> nth=2")
    assert page.is_visible("#menu")
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
    page.wait_for_function("() => window.refused.length >= 7")
    refused = set(page.evaluate("window.refused"))
    assert {"connect-src", "img-src", "script-src-elem", "frame-src", "style-src-elem"} <= refused
    assert page.evaluate("window.broken") is None
    page.context.close()


def test_one_page_can_be_printed_and_signed(visit: PageVisit) -> None:
    visit.fill("ward,young,old,Total\nNorth,*,5,8\nSouth,4,*,9\nTotal,7,10,17\n")
    visit.mean("*", "suppressed")
    visit.run()
    settled(visit)
    assert not visit.page.is_visible("#sign")
    visit.page.emulate_media(media="print")
    assert "2 of your 2 suppressed cells are known exactly." in visit.page.inner_text("#report")
    assert "Signature" in visit.page.inner_text("#sign")
    assert all(visit.page.is_hidden(part) for part in ("#input", "#reading", "#run", "footer", "#cells", "#print"))
    assert visit.page.pdf(format="A4").count(b"/Type /Page\n") == 1
    visit.page.emulate_media(media="screen")
