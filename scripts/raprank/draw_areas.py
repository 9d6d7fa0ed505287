"""Draw the areas that an experiment reconstructs."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.run.jobs import Job, log, run
from studies.country.store import block_sizes
from studies.raprank.areas import draw_areas
from studies.raprank.settings import ResolvedExperiment


def main(job: Job) -> None:
    experiment = job.part("experiment", ResolvedExperiment)
    universe = read_domain(Path(job.input.domain)).universe(experiment.keeps)
    sizes = block_sizes(Path(job.input.microdata), universe.keeps)
    sample = {block for path in job.input.sample for block in pd.read_parquet(path)["block"]}
    areas = draw_areas(sizes, sample, experiment, job.params.seed)
    areas.to_parquet(job.output.areas, index=False)
    log.info("%d areas, %d blocks, %d records", areas["area"].nunique(), len(areas), areas["n"].sum())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
