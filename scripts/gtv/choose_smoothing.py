"""Choose how many households of the wider area a prior needs, on the blocks outside the sample."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, log, run
from studies.gtv.probabilities import OutsideHouseholds, chosen_smoothing, score_smoothing
from studies.gtv.settings import Probability


def main(job: Job) -> None:
    file, universe = read_domain(Path(job.input.domain)), job.settings("release", ReleaseSettings).universe
    published = file.domain.restrict(file.universe(universe).codes)
    sampled = set(pd.read_parquet(job.input.blocks)["block"])
    outside = OutsideHouseholds(Path(job.input.microdata), file, universe, published, sampled)
    part = job.settings("probability", Probability)
    scored = score_smoothing(
        lambda: (households for _, households in outside.states()),
        {column.name: len(column.codes) for column in published.columns},
        part.smoothing,
        given=part.known_columns(published.names),
    )
    log.info("chosen: %s", chosen_smoothing(scored))
    scored.to_csv(job.output.table, index=False, float_format="%.6g")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
