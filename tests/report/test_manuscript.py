"""The replication report: every number has a source, and the PDF that is shipped is the one that its sources make."""

from hashlib import sha256
from pathlib import Path

import pytest

from genverify.model.errors import DataError
from genverify.run.layout import load
from reference_set import altered_files, read_manifest
from script_jobs import job, script

ROOT = Path(__file__).parents[2]
TOOL = "docs/paper/manuscript.py"
set_document, unsourced = load(f"{TOOL}:set_document"), load(f"{TOOL}:unsourced")
TEXT, REFERENCE = ROOT / "docs" / "paper" / "paper.typ", ROOT / "docs" / "reference"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("about 40 % of the blocks", ["40"]),
        ("1,234.5 people", ["1,234.5"]),
        ('#num("table4", "ours", digits: 1, columns: "6") %', []),
        ("Figures 3 and 5, Table A.2, Section 4.1, in 2010", []),
        ("$k = 6$ columns // 17 of them", []),
        ('#fig("fig3", width: 80%) and 3 more', ["3"]),
        ('[caption with 12 blocks #count("numbers", agrees: "yes")]', ["12"]),
    ],
)
def test_numbers_written_by_hand_are_seen(text: str, numbers: list[str]) -> None:
    assert [number for _, number in unsourced(text)] == numbers


def test_the_text_has_no_number_of_its_own() -> None:
    assert list(unsourced(TEXT.read_text())) == []


def build(source: Path, root: Path, made: Path) -> bytes:
    pytest.importorskip("typst", reason="typst is not installed here")
    manifest = root / "docs" / "reference" / "manifest.json"
    files = len(list(manifest.parent.glob("*.*")))
    inputs = {"manifest": sha256(manifest.read_bytes()).hexdigest(), "files": str(files)}
    set_document(source, made, root, inputs)
    return made.read_bytes()


@pytest.mark.parametrize("name", ["paper.pdf", "paper.html"])
def test_the_shipped_report_is_what_its_sources_make(tmp_path: Path, name: str) -> None:
    assert list(altered_files(REFERENCE, read_manifest(REFERENCE / "manifest.json"))) == []
    made = build(TEXT, ROOT, tmp_path / name)
    same = made == (ROOT / "docs" / "paper" / name).read_bytes()
    assert same, f"make it again: snakemake {name}, and put it into docs/paper"


def test_the_last_page_says_where_all_of_it_comes_from(tmp_path: Path) -> None:
    manifest = REFERENCE / "manifest.json"
    made = build(TEXT, ROOT, tmp_path / "paper.html").decode()
    last = made[made.rindex("<h2") :]
    jobs, data = (len(read_manifest(manifest)[part]) for part in ("jobs", "data"))
    assert sha256(manifest.read_bytes()).hexdigest() in last
    assert f"{jobs} in all" in last
    assert f"{data} raw files" in last


def link_documents(home: Path) -> None:
    for name in ("paper", "reference"):
        (home / "docs" / name).mkdir(parents=True)
        for path in (ROOT / "docs" / name).glob("*.*"):
            (home / "docs" / name / path.name).symlink_to(path)


@pytest.mark.parametrize("name", ["numbers.csv", "fig3.png"])
def test_a_result_that_no_run_has_made_stops_the_build(name: str, tmp_path: Path) -> None:
    link_documents(tmp_path)
    altered = tmp_path / "docs" / "reference" / name
    text = altered.read_bytes()
    altered.unlink()
    altered.write_bytes(text + b"0")
    documents, out = tmp_path / "docs" / "paper", tmp_path / "paper.pdf"
    inputs = {
        "text": documents / "paper.typ",
        "manifest": altered.with_name("manifest.json"),
        "results": [altered],
        "tool": TOOL,
    }
    with pytest.raises(DataError, match=rf"{name}: .*would state what no run has made. Make it again: snakemake reference"):
        script("write_paper")(job(inputs, {"pdf": out, "html": out.with_suffix(".html")}))
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("There are 7 blocks.", "line 1: the number 7 has no source"),
        ('#import "template.typ": *\n#num("proofs", "value", figure: "no such row")', "has 0 rows with"),
        ('#import "template.typ": *\n#num("numbers", "ours", key: "households_k6")', "has 3 rows with"),
        ('#import "template.typ": *\n#fig("no_such_figure")', "no caption of no_such_figure"),
    ],
)
def test_a_number_or_figure_without_one_source_stops_the_build(text: str, why: str, tmp_path: Path) -> None:
    link_documents(tmp_path)
    source = tmp_path / "docs" / "paper" / "mine.typ"
    source.write_text(text)
    with pytest.raises(DataError, match=why):
        build(source, tmp_path, tmp_path / "out.pdf")
