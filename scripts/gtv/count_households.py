"""Count the households that verified claims represent, and the answers that were published."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import TOTAL, read_schema
from genverify.model.settings import ReleaseSettings
from genverify.model.tablefiles import FEW_BLOCKS_AT_ONCE, read_blocks, split_rows, write_pieces
from genverify.run.jobs import Job, log, run
from studies.country.settings import Sample
from studies.country.store import read_microdata
from studies.gtv.tables import count_answers, count_households


def main(job: Job) -> None:
    write_pieces(_counted(job), Path(job.output.households))
    queries = len(read_schema(Path(job.input.schema)).queries)
    answers = [count_answers(pd.read_parquet(path), queries, TOTAL) for path in job.input.counts]
    pd.concat(answers).sort_values("block", ignore_index=True).to_parquet(job.output.answers, index=False)
    log.info("all claims are true of the private records of their blocks")


def _counted(job: Job) -> Iterator[pd.DataFrame]:
    domain = read_domain(Path(job.input.domain))
    universes = job.settings("release", ReleaseSettings).universe, job.settings("sample", Sample).universe
    of_release, of_sample = (domain.universe(name).keeps for name in universes)
    for sample in split_rows(pd.read_parquet(job.input.sample), FEW_BLOCKS_AT_ONCE):
        claims = read_blocks(Path(job.input.claims), set(sample["block"]))
        records = read_microdata(Path(job.input.microdata), blocks=set(sample["block"])).to_pandas()
        attacked = of_release.matches(dict(records.items()))
        records = records[attacked].reset_index(drop=True)
        household = of_sample.matches(dict(records.items()))
        yield count_households(claims, records, household, sample, len(domain.domain.names))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
