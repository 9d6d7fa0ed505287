"""The reference set on a small chain of recorded jobs: made twice the same, whole, and told when it is out of date."""

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image

from chain import run_study
from genverify.cli import main
from genverify.model.errors import DataError
from genverify.run.code import forget_code
from reference_set import caption, csv_page, find_captions, read_listing, read_pages

TARGET, SET = "figures/fig3.pdf", Path("docs/reference")
LISTINGS: dict[str, dict[str, Any]] = {
    "one": {"order": 1, "title": "Paper one", "results": {TARGET: "fig3", "figures/never.pdf": "fig3"}},
    "two": {"order": 2, "title": "Paper two", "results": {"figures/ablation.pdf": "fig3"}},
    ".": {"absent": {"figures/scaling.pdf": "seconds on one machine"}},
}


def write_listings(home: Path, more: dict[str, dict[str, Any]]) -> None:
    """A file in the folder of each study, and one above them."""
    for name, part in {**LISTINGS, **more}.items():
        (home / name).mkdir(parents=True, exist_ok=True)
        (home / name / "reference.yaml").write_text(yaml.safe_dump(part, sort_keys=False))


@pytest.fixture
def reference(chain_study: Path) -> Path:
    """The small repository with real pictures, a listing and a caption; its set is made."""
    for name in ("fig3", "ablation"):
        draw(name, "red")
    Path("docs").mkdir()
    write_listings(Path("workflow"), {})
    Path("workflow/captions").mkdir()
    text = "**Figure 3.** Claims of ``k`` columns\nwith seed {{ snakemake.config['seed'] }}.\n\nMore.\n"
    Path("workflow/captions/fig3.rst").write_text(text)
    assert main(["reference", "--write"]) == 0
    return chain_study


def draw(name: str, colour: str) -> None:
    """A picture in the place of a figure, in its record too."""
    Image.new("RGB", (2000, 500), colour).save(f"figures/{name}.png")
    path = Path(f"figures/{name}.record.json")
    record = json.loads(path.read_text())
    record["outputs"]["png"] = {f"figures/{name}.png": digest(f"figures/{name}.png")}
    path.write_text(json.dumps(record))


def rerun() -> None:
    shutil.rmtree("results")
    shutil.rmtree("figures")
    run_study()


def digest(path: str | Path) -> str:
    return sha256(Path(path).read_bytes()).hexdigest()


def manifest() -> dict[str, Any]:
    text: dict[str, Any] = json.loads((SET / "manifest.json").read_text())
    return text


def checked(capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["reference", "--check"])
    said = capsys.readouterr()
    return code, said.out + said.err


def test_the_set_shows_what_is_there_and_says_what_is_not(reference: Path) -> None:
    assert {path.name for path in SET.iterdir()} == {"README.md", "manifest.json", "fig3.png", "ablation.png"}
    page = (SET / "README.md").read_text()
    assert page.index("## Paper one") < page.index("![fig3, synthetic data, seed 1](fig3.png)") < page.index("## Paper two")
    assert "**Figure 3.** Claims of `k` columns with seed 1. *Synthetic data, seed 1.* `snakemake figures/fig3.pdf`" in page
    assert "`figures/never.pdf`: not run." in page
    assert manifest()["absent"] == {"figures/never.pdf": "not run", "figures/scaling.pdf": "seconds on one machine"}


def test_the_manifest_tells_what_a_file_was_made_from(reference: Path) -> None:
    entry = manifest()["results"][TARGET]
    assert entry["files"] == {"fig3.png": digest(SET / "fig3.png")}
    assert entry["sources"] == {path: digest(path) for path in ("figures/fig3.pdf", "figures/fig3.png")}
    assert entry["inputs"] == {"results/paper/claims.parquet": digest("results/paper/claims.parquet")}
    assert (entry["rule"], entry["seed"], entry["data"]) == ("plot_fig3", 1, ["data/raw.yaml"])
    assert "verify variant=paper" in entry["jobs"]
    assert manifest()["jobs"]["verify variant=paper"]["settings"]["verify"]["min_k"] == 1
    assert manifest()["data"] == {"data/raw.yaml": digest("data/raw.yaml")}


