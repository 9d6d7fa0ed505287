"""Publish what the census counts, and HUD's percentages, about the blocks that hold a property, under a condition."""

import json
from pathlib import Path

from genverify.model.files import read_yaml
from genverify.run.jobs import Job, log, run
from studies.housing.settings import Condition
from studies.housing.sources import publish_files, publish_simulated


def main(job: Job) -> None:
    published = read_yaml(Path(job.input.published))
    budget = Path(job.input.budget) if job.input.budget else None
    condition, smallest = job.part("condition", Condition), job.params.smallest_property
    statistics, manifest = (
        publish_files(job.input.files, published)
        if job.input.files
        else publish_simulated(job.input.households, condition, smallest, published, budget, job.params.seed)
    )
    statistics.to_parquet(job.output.statistics, index=False)
    Path(job.output.manifest).write_text(json.dumps(manifest, indent=1) + "\n")
    log.info("condition %s: %s", job.wildcards.condition, manifest)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
