"""Generate datasets that fit the release of each block of a batch, by walks."""

from pathlib import Path

from genverify.attack.generate import generate_block
from genverify.attack.generated import write_generated
from genverify.attack.settings import Generate
from genverify.core.release import read_releases, read_schema
from genverify.run.jobs import Job, run
from genverify.solve.settings import ProgramSettings


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    settings, K = job.settings("program", ProgramSettings), job.settings("generate", Generate).datasets
    releases = list(read_releases(Path(job.input.counts), schema))
    write_generated(
        releases,
        lambda release, seed: generate_block(release, settings, K, seed),
        job.params.seed,
        Path(job.output.datasets),
        Path(job.output.blocks),
    )


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
