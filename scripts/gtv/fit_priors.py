"""Count the households of the tracts, states and nation around the sampled blocks: tables of weights for the priors."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, run
from studies.gtv.probabilities import OutsideHouseholds


def main(job: Job) -> None:
    file, universe = read_domain(Path(job.input.domain)), job.settings("release", ReleaseSettings).universe
    published = file.domain.restrict(file.universe(universe).codes)
    sampled = set(pd.read_parquet(job.input.blocks)["block"])
    outside = OutsideHouseholds(Path(job.input.microdata), file, universe, published, sampled)
    outside.count_areas().to_parquet(job.output.areas, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
