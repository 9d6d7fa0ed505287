"""Rank persons of known blocks by RAP-RANK."""

from pathlib import Path

import pandas as pd

from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, log, run
from studies.country.settings import PersonClaims
from studies.country.store import known_blocks, read_known
from studies.raprank.rank import mean_match_rate
from studies.raprank.settings import RapSettings


def main(job: Job) -> None:
    release, reading = job.settings("release", ReleaseSettings), job.params.readings[job.wildcards.reading]
    domain, tables, known = map(Path, (job.input.domain, job.input.tables, job.input.records))
    schema, records = read_known(domain, release, tables, known, reading)
    how, seed = job.settings("claims", PersonClaims), job.params.seed
    blocks = list(known_blocks(records, schema, how.max_persons))
    rates = mean_match_rate(blocks, how.raprank_blocks, how.raprank_runs, job.settings("rap", RapSettings), seed)
    pd.DataFrame([rates]).to_csv(job.output.rates, index=False)
    log.info("%s", rates)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
