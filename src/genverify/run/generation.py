"""The work of the jobs that find datasets: read the releases of a batch, find the datasets of each block, write them."""

from collections.abc import Callable
from pathlib import Path

from genverify.attack.generated import Generated, write_generated
from genverify.attack.settings import Generate
from genverify.core.release import Release, read_releases, read_schema
from genverify.run.jobs import Job
from genverify.solve.settings import ProgramSettings

Find = Callable[[Release, ProgramSettings, int, int], Generated]
"""Finds a number of datasets that fit a release, with a seed."""


def generate_batch(job: Job, find: Find) -> None:
    """The datasets of every block of a batch, by walks or by exact draws."""
    settings, K = job.settings("program", ProgramSettings), job.settings("generate", Generate).datasets
    releases = list(read_releases(Path(job.input.counts), read_schema(Path(job.input.schema))))
    outputs = Path(job.output.datasets), Path(job.output.blocks)
    write_generated(releases, lambda release, seed: find(release, settings, K, seed), job.params.seed, *outputs)
