"""Rank persons of known blocks by RAP-RANK."""

from pathlib import Path

import pandas as pd

from genverify.core.settings import ReleaseSettings
from genverify.microdata.known import known_blocks, read_known
from genverify.microdata.settings import PersonClaims
from genverify.papers.raprank.known_persons import draw_blocks, mean_match_rate
from genverify.papers.raprank.settings import RapSettings
from genverify.run.jobs import Job, log, run


def main(job: Job) -> None:
    release, reading = job.settings("release", ReleaseSettings), job.params.readings[job.wildcards.reading]
    domain, tables, known = map(Path, (job.input.domain, job.input.tables, job.input.records))
    schema, records = read_known(domain, release, tables, known, reading)
    how, seed = job.settings("claims", PersonClaims), job.params.seed
    blocks = list(known_blocks(records, schema, how.max_persons))
    drawn = draw_blocks(blocks, how.raprank_blocks, seed)
    rates = mean_match_rate(drawn, how.raprank_runs, job.settings("rap", RapSettings), seed)
    pd.DataFrame([rates]).to_csv(job.output.rates, index=False)
    log.info("%s", rates)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
