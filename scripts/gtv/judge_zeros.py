"""Find the household that each verified singleton claim is about."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, log, run
from studies.country.sample import chosen_blocks
from studies.gtv.settings import ChosenBlocks
from studies.gtv.withheld_zeros import find_households, read_households


def main(job: Job) -> None:
    chosen, claims = job.settings("blocks", ChosenBlocks), pd.read_parquet(job.input.singletons)
    sample = pd.read_parquet(job.input.blocks)
    blocks = chosen_blocks(sample, chosen.design, chosen.number, job.params.seed, "zeros")
    codes, universe = job.params.records[job.wildcards.records], job.settings("release", ReleaseSettings).universe
    domain = read_domain(Path(job.input.domain))
    records = read_households(Path(job.input.microdata), blocks, domain, universe, codes, job.params.seed)
    find_households(claims, records).to_parquet(job.output.households, index=False)
    log.info("%d claims, all of them true of their blocks", len(claims))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
