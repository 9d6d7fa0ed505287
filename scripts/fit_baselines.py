"""The probability of every verified claim in a block drawn from its tract, county, state, nation, or uniformly."""

from pathlib import Path

import pandas as pd

from genverify.baselines import fit_baselines
from genverify.domain import read_domain
from genverify.jobs import Job, log, run


def main(job: Job) -> None:
    file = read_domain(Path(job.input.domain))
    universe = file.universe(job.params.release["universe"])
    claims, blocks = pd.read_parquet(job.input.claims), pd.read_parquet(job.input.blocks)
    published = file.domain.restrict(universe.codes)
    microdata = Path(job.input.microdata)
    baselines, unseen = fit_baselines(claims, blocks, microdata, file.domain, published, universe.keeps)
    baselines.to_parquet(job.output.baselines, index=False)
    unseen.to_csv(job.output.unseen, index=False)
    log.info("claims that a prior has never seen (probability 0):\n%s", unseen.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
