"""Find the household that each verified singleton claim is about."""

from pathlib import Path

import pandas as pd

from genverify.core.domain import read_domain
from genverify.core.settings import ReleaseSettings
from genverify.microdata.sample import chosen_blocks
from genverify.papers.gtv.settings import ChosenBlocks
from genverify.papers.gtv.zeros.households import find_households
from genverify.papers.gtv.zeros.records import read_households
from genverify.run.jobs import Job, log, run


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
