"""Every block of two small states, and what may happen meanwhile: kill -9, a full or read-only disk, two runs at once."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import study_runs

CONFIG = ["--configfile", "small.yaml"]
CLAIMS = ["results/paper/claims.parquet", *CONFIG]


def copy_small(home: Path) -> Path:
    study_runs.copy_repository(home)
    study_runs.shrink_country(home)
    return home


def output_of(home: Path, *words: str, right: bool) -> str:
    """What Snakemake prints; the exit code is checked."""
    environment = {**os.environ, "PYTHONPATH": str(home / "src")}
    command = [sys.executable, "-m", "snakemake", *words]
    done = subprocess.run(command, cwd=home, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert (done.returncode == 0) == right, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which every block of two states was attacked, undisturbed."""
    home = copy_small(tmp_path_factory.mktemp("plain") / "home")
    study_runs.finish(home, ["state", *CONFIG])
    return home


def test_every_block_of_the_states_is_there(plain: Path) -> None:
    sizes = pd.read_parquet(plain / "results" / "sample" / "sizes.parquet")
    expected = sizes[sizes["state"].isin(["01", "19"]) & (sizes["n"] <= 2)]
    blocks = pd.read_parquet(plain / "results" / "paper" / "blocks.parquet")
    assert blocks["block"].tolist() == expected["block"].tolist()
    assert len(blocks) >= 15
    assert set(blocks["design"]) == {"small_blocks"}
    for name in ("figures/fig3.pdf", "figures/solvar.pdf", "results/tables/table7.csv", "results/paper/proofs.csv"):
        assert (plain / name).exists()


def test_killed_twice_and_resumed_it_ends_with_the_same_bytes(plain: Path, tmp_path: Path) -> None:
    home = copy_small(tmp_path / "home")
    for share in (20, 30):
        assert study_runs.kill_at(home, ["state", *CONFIG], share, 0.3) < 100
    study_runs.finish(home, ["state", *CONFIG])
    assert study_runs.differences(plain, home) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A copy whose results/ is a disk of its own, at first of 100 kB: too small for the study."""
    home = copy_small(tmp_path / "home")
    (home / "results").mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(home / "results")]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("mounting a small disk needs root and the right to mount")
    yield home
    subprocess.run(["umount", str(home / "results")], check=True)


def remount(home: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(home / "results")], check=True)


def same_claims(plain: Path, home: Path) -> None:
    for name in ("results/paper/claims.parquet", "results/paper/blocks.parquet", "results/sample/blocks.parquet"):
        assert (home / name).read_bytes() == (plain / name).read_bytes(), name
    assert not list(home.rglob("*.part"))


def test_a_full_disk_is_named_and_the_run_resumes(plain: Path, small_disk: Path) -> None:
    text = output_of(small_disk, *CLAIMS, right=False)
    assert "DiskError: [Errno 28]" in text
    assert "the disk is full: make room, then give the same command again" in text
    assert "Traceback" not in text.split("Error in rule")[0]
    assert not (small_disk / "results" / "paper" / "claims.parquet").exists()
    remount(small_disk, "size=50m")
    output_of(small_disk, *CLAIMS, right=True)
    same_claims(plain, small_disk)


def test_a_read_only_disk_is_named_and_the_run_resumes(plain: Path, small_disk: Path) -> None:
    remount(small_disk, "size=50m")
    output_of(small_disk, "results/sample/blocks.parquet", *CONFIG, right=True)
    before = {path: path.read_bytes() for path in (small_disk / "results").rglob("*") if path.is_file()}
    remount(small_disk, "ro")
    text = output_of(small_disk, *CLAIMS, right=False)
    assert "Read-only file system" in text
    assert {path: path.read_bytes() for path in (small_disk / "results").rglob("*") if path.is_file()} == before
    remount(small_disk, "rw")
    output_of(small_disk, *CLAIMS, right=True)
    same_claims(plain, small_disk)


def test_a_second_run_in_the_same_folder_is_refused(plain: Path, tmp_path: Path) -> None:
    home = copy_small(tmp_path / "home")
    run = study_runs.start(home, CLAIMS)
    while not list(home.glob(".snakemake/locks/*")):
        assert run.poll() is None, (home / "output.txt").read_text()
        time.sleep(0.02)
    text = output_of(home, *CLAIMS, right=False)
    assert "Directory cannot be locked" in text
    assert "no other Snakemake process is trying to create the same files" in text
    assert run.wait() == 0
    same_claims(plain, home)
