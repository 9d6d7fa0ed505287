"""Find datasets that fit the release of each block of a batch, by the method that the settings name."""

from pathlib import Path

from genverify.attack.generate import write_generated
from genverify.model.release import read_releases, read_schema
from genverify.model.settings import Generate
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.probabilities import find_datasets


def main(job: Job) -> None:
    settings, how = job.settings("program", ProgramSettings), job.settings("generate", Generate)
    releases = list(read_releases(Path(job.input.counts), read_schema(Path(job.input.schema))))
    outputs = Path(job.output.datasets), Path(job.output.blocks)
    write_generated(releases, lambda release, seed: find_datasets(release, settings, how, seed), job.params.seed, *outputs)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
