"""Publish what the census counts, and HUD's percentages, about the blocks that hold a property, under a condition."""

from pathlib import Path

from genverify.housing.protection import protect
from genverify.housing.store import read_states
from genverify.jobs import Job, log, run
from genverify.textfiles import read_yaml


def main(job: Job) -> None:
    published = read_yaml(Path(job.input.published))
    states = read_states(Path(job.input.households))
    statistics = protect(states, job.params.condition, published, job.params.seed)
    statistics.to_parquet(job.output.statistics, index=False)
    log.info("condition %s: %d blocks", job.wildcards.condition, len(statistics))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
