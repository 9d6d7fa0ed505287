"""The documents: short enough, current, and without a broken link."""

import re
from pathlib import Path

import pytest

from genverify.run.rooms import rooms_page

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "config").glob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_the_readme_is_short() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 120
    assert max(len(line) for line in lines if not line.startswith("|")) <= 120


def test_the_page_of_rooms_is_current() -> None:
    assert (ROOT / "docs" / "rooms.md").read_text() == rooms_page(), "make it again: genverify rooms > docs/rooms.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if ":" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_modules_that_are_named_exist(page: Path) -> None:
    """A path that begins with a room is that of a module or folder."""
    rooms = "core|reading|microdata|solve|checker|protect|attack|show|papers|disclosure|run"
    named = re.findall(rf"`((?:{rooms})/[\w/]+\.py)`", page.read_text())
    assert [name for name in named if not (ROOT / "src" / "genverify" / name).is_file()] == []


def test_every_module_has_a_row_in_the_map() -> None:
    """It is named there itself, or the folder of its study or room is."""
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", (ROOT / "docs" / "map.md").read_text()))
    modules = [path.relative_to(ROOT / "src" / "genverify") for path in (ROOT / "src" / "genverify").rglob("*.py")]
    places = {str(m): {str(m), *(f"{folder}/" for folder in m.parents)} for m in modules if m.name != "__init__.py"}
    assert [module for module, rows in sorted(places.items()) if not named & rows] == []
