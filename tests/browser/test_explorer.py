"""The block explorer in a real browser, from a folder, without a network: open, search, filter, prove, keys, phone, dark."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from browsers import CONTRAST, Visit
from genverify.attack.explain import read_phrases
from genverify.explorer.explorer_site import plain_sentence
from genverify.model.domain import read_domain
from genverify.model.release import Schema
from genverify.solve.program_settings import ProgramSettings
from vipr_checker import check_vipr

sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
FIRST = "010010201001000"


def expect_blocks(page: Any, count: int) -> None:
    sync_api.expect(page.locator("#blocks a")).to_have_count(count)


class Explorer(Visit):
    """The explorer of a folder."""

    def open(self, folder: Path, place: str = "") -> Any:
        self.page.goto(f"{(folder / 'index.html').as_uri()}#{place}")
        self.page.wait_for_selector("h1")
        self.page.wait_for_selector(".tile", state="attached")
        return self.page


@pytest.fixture
def visit(browser: Any) -> Iterator[Explorer]:
    found = Explorer(browser, viewport={"width": 1280, "height": 900})
    yield found
    found.end()


def test_it_opens_with_figures_and_says_that_the_data_are_synthetic(visit: Explorer, explorer: Path) -> None:
    page = visit.open(explorer)
    assert page.inner_text("h1") == "How exposed are these blocks?"
    assert page.inner_text("#data") == "synthetic microdata: no real household"
    assert page.locator(".tile").count() == 2
    assert page.locator(".tile").first.get_attribute("aria-label").startswith("Alabama: 3 blocks, ")
    page.wait_for_selector("#blocks a")
    assert page.locator("#blocks a").count() == 4
    assert "first-contentful-paint" in page.evaluate("performance.getEntriesByType('paint').map(entry => entry.name)")


def test_search_and_tiles_narrow_the_list(visit: Explorer, explorer: Path) -> None:
    page = visit.open(explorer)
    page.fill("#search", "wyoming")
    expect_blocks(page, 1)
    assert page.inner_text("#blocks .id") == "560010201001000"
    page.fill("#search", "0100102")
    expect_blocks(page, 2)
    page.fill("#search", "")
    page.click(".tile[data-state='56']")
    expect_blocks(page, 1)
    assert page.locator(".tile[aria-pressed='true']").count() == 1
    page.fill("#search", "nowhere")
    expect_blocks(page, 0)
    assert page.inner_text("#blocks [role=status]") == "0 blocks in Wyoming, most exposed first"


def test_a_block_its_claims_and_filters(visit: Explorer, explorer: Path) -> None:
    page = visit.open(explorer, f"block={FIRST}")
    assert page.inner_text("h1") == f"Block {FIRST}"
    assert page.inner_text(".verdict b") == "3 of 3 households"
    assert page.inner_text("#claims [role=status]") == "5 statements (14 claims; shorter forms are folded)"
    page.select_option("select[name=m]", "2")
    assert page.inner_text("#claims [role=status]") == "1 statement (1 claim; shorter forms are folded)"
    assert page.inner_text(".who") == "Exactly two households here are each:"
    page.select_option("select[name=m]", "")
    page.select_option("select[name=k]", "3")
    assert page.locator(".claim").count() == 1
    page.select_option("select[name=k]", "0")
    page.click(".filters summary")
    page.check(".chip:has-text('home') input")
    page.check(".chip:has-text('age') input")
    # the fish owner (2 forms that name both) and the young one in the house
    assert page.inner_text("#claims [role=status]") == "2 statements (3 claims; shorter forms are folded)"


@pytest.mark.parametrize(("tab", "count"), [("certain", 5), ("likely", 2)])
def test_no_two_statements_of_a_block_have_the_same_words(
    visit: Explorer, explorer: Path, small_explorer: ModuleType, tab: str, count: int
) -> None:
    """Even where the phrases say the same of all of them: each says what it adds to one before it."""
    page = visit.open(explorer)
    page.evaluate("genverify.words.describe = () => 'A household.'")
    block = small_explorer.LIKELY if tab == "likely" else FIRST
    page.goto(f"{(explorer / 'index.html').as_uri()}#block={block}&tab={tab}")
    cards = page.locator(f"#panel-{tab} .claim")
    cards.first.wait_for()
    assert set(cards.locator(".text").all_inner_texts()) == {"A household."}
    said = cards.evaluate_all(
        "all => all.map(own => [...own.querySelectorAll('.who, .text, .compared')].map(part => part.textContent).join(' '))"
    )
    assert len(set(said)) == len(said) == count
    assert any("Compared with statement 1: " in text for text in said)


def test_terms_are_explained_in_place_and_the_address_has_the_state(visit: Explorer, explorer: Path) -> None:
    page = visit.open(explorer, f"block={FIRST}")
    page.click(".terms summary")
    assert all(word in page.inner_text(".terms") for word in ("k", "m", "effective k", "by chance"))
    page.select_option("select[name=m]", "2")
    page.fill("#search", "0100102")
    page.click(".tile[data-state='01']")
    assert page.url.endswith(f"#block={FIRST}&m=2&state=01&search=0100102")
    url = page.url
    page.goto("about:blank")
    page.goto(url)
    page.wait_for_selector(".claim")
    assert page.inner_text("#claims [role=status]") == "1 statement (1 claim; shorter forms are folded)"
    assert page.input_value("#search") == "0100102"
    assert page.locator(".tile[aria-pressed='true']").get_attribute("data-state") == "01"
    assert page.input_value("select[name=m]") == "2"


def test_a_proof_cell_by_cell_down_to_the_published_line(
    visit: Explorer, explorer: Path, small_explorer: ModuleType
) -> None:
    page = visit.open(explorer, f"block={FIRST}")
    assert page.inner_text(".text >> nth=0") == f"{small_explorer.LABEL}: fish; home: flat; age of the owner: middle-aged."
    page.click(".why >> nth=0")
    lower = page.inner_text(".half.lower >> nth=0")
    assert "At least 1" in lower
    assert "owner of a fish T1" in lower
    assert page.inner_text(".half.lower .total .number") == "1"
    assert page.inner_text(".done") == "At least 1 and at most 1: exactly 1."
    assert page.locator(".chances tr").count() == 6
    assert "claim=2" in page.url
    page.click(".claim summary")
    page.locator(".forms li").last.wait_for()  # the browser tells of an opened fold a moment later
    assert page.locator(".forms li").count() == 6
    page.click(".because a.cell >> nth=0")
    assert page.inner_text(".found") == "owner of a fish, in a house\t0"
    assert page.locator(".found").is_visible()


def test_likely_claims_say_their_prior_and_whether_they_are_exact(
    visit: Explorer, explorer: Path, small_explorer: ModuleType
) -> None:
    page = visit.open(explorer, f"block={small_explorer.LIKELY}")
    assert page.is_visible("#claims-title")
    assert not page.is_visible("#likely-title")
    page.focus("[data-tab=certain]")
    page.keyboard.press("ArrowRight")
    assert page.url.endswith("&tab=likely")
    assert not page.is_visible("#claims-title")
    assert page.inner_text("#likely-title") == "What is not certain, but likely"
    assert page.inner_text("#likely [role=status]") == "2 likely claims, the likeliest first"
    assert page.locator("#likely .probability").all_inner_texts() == ["over 99.9 %", "75 %"]
    assert "exact" in page.inner_text("#likely .tags >> nth=0")
    assert "estimated, 60 % to 75 %" in page.inner_text("#likely .tags >> nth=1")
    page.click("#likely summary >> nth=0")
    assert "not asked" in page.inner_text("#likely .chances >> nth=0")
    page.select_option("select[name=prior]", "uniform")
    assert page.locator("#likely .probability").all_inner_texts() == ["90 %", "68 %"]
    page.select_option("select[name=prior]", "state")
    assert page.inner_text("#likely [role=status]") == "No other claim about 1 column or more has 50 %."
    page = visit.open(explorer, f"block={FIRST}")
    sync_api.expect(page.locator("h1")).to_have_text(f"Block {FIRST}")
    assert page.locator("#likely").count() == 0


def test_the_first_screen_leads_to_one_proof(visit: Explorer, explorer: Path) -> None:
    page = visit.open(explorer)
    page.wait_for_selector("#blocks a")
    page.click("#guided")
    page.wait_for_selector(".proof")
    assert page.locator(".body:visible").count() == 1
    assert "claim=" in page.url
    assert "claim=first" not in page.url


def test_a_link_opens_a_claim(visit: Explorer, explorer: Path) -> None:
    page = visit.open(explorer, f"block={FIRST}&claim=0")
    assert page.locator(".body:visible").count() == 1
    assert page.get_attribute("[data-claim='0'] .why", "aria-expanded") == "true"
    page = visit.open(explorer, "block=999")
    sync_api.expect(page.locator("h1")).to_have_text("No such block")


def test_every_step_can_be_made_with_keys(visit: Explorer, explorer: Path) -> None:
    page = visit.open(explorer)
    page.wait_for_selector("#blocks a")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#search")
    page.keyboard.press("ArrowDown")
    first = page.evaluate("document.activeElement.dataset.block")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.block") != first
    page.keyboard.press("ArrowUp")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_selector("#claims")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.focus(".why")
    page.keyboard.press("Enter")
    assert page.locator(".body:visible").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.locator(".body:visible").count() == 0
    assert page.evaluate("document.activeElement.className") == "why"


def test_hostile_names_are_only_text(visit: Explorer, explorer: Path, small_explorer: ModuleType) -> None:
    page = visit.open(explorer)
    page.fill("#search", "onerror")
    expect_blocks(page, 1)
    page.click("#blocks a")
    page.wait_for_selector("#claims")
    assert page.inner_text("h1") == f"Block {small_explorer.HOSTILE}"
    page.click(".why >> nth=0")
    assert page.locator("img").count() == 0
    assert page.locator("main script").count() == 0


def test_on_a_phone_the_bar_hides_nothing_of_a_claim_that_is_opened(browser: Any, explorer: Path) -> None:
    visit = Explorer(browser, viewport={"width": 390, "height": 740})
    page = visit.open(explorer, f"block={FIRST}&claim=2")
    page.wait_for_selector(".body:visible")
    page.evaluate("document.querySelector('[data-claim=\"2\"]').scrollIntoView({ block: 'start' })")
    top, bottom = (page.locator(one).bounding_box() for one in ("[data-claim='2']", ".bar"))
    assert top["y"] >= bottom["y"] + bottom["height"]
    visit.end()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark_and_on_a_phone(
    browser: Any, explorer: Path, small_explorer: ModuleType, scheme: str
) -> None:
    visit = Explorer(browser, viewport={"width": 360, "height": 740}, color_scheme=scheme)
    for place in ("", f"block={small_explorer.LIKELY}", f"block={FIRST}&claim=2"):
        page = visit.open(explorer, place)
        page.reload()
        page.wait_for_selector("h1")
        page.wait_for_selector(".facts")
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert not page.locator("#side").is_visible()
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    assert page.evaluate(CONTRAST) == []
    visit.end()


def test_real_data_have_no_list_of_blocks(
    visit: Explorer,
    small_explorer: ModuleType,
    toy_schema: Schema,
    program_settings: ProgramSettings,
    tmp_path: Path,
    toy: Path,
) -> None:
    study = small_explorer.write_study(tmp_path / "study", toy_schema, program_settings, source="ppmf")
    page = visit.open(small_explorer.build(study, tmp_path / "page", toy), f"block={FIRST}")
    assert page.inner_text("#data") == "PPMF"
    assert "aggregates only" in page.inner_text(".warn")
    assert page.locator("#search").count() == 0
    assert page.locator("#claims").count() == 0


def test_claims_are_said_as_the_library_says_them(visit: Explorer, explorer: Path, root: Path) -> None:
    """Random claims about census records: the words of the page are those of genverify.attack.explain."""
    file = read_domain(root / "data" / "census" / "domain.yaml")
    domain = file.domain
    phrases = read_phrases(root / "data" / "census" / "phrases.yaml", domain)
    rng = np.random.default_rng(5)
    households = domain.restrict({**file.universe("occupied").codes, "VACS": [0]})
    of = [households] * 300 + [domain] * 50
    claims = [{c.name: int(rng.choice(c.codes)) for c in kind.columns if rng.random() < 0.7} for kind in of]
    visit.open(explorer)
    sentences = [plain_sentence(sentence) for sentence in phrases.sentences]
    study = {"columns": [{"name": name} for name in domain.names], "sentences": sentences}
    expected = {phrases.describe(claim): claim for claim in claims if phrases.describe(claim)}
    cases = [case(domain.names, claim) for claim in expected.values()]
    describe = "([study, cases]) => cases.map(([group, form]) => genverify.words.describe(study, group, form))"
    assert visit.page.evaluate(describe, [study, cases]) == list(expected)
    assert len(expected) > 200


def case(names: Sequence[str], claim: dict[str, int]) -> list[dict[str, Any]]:
    """A claim as a group of one form, as the page holds it."""
    mask = sum(1 << place for place, name in enumerate(names) if name in claim)
    return [{"codes": [claim.get(name, -1) for name in names]}, {"mask": mask}]


def test_a_proof_is_saved_for_other_checkers(visit: Explorer, explorer: Path) -> None:
    """The files are in a piece of their own, loaded only now, and are what the VIPR checker accepts."""
    page = visit.open(explorer, f"block={FIRST}")
    page.click(".why >> nth=0")
    assert page.locator("script[src*='vipr-']").count() == 0
    saved = []
    page.on("download", lambda download: saved.append(download))
    page.click(".save >> nth=0")
    page.wait_for_selector(".files [role=status]:has-text('Saved: claims_')")
    page.wait_for_function("document.querySelectorAll(\"script[src*='vipr-']\").length === 1")
    page.wait_for_timeout(500)
    names = [download.suggested_filename for download in saved]
    assert sorted(name.rpartition("_at_")[2] for name in names) == ["least.vipr", "most.vipr"]
    for download in saved:
        assert check_vipr(Path(download.path()).read_text()) == 1


def test_all_in_one_file_it_needs_nothing_beside_it(visit: Explorer, explorer: Path, tmp_path: Path) -> None:
    """As in Snakemake's report: the page is read from one file, in an empty folder."""
    (tmp_path / "index.html").write_text((explorer / "all_in_one.html").read_text())
    page = visit.open(tmp_path, f"block={FIRST}")
    assert page.inner_text("h1") == f"Block {FIRST}"
    assert page.locator(".claim").count() == 5
    page.click(".claim button.why >> nth=0")
    page.wait_for_selector(".claim table")
