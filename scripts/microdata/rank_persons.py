"""Rank persons of known blocks by RAP-RANK."""

from pathlib import Path

import pandas as pd

from genverify.core.files import read_yaml
from genverify.core.release import read_study
from genverify.core.settings import ReleaseSettings
from genverify.core.vocabulary import groups_of
from genverify.microdata.known import known_blocks, read_as
from genverify.microdata.person_records import read_person_records
from genverify.papers.gtv.settings import PersonClaims
from genverify.papers.raprank.known_persons import draw_blocks, mean_match_rate
from genverify.papers.raprank.settings import RapSettings
from genverify.run.jobs import Job, log, run


def main(job: Job) -> None:
    schema = read_study(Path(job.input.domain), job.settings("release", ReleaseSettings))
    records = read_person_records(Path(job.input.records), schema.domain)
    list_name = job.params.readings[job.wildcards.reading]
    groups = groups_of(read_yaml(Path(job.input.tables)), schema.domain, list_name)
    schema, records = read_as(schema, records, groups)
    how, seed = job.settings("claims", PersonClaims), job.params.seed
    blocks = list(known_blocks(records, schema, how.max_persons))
    drawn = draw_blocks(blocks, how.raprank_blocks, seed)
    rates = mean_match_rate(drawn, how.raprank_runs, job.settings("rap", RapSettings), seed)
    pd.DataFrame([rates]).to_csv(job.output.rates, index=False)
    log.info("%s", rates)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
