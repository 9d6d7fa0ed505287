"""The commands export and check-vipr, and the jobs that write vipr.zip: whole or not at all, with clear errors."""

import csv
import io
import json
import shutil
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pandas as pd
import pytest

from genverify.checker.certificate import read_proofs
from genverify.cli import main
from genverify.model.release import Schema
from genverify.solve.program_settings import ProgramSettings
from vipr_checker import check_archive

FIRST = "010010201001000"


@pytest.fixture(scope="module")
def study(
    tmp_path_factory: pytest.TempPathFactory,
    small_explorer: ModuleType,
    toy_schema: Schema,
    program_settings: ProgramSettings,
) -> Path:
    """Release and proofs of a few blocks in the layout of results/{variant}; one block has a hostile name."""
    home = tmp_path_factory.mktemp("export")
    made = small_explorer.write_study(home / "made", small_explorer.hostile_schema(toy_schema), program_settings)
    (home / "release").mkdir()
    (home / "proofs").mkdir()
    for name in ("schema.json", "000.parquet"):
        shutil.copy(made / name, home / "release" / name)
    shutil.copy(made / "000.jsonl.gz", home / "proofs" / "000.jsonl.gz")
    shutil.copy(made / "microdata.json", home / "microdata.json")
    return home


def run(*words: str | Path) -> int:
    return main([str(word) for word in words])


def some_claim(study: Path) -> str:
    (text,) = (found for found in read_proofs(study / "proofs" / "000.jsonl.gz") if found["about"]["name"] == FIRST)
    claim = text["statements"][0]
    return ",".join([*(f"{name}={code}" for name, code in claim["where"].items()), f"m={claim['m']}"])


def index(archive: Path) -> list[dict[str, str]]:
    with ZipFile(archive) as found:
        return list(csv.DictReader(io.StringIO(found.read("index.csv").decode())))


def test_a_study_is_exported_whole_with_an_index_and_accepted_by_the_vipr_checker(study: Path, tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        assert run("export", study / "proofs", "--to", tmp_path / name) == 0
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    claims = sum(len(found["statements"]) for found in read_proofs(study / "proofs" / "000.jsonl.gz"))
    lines = index(tmp_path / "one.zip")
    assert len(lines) == claims
    with ZipFile(tmp_path / "one.zip") as archive:
        names = set(archive.namelist())
    assert {file for line in lines for file in line["files"].split()} == {name for name in names if name.endswith(".vipr")}
    assert all(line["shown"] == "exactly" and len(line["files"].split()) == 2 for line in lines)
    assert all(line["cells"] for line in lines if line["m"] != "0")
    assert check_archive(tmp_path / "one.zip") == sum(name.endswith(".vipr") for name in names) > 0


@pytest.mark.parametrize("format", ["vipr", "opb", "smt2", "coq"])
def test_one_claim_in_every_format(study: Path, tmp_path: Path, format: str) -> None:
    out = tmp_path / "claim"
    words = ("--block", FIRST, "--claim", some_claim(study), "--format", format, "--to", out)
    assert run("export", study / "proofs" / "000.jsonl.gz", *words) == 0
    endings = {"vipr": ["vipr"], "opb": ["opb", "pbp"], "smt2": ["smt2"], "coq": ["v"]}[format]
    expected = {f"claim_at_{side}.{ending}" for side in ("least", "most") for ending in endings}
    assert {path.name for path in (out / FIRST).iterdir()} == expected
    assert {path.name for path in out.iterdir()} == {FIRST, "index.csv", "README.txt"}


def test_the_range_of_a_count_is_found_proved_and_exported(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "range.zip"
    assert run("export", study / "proofs", "--block", FIRST, "--range", "AGE=2", "--to", out) == 0
    shown = {line["shown"]: int(line["m"]) for line in index(out)}
    assert shown.keys() <= {"at least", "at most"}
    assert shown["at most"] >= shown.get("at least", 0)
    assert run("check-vipr", out) == 0


def refused(capsys: pytest.CaptureFixture[str], out: Path, *words: str | Path) -> str:
    """The message of a command that fails and leaves nothing behind."""
    before = sorted(out.parent.iterdir())
    assert run(*words, "--to", out) == 2
    assert sorted(out.parent.iterdir()) == before
    return capsys.readouterr().err


def test_a_claim_without_proof(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("export", study / "proofs", "--block", FIRST, "--claim", "PET=1,m=3")
    assert "the claim PET=1, m = 3 is not among its" in refused(capsys, tmp_path / "x", *words)
    words = ("export", study / "proofs", "--claim", "PET=1")
    assert "--claim and --range need --block" in refused(capsys, tmp_path / "x", *words)
    words = ("export", study / "proofs", "--block", "999", "--claim", "PET=1")
    assert "no proofs of block 999" in refused(capsys, tmp_path / "x.zip", *words)


def test_proofs_that_do_not_fit_their_release(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = tmp_path / "release"
    shutil.copytree(study / "release", release)
    frame = pd.read_parquet(release / "000.parquet")
    last = frame.index[(frame["block"] == frame["block"].iloc[-1]) & (frame["count"] > 0)][-1]
    frame.loc[last, "count"] += 1
    frame.to_parquet(release / "000.parquet", index=False)
    for out in ("x.zip", "x"):  # the blocks before it are written by then, and go
        message = refused(capsys, tmp_path / out, "export", study / "proofs", release)
        assert "the proofs are of other counts than these" in message


def test_unknown_formats_and_places_that_are_taken(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("export", study / "proofs", "--format", "viper")
    assert "invalid choice: 'viper'" in capsys.readouterr().err
    (tmp_path / "full").mkdir()
    assert "the folder exists" in refused(capsys, tmp_path / "full", "export", study / "proofs")
    assert "no files of proofs" in refused(capsys, tmp_path / "x", "export", study / "release", study / "release")
    assert run("check-vipr", tmp_path) == 2
    assert "holds no certificate" in capsys.readouterr().err


def test_jobs_write_archives_of_batches_and_one_of_all(study: Path, tmp_path: Path, small_explorer: ModuleType) -> None:
    release = {"schema": study / "release" / "schema.json", "counts": study / "release" / "000.parquet"}
    inputs = {**release, "proofs": study / "proofs" / "000.jsonl.gz", "manifest": study / "microdata.json"}
    small_explorer.run("export_proofs", inputs, {"archive": tmp_path / "000.zip"})
    inputs = {"archives": [tmp_path / "000.zip"], "manifest": study / "microdata.json"}
    small_explorer.run("collect_exports", inputs, {"archive": tmp_path / "vipr.zip"})
    assert index(tmp_path / "vipr.zip") == index(tmp_path / "000.zip")
    assert check_archive(tmp_path / "vipr.zip") == check_archive(tmp_path / "000.zip") > 0
    with ZipFile(tmp_path / "vipr.zip") as archive:
        assert "Counts of: synthetic microdata." in archive.read("README.txt").decode()
        assert len(archive.namelist()) == len(set(archive.namelist()))


def test_the_page_holds_the_files_of_each_block_packed(explorer: Path) -> None:
    blocks = "".join(path.read_text() for path in sorted((explorer / "pieces").glob("blocks-*.js")))
    assert '"vipr":0' in blocks
    piece = (explorer / "pieces" / "vipr-0.js").read_text()
    found = json.loads(piece[piece.index(",") + 1 : piece.rindex(")")])
    assert len(found["names"]) == len(found["ends"]) > 0
    assert all(name.endswith(".vipr") for name in found["names"])
