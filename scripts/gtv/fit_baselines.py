"""The probability of every verified claim in a block drawn from its tract, county, state, nation, or uniformly."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.settings import ReleaseSettings
from genverify.model.tablefiles import read_pieces, write_pieces
from genverify.run.jobs import Job, log, run
from studies.gtv.baselines import fit_baselines, nation_types


def main(job: Job) -> None:
    counted: list[pd.DataFrame] = []
    write_pieces(_fitted(job, counted), Path(job.output.baselines))
    unseen = pd.concat(counted).groupby("prior", sort=False).sum().reset_index()
    unseen.to_csv(job.output.unseen, index=False)
    log.info("claims that a prior has never seen (probability 0):\n%s", unseen.to_string(index=False))


def _fitted(job: Job, counted: list[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """The baselines of each piece of the claims; how many claims no prior has seen goes to `counted`."""
    file, microdata = read_domain(Path(job.input.domain)), Path(job.input.microdata)
    universe = file.universe(job.settings("release", ReleaseSettings).universe)
    published = file.domain.restrict(universe.codes)
    blocks = pd.read_parquet(job.input.blocks, columns=["block", "n_households"])
    nation = nation_types(microdata, file.domain, universe.keeps)
    for claims in read_pieces(Path(job.input.claims)):
        result, unseen = fit_baselines(claims, blocks, microdata, file.domain, published, universe.keeps, nation)
        counted.append(unseen)
        yield result


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
