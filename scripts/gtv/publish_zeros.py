"""Count the households of some blocks of the study, as they are or with codes that one of every block is given."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from genverify.core.domain import read_domain
from genverify.core.predicates import EVERY
from genverify.core.release import read_study, write_schema
from genverify.core.settings import ReleaseSettings
from genverify.core.tabulate import tabulate_blocks
from genverify.microdata.sample import chosen_blocks
from genverify.papers.gtv.settings import ChosenBlocks
from genverify.papers.gtv.zeros.records import read_households
from genverify.run.jobs import Job, log, run


def main(job: Job) -> None:
    chosen, domain = job.settings("blocks", ChosenBlocks), Path(job.input.domain)
    release = job.settings("release", ReleaseSettings)
    sample = pd.read_parquet(job.input.blocks)
    blocks = chosen_blocks(sample, chosen.design, chosen.number, job.params.seed, "zeros")
    codes = job.params.records[job.wildcards.records]
    households = read_households(
        Path(job.input.microdata), blocks, read_domain(domain), release.universe, codes, job.params.seed
    )
    schema = read_study(domain, release)
    write_schema(schema, Path(job.output.schema))
    records = pa.Table.from_pandas(households, preserve_index=False)
    tabulate_blocks(records, EVERY, schema, ()).to_parquet(job.output.counts, index=False)
    log.info("%d blocks, %d households", len(blocks), len(households))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
