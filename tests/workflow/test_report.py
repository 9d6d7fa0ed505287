"""Every figure and table stands in the report once, with a caption of its own."""

import re
from pathlib import Path

import pytest

from reference_set import find_captions, read_pages

ROOT = Path(__file__).parents[2]
STAGES = {str(path.relative_to(ROOT / "workflow")): path.read_text() for path in (ROOT / "workflow").rglob("*.smk")}
TEXT = "\n".join(STAGES.values())
FIGURES = re.findall(r'shown\(\s*"figures/(\w+)\.png"', TEXT)
SHARED = re.findall(r'shown\(\s*"[^"]*\{[^)]*"(\w+)",?\s*\)', TEXT)
PAGES = read_pages(ROOT / "workflow")
CAPTIONS = find_captions(ROOT / "workflow")
TABLES = {name: page for group in PAGES.values() for name, page in group.items()}
CATEGORIES = re.findall(r"^(?:[A-Z_]+(?:, )?)+ = ((?:\"[A-Z][A-Za-z -]+\"(?:, )?)+)$", TEXT, re.MULTILINE)


def test_every_figure_is_shown() -> None:
    assert len(FIGURES) >= 8
    assert not re.findall(r'^\s+png="', TEXT, re.MULTILINE), "wrap the PNG in shown(...), see common.smk"


def test_every_table_to_read_has_a_page() -> None:
    written = set(re.findall(r'readable="results/tables/([\w{}]+)\.md"', TEXT))
    assert written
    shown = {Path(page["file"]).stem for page in TABLES.values()}
    assert {name for name in written if "{" not in name} <= shown, "add an entry to report.yaml in the folder of its stage"


def test_a_table_stands_in_one_group() -> None:
    """And some rule asks for its page."""
    text = TEXT + (ROOT / "Snakefile").read_text()
    for group, pages in PAGES.items():
        assert f'PAGES["{group}"]' in text or all(f'"results/report/{name}.html"' in text for name in pages), group
    assert len(TABLES) == sum(map(len, PAGES.values()))


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_table_is_described(name: str) -> None:
    page = TABLES[name]
    assert {"file", "label", "category", "caption"} <= page.keys() <= {"file", "label", "category", "caption", "variant"}
    assert f'"{page["category"]}"' in ", ".join(CATEGORIES), "a category that no figure could stand in"
    assert len(page["caption"]) > 40


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_a_figure_has_one_caption(name: str) -> None:
    assert FIGURES.count(name) == 1
    assert len(CAPTIONS[name].read_text()) > 40


def test_no_caption_is_left_over() -> None:
    assert CAPTIONS.keys() == {*FIGURES, *SHARED, "page", "explorer"}
