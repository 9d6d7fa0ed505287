"""The documents: short enough, current, and without a broken link."""

import re
from pathlib import Path

import pytest

from modules import modules_page

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "config").glob("*.md")])
PAST = {ROOT / "CHANGELOG.md"}  # it tells of modules that are gone
NEW = {"studies/pairs/study.py", "genverify/reading/dat.py"}  # what the tutorials write
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
# what the site alone has
LIVE = set(re.findall(r'^    "(live/[^"]+)":', (ROOT / "docs/hooks.py").read_text(encoding="utf-8"), re.MULTILINE))


def test_the_readme_is_short() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 120
    assert max(len(line) for line in lines if not line.startswith("|")) <= 120


def test_the_page_of_modules_is_current() -> None:
    current = (ROOT / "docs" / "modules.md").read_text() == modules_page()
    assert current, "make it again: genverify modules > docs/modules.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if ":" not in link and link not in LIVE]
    assert [link for link in links if not (page.parent / link).exists()] == []


def headings(page: Path) -> set[str]:
    """The places in a page that a link can name: its headings as GitHub and the site write them."""
    plain = (re.sub(r"`|\*|\]\([^)]*\)|\[", "", line) for line in re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE))
    return {re.sub(r"[^\w -]", "", line.lower()).strip().replace(" ", "-") for line in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_headings_that_exist(page: Path) -> None:
    wrong = [
        f"{path}#{place}"
        for path, place in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", page.read_text())
        if (target := page.parent / path if path else page).suffix == ".md" and place not in headings(target)
    ]
    assert wrong == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_a_page_opens_with_what_it_is_for(page: Path) -> None:
    """After the title comes a sentence, not a command, a table or another title."""
    title, first = re.split(r"\n\s*\n", page.read_text(), maxsplit=2)[:2]
    assert title.startswith("# ") or page.parent.name == "reference"
    assert page.parent.name == "reference" or re.match(r"[A-Z*`][^|#]{30}", first), first[:60]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_modules_that_are_named_exist(page: Path) -> None:
    """A path that begins with the library, the studies or one of their packages is one in src."""
    own = [path.name for home in ("genverify", "studies") for path in (ROOT / "src" / home).iterdir() if path.is_dir()]
    named = re.findall(rf"`(?:src/)?((?:genverify|studies|{'|'.join(own)})/[\w/.]*)`", page.read_text())
    assert [name for name in named if page not in PAST and name not in NEW and not (ROOT / "src" / name).exists()] == []


def test_no_row_of_the_map_says_what_another_says() -> None:
    """No two rows of a part have the same first words and module: one was left when the other was written."""
    for part in (ROOT / "docs" / "map.md").read_text().split("\n## "):
        rows = [line.split(" | ") for line in part.splitlines() if line.startswith("| ") and "`" in line]
        said = [(re.split(r"[:;,]| \(", row[0][2:])[0], *re.findall(r"`[^`]+`", row[1])[:1]) for row in rows]
        assert sorted({one for one in said if said.count(one) > 1}) == []
