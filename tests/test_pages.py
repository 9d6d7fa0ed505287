"""Pages that a stranger follows: their examples run, their sums add up, the notebooks run, the site has no broken link."""

import doctest
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from genverify.run.cli.shell import EXIT_CODES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize(
    "page", [page for page in sorted(DOCS.rglob("*.md")) if ">>> " in page.read_text()], ids=lambda p: p.name
)
def test_examples_of_a_page(page: Path) -> None:
    done = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert done.attempted > 0
    assert done.failed == 0


def test_the_proof_by_hand_adds_up() -> None:
    """Each line of the table: the entries add up, no sum exceeds the last column; and those that match count once."""
    text = (DOCS / "by_hand.md").read_text()
    found = re.findall(
        r"^\| (\w+), ([\w ]+) \| (\S+) \| (\S+) \| (\S+) \| \*\*(\S+)\*\* \| (?:yes|no): (\d) \|$", text, re.MULTILINE
    )
    assert len(found) == 4
    for sex, age, *numbers in found:
        woman, old, everybody, added, counted = map(int, numbers)
        assert (woman, old, everybody) == (int(sex == "woman"), int(age == "65 or over"), -1)
        assert added == woman + old + everybody <= counted == int(sex == "woman" and age == "65 or over")
        assert added >= counted or (sex, age) == ("man", "under 65")
    assert "7 + 6 - 10 = 3" in text
    assert 7 + 6 - 10 == 3


def test_the_page_about_shells_has_the_exit_codes() -> None:
    text = (DOCS / "shell.md").read_text().replace("`", "")
    assert re.findall(r"^\| (\d+) \| (.*) \|$", text, re.MULTILINE) == [
        (str(code), said) for code, said in EXIT_CODES.items()
    ]


def test_the_first_page_prints_what_the_command_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from genverify.cli import main

    text = (DOCS / "index.md").read_text()
    table, said = (re.search(begin + r".*?(?=\n\n(?! ))", text, re.DOTALL) for begin in ("    clinic,", "    2 of your"))
    assert table
    assert said
    (tmp_path / "patients.csv").write_text(re.sub(r"^    ", "", table[0], flags=re.MULTILINE) + "\n")
    assert main(["disclose", str(tmp_path / "patients.csv"), "--mark", "*=suppressed"]) == 0
    assert re.sub(r"^    ", "", said[0], flags=re.MULTILINE) in capsys.readouterr().out


@pytest.mark.filterwarnings("default")  # what a kernel's own packages warn of is not ours
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_in_a_kernel(path: Path, tmp_path: Path) -> None:
    """All its cells in a new kernel, in an empty folder; its asserts hold, a result is shown. Outputs are not stored."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel", reason="without a kernel no notebook runs")
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] for cell in cells)
    assert sum("assert " in cell.source for cell in cells) >= 3
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    assert any(
        output.output_type in ("execute_result", "display_data", "stream") for cell in cells for output in cell.outputs
    )


def test_there_are_three_notebooks() -> None:
    assert len(NOTEBOOKS) == 3


class Links(HTMLParser):
    """What a page loads, what it links to, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        self.places |= {own[name] for name in ("id", "name") if name in own}
        if tag in ("script", "img", "link", "iframe", "source") and (own.get("src") or own.get("href")):
            self.loads.append(own.get("src") or own["href"])
        elif tag == "a" and "href" in own:
            self.leads.append(own["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in strict mode."""
    if find_spec("mkdocs") is None or find_spec("material") is None:
        pytest.skip('mkdocs-material is not installed: pip install "genverify[site]"')
    home = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(home)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    assert (done.returncode, done.stderr) == (0, "")
    return home


def test_the_site_needs_no_network_and_has_no_broken_link(site: Path) -> None:
    pages = {path.resolve(): Links(path.read_text()) for path in site.rglob("*.html")}
    assert len(pages) > 30
    for path, page in pages.items():
        for link in page.loads:
            assert not urlsplit(link).netloc, f"{path.name} loads {link}"
        for link in [*page.loads, *page.leads] if path.name != "404.html" else []:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path not in ("", ".") else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{path.relative_to(site)}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].places | {"__tabbed"}, f"{path.relative_to(site)}: {link}"


def test_the_examples_of_the_hooks_of_the_site() -> None:
    spec = spec_from_file_location("hooks", DOCS / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    hooks = module_from_spec(spec)
    spec.loader.exec_module(hooks)
    done = doctest.testmod(hooks)
    assert (done.failed, done.attempted) == (0, 2)


def test_the_pages_of_studies_are_found(site: Path) -> None:
    """mkdocs.yml lists none of them: docs/NAME.md and the pages that a study registers, papers in the order of reading."""
    menu = list(dict.fromkeys(Links((site / "index.html").read_text()).leads))
    papers = ["gtv.html", "probability.html", "tracts.html", "raprank.html", "cellbounds.html", "housing.html"]
    assert [link for link in menu if link in papers] == papers


def test_the_reference_pages_have_every_command_setting_and_name(site: Path) -> None:
    import genverify
    from genverify.run.cli.commands import groups
    from genverify.run.config import Config

    commands, settings, python = (
        (site / "manual" / f"{name}.html").read_text() for name in ("commands", "settings", "python")
    )
    assert all(f'id="{name}"' in commands for group in groups() for name in group.lines if name != "estimate")
    assert all(f">{name}<" in settings or f'id="{name}"' in settings for name in Config.model_fields)
    assert all(f'id="{name.lower()}"' in python for name in genverify.__all__)


def test_spelling_and_long_sentences_are_found() -> None:
    spec = spec_from_file_location("check", DOCS / "check.py")
    assert spec is not None
    assert spec.loader is not None
    check = module_from_spec(spec)
    spec.loader.exec_module(check)
    assert list(check.hard_to_read("x", "# Title\n\nA short sentence. And one more of them.\n\n    code " + "a " * 99)) == []
    assert list(check.hard_to_read("x", "Words " * 60 + ". " + "Words " * 60 + ".")) != []
    assert check.main() == 0
    (wrong,) = [word for word in ("teh",) if word not in (DOCS / "spelling.txt").read_text().split()]
    done = subprocess.run([sys.executable, "-m", "codespell_lib", "-"], input=wrong, capture_output=True, text=True)
    assert "teh ==> the" in done.stdout