def test_another_run_of_the_study_gives_the_same_bytes(reference: Path) -> None:
    first = {path.name: path.read_bytes() for path in SET.iterdir()}
    record = json.loads(Path("figures/fig3.record.json").read_text())
    rerun()
    slow = Path("figures/fig3.record.json")
    slow.write_text(
        json.dumps(json.loads(slow.read_text()) | {"started": "2031-01-01T00:00:00Z", "seconds": 1 + record["seconds"]})
    )
    for name in ("fig3", "ablation"):
        draw(name, "red")
    assert main(["reference", "--write"]) == 0
    assert {path.name: path.read_bytes() for path in SET.iterdir()} == first
    assert str(reference) not in (SET / "manifest.json").read_text()


def test_papers_can_be_named(reference: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = manifest()
    assert main(["reference", "--write", "two"]) == 0
    assert manifest()["results"] == before["results"]
    assert main(["reference"]) == 0
    (reference / "docs" / "reference" / f"{Path(TARGET).stem}.png").write_bytes(b"")
    assert main(["reference", "--write", "two"]) == 2
    assert "so it cannot stay. Make its paper again, too" in capsys.readouterr().err
    shutil.rmtree(reference / "docs" / "reference")
    assert main(["reference", "--write", "two"]) == 0
    assert list(manifest()["results"]) == ["figures/ablation.pdf"]
    assert manifest()["absent"][TARGET] == "not asked for"
    assert main(["reference", "--write", "three"]) == 2
    assert "no paper is called 'three': there are one, two" in capsys.readouterr().err


def test_a_set_that_was_just_made_is_current(reference: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = checked(capsys)
    assert (code, said.splitlines()) == (
        0, ["docs/reference: figures 2, tables 0, absent 2", "whole, and of the settings and data of today"])  # fmt: skip


@pytest.mark.parametrize("results", ["here", "not here"])
def test_a_changed_setting_is_out_of_date(reference: Path, capsys: pytest.CaptureFixture[str], results: str) -> None:
    if results == "not here":
        shutil.rmtree("results")
        shutil.rmtree("figures")
    text = yaml.safe_load(Path("config.yaml").read_text())
    text["variants"]["no_ones"]["release"]["withhold"] = [1, 2]
    Path("config.yaml").write_text(yaml.safe_dump(text))
    code, said = checked(capsys)
    assert code == 2
    assert "out of date: figures/ablation.pdf: release.withhold was [1], is [1, 2]\n" in said
    assert f"out of date: {TARGET}" not in said
    assert "Make the set again: snakemake reference" in said


def test_changed_data_are_out_of_date(reference: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("data/raw.yaml").write_text("a: 2\n")
    code, said = checked(capsys)
    assert code == 2
    assert f"out of date: {TARGET}: data/raw.yaml has changed\n" in said


def test_changed_code_is_told_and_is_no_error(reference: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("scripts/plot_fig3.py").write_text("from kit.shapes import size\n\nmain = -size\n")
    forget_code()
    code, said = checked(capsys)
    assert code == 0
    assert f"code has changed since, and only a run can say whether it matters: {TARGET}: plot_fig3\n" in said
    assert "ablation" not in said


def test_the_same_result_of_other_code_is_current(reference: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("scripts/plot_fig3.py").write_text("from kit.shapes import size\n\nmain = -size\n")
    forget_code()
    rerun()
    for name in ("fig3", "ablation"):
        draw(name, "red")
    assert "code has changed" not in checked(capsys)[1]


def test_another_result_of_the_same_settings_is_told(reference: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw("fig3", "blue")
    code, said = checked(capsys)
    assert code == 2
    assert f"out of date: {TARGET}: figures/fig3.png here is another, made with the same settings and data\n" in said


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("fig3.png", "another", "not as docs/reference/manifest.json says"),
        ("fig3.png", None, "missing, though docs/reference/manifest.json names it"),
        ("more.txt", "more", "not named in docs/reference/manifest.json"),
        ("README.md", "another", "not as docs/reference/manifest.json says"),
    ],
)
def test_altered_files_are_named(
    reference: Path, capsys: pytest.CaptureFixture[str], name: str, text: str | None, told: str
) -> None:
    (SET / name).unlink() if text is None else (SET / name).write_text(text)
    code, said = checked(capsys)
    assert code == 2
    assert f"docs/reference/{name}: {told}" in said


def test_a_new_target_must_be_in_the_set_or_absent(reference: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_listings(Path("workflow"), {".": {"absent": {"figures/other.pdf": "a reason"}}})
    code, said = checked(capsys)
    assert code == 2
    assert "figures/other.pdf: neither in the set nor listed as absent" in said
    assert "figures/scaling.pdf: shown or absent, though the listing does not name it" in said


def test_results_that_are_not_as_recorded_leave_the_set_as_it_was(reference: Path) -> None:
    before = (SET / "manifest.json").read_bytes()
    Path(TARGET).write_text("drawn by hand")
    assert main(["reference", "--write"]) == 2
    assert (SET / "manifest.json").read_bytes() == before
    assert [path.name for path in Path("docs").iterdir() if path.is_dir()] == ["reference"]


def test_only_listed_sources_go_into_a_set(reference: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("data/sources.csv").write_text("file,version,sha256\n")
    assert main(["reference", "--write"]) == 2
    assert "data/raw.yaml: not in data/sources.csv" in capsys.readouterr().err


def test_real_microdata_do_not_go_into_a_set(reference: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = yaml.safe_load(Path("config.yaml").read_text())
    text["microdata"]["source"], text["microdata"]["ppmf"]["units"] = "ppmf", "units.csv"
    Path("config.yaml").write_text(yaml.safe_dump(text))
    assert main(["reference", "--write"]) == 2
    assert "microdata.source is ppmf" in capsys.readouterr().err


def test_a_listing_names_each_result_once(tmp_path: Path) -> None:
    write_listings(tmp_path, {"last": {"order": 0, "title": "First", "results": {"figures/first.pdf": "fig3"}}})
    assert list(read_listing(tmp_path).papers) == ["last", "one", "two"]
    write_listings(tmp_path, {".": {"absent": {TARGET: "a reason"}}})
    with pytest.raises(DataError, match=r"fig3\.pdf is duplicated"):
        read_listing(tmp_path)
    write_listings(tmp_path, {"three": {"title": "One", "results": {"a.txt": "a"}}})
    with pytest.raises(DataError, match=r"a\.txt: neither a figure"):
        read_listing(tmp_path)
    write_listings(tmp_path, {"three": {"results": {"figures/a.pdf": "a"}}})
    with pytest.raises(DataError, match=r"three/reference\.yaml: setting title is missing"):
        read_listing(tmp_path)


def test_a_table_without_readable_form_becomes_a_page(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("name,value,data\nx|y,1000,synthetic microdata\n")
    page = csv_page(path, "unused").splitlines()
    assert page == [
        "# a",
        "",
        "Data: **synthetic microdata**.",
        "",
        "| name | value |",
        "| :-- | --: |",
        "| x\\|y | 1,000 |",
    ]
    path.write_text("name,value\nx,0.5\n")
    assert "Data: **no microdata**." in csv_page(path, "no microdata")


def test_a_caption_that_cannot_be_filled_in_is_named(tmp_path: Path) -> None:
    (tmp_path / "one" / "captions").mkdir(parents=True)
    (tmp_path / "one" / "captions" / "a.rst").write_text("{{ snakemake.config['colour'] }}")
    with pytest.raises(DataError, match=r"caption a in .*: cannot be filled in"):
        caption(tmp_path, "a", {}, {"seed": 1})


def test_the_caption_of_a_table_is_in_the_file_of_the_report(tmp_path: Path) -> None:
    (tmp_path / "report.yaml").write_text("all: {b: {caption: 'Blocks, seed {{ snakemake.config.seed }}.'}}")
    assert caption(tmp_path, "b", {}, {"seed": 1}) == "Blocks, seed 1."
    (tmp_path / "report.yaml").write_text("all: {b: {file: tables/b.csv, caption: The table.}}")
    (tmp_path / "captions").mkdir()
    (tmp_path / "captions" / "b.rst").write_text("The figure.")
    said = [caption(tmp_path, "b", {}, {"seed": 1}, target) for target in ("figures/b.pdf", "tables/b.csv")]
    assert said == ["The figure.", "The table."]
    with pytest.raises(DataError, match=r"no caption c: neither captions/c\.rst nor a table of report\.yaml"):
        caption(tmp_path, "c", {}, {"seed": 1})


def test_no_two_studies_have_a_caption_or_a_page_of_one_name(tmp_path: Path) -> None:
    for study in ("one", "two"):
        (tmp_path / study / "captions").mkdir(parents=True)
        (tmp_path / study / "captions" / "a.rst").write_text("A.")
        (tmp_path / study / "report.yaml").write_text("all: {b: {caption: B}}")
    with pytest.raises(DataError, match=r"two/captions/a\.rst: .*one/captions/a\.rst is a caption of the same name"):
        find_captions(tmp_path)
    with pytest.raises(DataError, match=r"two/report\.yaml: the page b is also in another report\.yaml"):
        read_pages(tmp_path)
