"""Count the households that verified claims represent, and the answers that were published."""

from pathlib import Path

import pandas as pd

from genverify.domain import read_domain
from genverify.evaluation import count_answers, count_households
from genverify.jobs import Job, log, run
from genverify.microdata.store import read_microdata
from genverify.release import TOTAL, read_schema


def main(job: Job) -> None:
    domain = read_domain(Path(job.input.domain))
    claims, sample = pd.read_parquet(job.input.claims), pd.read_parquet(job.input.sample)
    records = read_microdata(Path(job.input.microdata), blocks=set(sample["block"])).to_pandas()
    attacked = domain.universe(job.params.release["universe"]).keeps.matches(dict(records.items()))
    records = records[attacked].reset_index(drop=True)
    household = domain.universe(job.params.sample["universe"]).keeps.matches(dict(records.items()))
    counted = count_households(claims, records, household, sample, len(domain.domain.names))
    counted.to_parquet(job.output.households, index=False)
    counts = pd.concat(map(pd.read_parquet, job.input.counts), ignore_index=True)
    queries = len(read_schema(Path(job.input.schema)).queries)
    count_answers(counts, queries, TOTAL).to_parquet(job.output.answers, index=False)
    log.info("%d claims, all true of the private records of their blocks", len(claims))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
