"""The work of the jobs that find datasets: read the releases of a batch, find the datasets of each block, write them."""

from pathlib import Path

from genverify.attack.exact import draw_block
from genverify.attack.generate import generate_block
from genverify.attack.generated import write_generated
from genverify.attack.settings import Generate
from genverify.core.release import read_releases, read_schema
from genverify.run.jobs import Job
from genverify.solve.settings import ProgramSettings

METHODS = {"walk": generate_block, "exact": draw_block}


def generate_batch(job: Job) -> None:
    """The datasets of every block of a batch, by the method of the settings; the one-hot program has a way of its own."""
    settings, how = job.settings("program", ProgramSettings), job.settings("generate", Generate)
    find = METHODS[how.method] if settings.proves else generate_block
    releases = list(read_releases(Path(job.input.counts), read_schema(Path(job.input.schema))))
    outputs = Path(job.output.datasets), Path(job.output.blocks)
    write_generated(releases, lambda release, seed: find(release, settings, how.datasets, seed), job.params.seed, *outputs)
