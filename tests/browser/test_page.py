"""The page that works offline, in a real browser without a network, as people use it."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browsers import CONTRAST
from genverify.cli import main
from genverify.disclose.disclose_command import PAGE
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
    (tmp_path / "table.tsv").write_text(text)
    check = ["disclose", "--check", "--out", str(tmp_path), str(tmp_path / "table.tsv")]
    marks = ["--mark", "*=1-4", "--mark", "blank=suppressed"]
    assert main([*check, *marks]) == 0
    assert main([*check, "--mark", "*=1-5", "--mark", "blank=suppressed"]) == 2  # other tables than those of the proofs
    stored = json.loads(gzip.decompress((tmp_path / "proofs.jsonl.gz").read_bytes()))
    forged = json.dumps({**stored, "statements": better(stored["statements"], 0)})
    (tmp_path / "proofs.jsonl.gz").write_bytes(gzip.compress(forged.encode()))
    assert main([*check, *marks]) == 2


def test_rounded_counts_and_another_total(visit: PageVisit) -> None:
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
    ("a,b,c\nx,3,1\ny,2,oops!\nz,1,1\n", "table, C3: oops! stands among the counts"),
    ('a,b\n"x,3\ny,2\n', "a quotation mark is not closed"),
    ("a,b,c\nTotal,3,4\nAll,3,4\nx,1,1\n", "both look like the total of a"),
    ("a,b,c\nx,1,1\nx,2,2\n", "a second cell for a: x, columns: b"),
    ("a,b,c\nx,1,1\ny,2,2\nTotal,3,99\n", "contradict each other (proof checked): columns=c = sum over a (x, y)"),
    ("a,b,c\nx,1,99999999999999\ny,2,2\n", "too large for this page"),
    ("a,b,c\nx,1,\u001b[31m" + "9" * 5000 + "\n", "headers without counts"),
    ("a,b,c\nx,2.000,1\ny,2,2\n", "table, B2: 2.000 can be 2 or 2000"),
    ("a,b,c\nx,1,1\n  y,2,2\n", "y is indented below x"),
])  # fmt: skip
def test_malformed_tables_are_refused_in_words(opened: PageVisit, text: str, message: str) -> None:
    opened.fill(text)
    if opened.page.is_visible("#run"):
        opened.page.click("#run")
    assert message in opened.failed()
    assert opened.page.inner_text("#report") == ""


def test_what_was_left_out_stands_first_and_nothing_is_proposed(visit: PageVisit) -> None:
    visit.fill("group,n,%\nA,*,40.0\nB,*,60.0\nTotal,5,100.0\n")
    visit.page.select_option("[id='mark *']", "suppressed")
    report = visit.run()
    assert "As far as it was read: 3 cells were left out" in report
    assert "percentages or rates in column % (3)" in report
    assert "At least 0 of your 2 suppressed cells are known exactly." in report
    assert visit.page.inner_text("#advice") == ""


def test_a_label_that_may_be_a_total_is_asked_about(visit: PageVisit) -> None:
    visit.fill("race,x,y\nWhite,*,*\nBlack,*,3\nAll other races,30,40\n")
    visit.page.select_option("[id='mark *']", "suppressed")
    visit.page.click("#run")
    assert "is All other races the total of race, or one of its groups?" in visit.failed()
    visit.page.select_option("[id='total table race']", "none")
    assert "0 of your 3 suppressed cells are known exactly." in visit.run()
    visit.page.select_option("[id='total table race']", "=All other races")
    assert "1 of your 3 suppressed cells are known exactly." in visit.run()
    visit.fill("race,x,y\nWhite,1,3\nBlack,2,3\nAll other races,3,6\n")  # what was told of * is not told any more
    assert "nothing is hidden" in visit.run()


def test_labels_are_shown_as_texts(visit: PageVisit) -> None:
    label = "<img src=x onerror=window.broken=1>\u001b[31m"
    visit.fill(f"area,a,b,Total\n{label},*,3,9\nS,2,*,4\n")
    visit.page.select_option("[id='mark *']", "suppressed")
    assert "2 of your 2 suppressed cells are known exactly." in visit.run()
    assert '"<img src=x onerror=window.broken=1>\\u001b[31m"' in visit.page.inner_text("#cells")
    assert visit.page.evaluate("[window.broken ?? null, document.images.length]") == [None, 0]


def test_columns_of_many_labels_do_not_freeze_the_page(visit: PageVisit) -> None:
    rows = (f"{at:03d}X,Street {at // 2},{at % 90},*" for at in range(478))
    took = visit.page.evaluate(
        """(text) => {
          const box = document.getElementById("text"), begun = performance.now();
          box.value = text;
          box.dispatchEvent(new Event("input"));
          return performance.now() - begun;
        }""",
        "\n".join(["code,street,a,b", *rows]),
    )
    assert took < 5_000
    assert "code (478 labels) x street (239 labels) x columns (2 labels) are too many cells for this page" in visit.failed()


def test_everything_works_with_the_keys_alone(visit: PageVisit) -> None:
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


def test_a_search_can_be_stopped_and_begun_again(visit: PageVisit) -> None:
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
def test_it_fits_a_phone_in_light_and_dark(visit: PageVisit) -> None:
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
