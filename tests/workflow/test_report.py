"""Every figure and table stands in the report once, with a caption of its own."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STAGES = {str(path.relative_to(ROOT / "workflow")): path.read_text() for path in (ROOT / "workflow").rglob("*.smk")}
TEXT = "\n".join(STAGES.values())
FIGURES = re.findall(r'shown\(\s*"figures/(\w+)\.png"', TEXT)
SHARED = re.findall(r'shown\(\s*"[^"]*\{[^)]*"(\w+)",?\s*\)', TEXT)
TABLES = re.findall(r'^    (?:(?:RAPRANK_)?PAGES\[)?"(\w+)"\]?(?::| =) \(', STAGES["common.smk"], re.MULTILINE)
TABLES += [f"cellbounds_table{number}" for number in (5, 8, 9)]


def test_every_figure_is_shown() -> None:
    assert len(FIGURES) >= 8
    assert not re.findall(r'^\s+png="', TEXT, re.MULTILINE), "wrap the PNG in shown(...), see common.smk"


def test_every_table_to_read_has_a_page() -> None:
    written = set(re.findall(r'readable="results/tables/(\w+)\.md"', TEXT))
    assert written
    assert written <= set(TABLES), "add a line to PAGES in common.smk"


@pytest.mark.parametrize("name", sorted({*FIGURES, *TABLES}))
def test_a_result_has_one_caption(name: str) -> None:
    assert (FIGURES + TABLES).count(name) == 1
    assert len((ROOT / "workflow" / "captions" / f"{name}.rst").read_text()) > 40


def test_no_caption_is_left_over() -> None:
    captions = {path.stem for path in (ROOT / "workflow" / "captions").glob("*.rst")}
    assert captions == {*FIGURES, *SHARED, *TABLES, "page"}
