"""Count the households that the claims of a country represent; every claim is checked against the households."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, log, run
from studies.country.settings import Microdata
from studies.gtv.generators import count_races, count_represented, singleton_baselines, stored_country


def main(job: Job) -> None:
    claims = pd.concat([pd.read_parquet(path) for path in job.input.claims], ignore_index=True)
    sample, file = pd.read_parquet(job.input.sample), read_domain(Path(job.input.domain))
    records = pd.read_parquet(job.input.records)
    counts = count_represented(claims, records, sample)
    counts.to_parquet(job.output.counts, index=False)
    microdata, universe = job.settings("microdata", Microdata), job.settings("release", ReleaseSettings).universe
    likeness, seed = job.wildcards.likeness, int(job.wildcards.country)
    with stored_country(microdata, likeness, seed, file, Path(job.output.counts).parent) as store:
        baselines = singleton_baselines(claims, sample, store, file, universe)
    baselines.to_parquet(job.output.baselines, index=False)
    blocks = pd.concat([pd.read_parquet(path) for path in job.input.blocks], ignore_index=True)
    blocks = blocks.assign(races=blocks["block"].map(count_races(records)))
    blocks.sort_values("block", ignore_index=True).to_parquet(job.output.blocks, index=False)
    log.info("%d claims about %d blocks, all of them true", len(claims), len(blocks))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
