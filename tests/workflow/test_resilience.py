"""Every block of two small states, and what may happen meanwhile: kill -9, a full or read-only disk, two runs at once."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import study_runs

CONFIG = ["--configfile", "small.yaml"]
SAMPLE = "results/sample/blocks.parquet"
CLAIMS = ["results/paper/claims.parquet", *CONFIG]


def test_every_block_of_the_states_is_there(plain_study: Path) -> None:
    sizes = pd.read_parquet(plain_study / "results" / "sample" / "sizes.parquet")
    expected = sizes[sizes["state"].isin(["01", "19"]) & (sizes["n"] <= 2)]
    blocks = pd.read_parquet(plain_study / "results" / "paper" / "blocks.parquet")
    assert blocks["block"].tolist() == expected["block"].tolist()
    assert len(blocks) >= 15
    assert set(blocks["design"]) == {"small_blocks"}
    for name in ("figures/fig3.pdf", "figures/solvar.pdf", "results/tables/table7.csv", "results/paper/proofs.csv"):
        assert (plain_study / name).exists()


def test_killed_twice_and_resumed_it_ends_with_the_same_bytes(plain_study: Path, tmp_path: Path) -> None:
    home = study_runs.copy_small(tmp_path / "home")
    for share in (20, 30):
        assert study_runs.kill_at(home, ["state", *CONFIG], share, 0.3, warm=True) < 100
    study_runs.snakemake(home, "state", *CONFIG)
    assert study_runs.differences(plain_study, home) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A copy whose results/ is a disk of its own, at first of 100 kB: too small for the study."""
    home = study_runs.copy_small(tmp_path / "home")
    (home / "results").mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(home / "results")]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("mounting a small disk needs root and the right to mount")
    yield home
    subprocess.run(["umount", str(home / "results")], check=True)


def remount(home: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(home / "results")], check=True)


def same_claims(plain_study: Path, home: Path) -> None:
    for name in ("results/paper/claims.parquet", "results/paper/blocks.parquet", SAMPLE):
        assert (home / name).read_bytes() == (plain_study / name).read_bytes(), name
    assert not list(home.rglob("*.part"))


def test_a_full_disk_is_named_and_the_run_resumes(plain_study: Path, small_disk: Path) -> None:
    text = study_runs.snakemake(small_disk, *CLAIMS, right=False)
    assert "DiskError: [Errno 28]" in text
    assert "the disk is full: free space, then give the same command again" in text
    assert "Traceback" not in text.split("Error in rule")[0]
    assert not (small_disk / "results" / "paper" / "claims.parquet").exists()
    remount(small_disk, "size=50m")
    study_runs.snakemake(small_disk, *CLAIMS, right=True)
    same_claims(plain_study, small_disk)


def test_a_read_only_disk_is_named_and_the_run_resumes(plain_study: Path, small_disk: Path) -> None:
    remount(small_disk, "size=50m")
    study_runs.snakemake(small_disk, SAMPLE, *CONFIG, right=True)
    before = {path: path.read_bytes() for path in (small_disk / "results").rglob("*") if path.is_file()}
    remount(small_disk, "ro")
    text = study_runs.snakemake(small_disk, *CLAIMS, right=False)
    assert "Read-only file system" in text
    assert {path: path.read_bytes() for path in (small_disk / "results").rglob("*") if path.is_file()} == before
    remount(small_disk, "rw")
    study_runs.snakemake(small_disk, *CLAIMS, right=True)
    same_claims(plain_study, small_disk)


def test_a_second_run_in_the_same_folder_is_refused(plain_study: Path, tmp_path: Path) -> None:
    home, words = study_runs.copy_small(tmp_path / "home"), [SAMPLE, *CONFIG]
    run = study_runs.start(home, words, warm=True)
    while not list(home.glob(".snakemake/locks/*")):
        assert run.poll() is None, (home / "output.txt").read_text()
        time.sleep(0.02)
    # held for a moment, so that it does not end before the second has started, however busy the machine is
    run.send_signal(signal.SIGSTOP)
    try:
        text = study_runs.snakemake(home, *words, right=False)
    finally:
        run.send_signal(signal.SIGCONT)
    assert "Directory cannot be locked" in text
    assert "no other Snakemake process is trying to create the same files" in text
    assert run.wait() == 0
    assert (home / SAMPLE).read_bytes() == (plain_study / SAMPLE).read_bytes()
