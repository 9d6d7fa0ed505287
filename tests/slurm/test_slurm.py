"""The study through a real Slurm: the same bytes as on this machine alone, also when a job is killed for its memory."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import slurm_cluster
import study_runs

TARGETS = ["results/paper/claims.parquet", "results/paper/blocks.parquet"]
SLURM = [
    "--workflow-profile", "profiles/slurm", "--slurm-no-account", "--slurm-status-command", "squeue",
    "--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "10",
]  # fmt: skip
# the first attempt gets less than Python with its packages needs, the next enough
TOO_LITTLE = "40 + 1460 * (attempt - 1)"


pytestmark = pytest.mark.skipif(slurm_cluster.missing() is not None, reason=f"no Slurm: {slurm_cluster.missing()}")


@pytest.fixture(scope="module")
def through_slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A copy in which the study ran through Slurm, and what Snakemake printed there."""
    home = study_runs.copy_small(tmp_path_factory.mktemp("slurm") / "home")
    profile = home / "profiles" / "slurm" / "config.yaml"
    settings = yaml.safe_load(profile.read_text())
    settings["set-resources"]["generate_datasets"]["mem_mb"] = TOO_LITTLE
    profile.write_text(yaml.safe_dump(settings))
    slurm_cluster.start()
    try:
        study_runs.finish(home, [*TARGETS, "--configfile", "small.yaml", *SLURM])
        yield home, (home / "output.txt").read_text()
    finally:
        slurm_cluster.stop()


def test_the_results_are_those_of_a_local_run(plain_study: Path, through_slurm: tuple[Path, str]) -> None:
    """All that leads to the targets; the local run made figures and tables too."""
    home, _ = through_slurm
    assert (home / TARGETS[0]).exists()
    made = study_runs.files(home)
    parts = ("microdata", "sample", "paper/release", "paper/generated", "paper/claims", "paper/proofs/", "paper/blocks")
    local = {name for name in study_runs.files(plain_study) if name.startswith(tuple(f"results/{part}" for part in parts))}
    assert made == local
    assert {name for name in made if (home / name).read_bytes() != (plain_study / name).read_bytes()} == set()


def test_every_job_went_through_slurm(through_slurm: tuple[Path, str]) -> None:
    output = through_slurm[1]
    sent = re.findall(r"submitted with SLURM jobid (\d+)", output)
    assert len(set(sent)) == 1 + 1 + 1 + 2 + 2 * 2 + 2 + 1  # of two batches; generate_datasets twice
    listed = subprocess.run(["squeue", "-h", "-t", "all", "-o", "%A %T"], capture_output=True, text=True).stdout
    states = dict(line.split() for line in listed.splitlines())
    assert set(sent) <= set(states)


def test_a_job_killed_for_its_memory_is_sent_again_with_more(through_slurm: tuple[Path, str]) -> None:
    output = through_slurm[1]
    rows = re.findall(r"^rule (\w+):$.*?mem_mb=(\d+)", output, re.MULTILINE | re.DOTALL)
    asked = [int(memory) for rule, memory in rows if rule == "generate_datasets"]
    assert asked == [40, 40, 1500, 1500]
    assert output.count("Trying to restart job") == 2
    logs = (through_slurm[0] / ".snakemake" / "slurm_logs" / "rule_generate_datasets").rglob("*.log")
    assert sum("exceeded memory limit" in path.read_text() for path in logs) == 2
