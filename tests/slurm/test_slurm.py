"""The study through a real Slurm: the same bytes as on this machine alone, also when a job is killed for its memory."""

import importlib.util
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
TARGETS = ["results/paper/claims.parquet", "results/paper/blocks.parquet"]
SLURM = [
    "--workflow-profile", "profiles/slurm", "--slurm-no-account", "--slurm-status-command", "squeue",
    "--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "10",
]  # fmt: skip
# the first attempt gets less than Python with its packages needs, the next enough
TOO_LITTLE = "generate_datasets:mem_mb=40 + 1460 * (attempt - 1)"


def load(part: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, TESTS / part / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cluster, resilience = load("slurm", "cluster"), load("scale", "resilience")
pytestmark = pytest.mark.skipif(cluster.missing() is not None, reason=f"no Slurm: {cluster.missing()}")


def make(home: Path, *words: str) -> str:
    resilience.finish(home, [*TARGETS, "--configfile", "small.yaml", *words])
    said: str = (home / "said.txt").read_text()
    return said


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path, str]]:
    """A copy in which the study ran locally, one in which it ran through Slurm, and what Snakemake said there."""
    alone, through = (resilience.copy_repository(tmp_path_factory.mktemp("slurm") / name) for name in ("alone", "through"))
    for home in (alone, through):
        resilience.shrink_country(home)
    make(alone)
    cluster.start()
    try:
        yield alone, through, make(through, *SLURM, "--set-resources", TOO_LITTLE)
    finally:
        cluster.stop()


def test_the_results_are_those_of_a_local_run(homes: tuple[Path, Path, str]) -> None:
    alone, through, _ = homes
    assert (through / TARGETS[0]).exists()
    assert resilience.differences(alone, through) == []


def test_every_job_went_through_slurm(homes: tuple[Path, Path, str]) -> None:
    said = homes[2]
    sent = re.findall(r"submitted with SLURM jobid (\d+)", said)
    assert len(set(sent)) >= 10
    listed = subprocess.run(["squeue", "-h", "-t", "all", "-o", "%A %T"], capture_output=True, text=True).stdout
    states = dict(line.split() for line in listed.splitlines())
    assert set(sent) <= set(states)


def test_a_job_killed_for_its_memory_is_sent_again_with_more(homes: tuple[Path, Path, str]) -> None:
    alone, through, said = homes
    killed = re.findall(r"exceeded memory limit|Exceeded job memory limit", said)
    assert killed or "Trying to restart" in said
    asked = re.findall(r"mem_mb=(\d+)", said)
    assert "40" in asked
    assert "1500" in asked
    assert len(list(through.glob("results/paper/generated/*.record.json"))) == 3
    node = (cluster.HOME / "slurmd.log").read_text()
    assert "exceeded memory limit" in node.lower() + said.lower()
