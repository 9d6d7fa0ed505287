"""The probability of the verified claims of a batch in a block drawn from its tract, county, state, nation, or uniformly."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, run
from studies.country.store import read_nation
from studies.gtv.baselines import fit_baselines


def main(job: Job) -> None:
    file, microdata = read_domain(Path(job.input.domain)), Path(job.input.microdata)
    universe = file.universe(job.settings("release", ReleaseSettings).universe)
    published = file.domain.restrict(universe.codes)
    nation = read_nation(Path(job.input.nation), file.domain, universe.keeps)
    claims, blocks = pd.read_parquet(job.input.claims), pd.read_parquet(job.input.blocks, columns=["block", "n_households"])
    result, unseen = fit_baselines(claims, blocks, microdata, file.domain, published, universe.keeps, nation)
    result.to_parquet(job.output.baselines, index=False)
    unseen.to_parquet(job.output.unseen, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
