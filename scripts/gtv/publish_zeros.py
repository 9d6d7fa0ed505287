"""Count the households of some blocks of the study, as they are or with codes that one of every block is given."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from genverify.model.domain import EVERY, read_domain
from genverify.model.release import read_study, write_schema
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate_blocks
from genverify.run.jobs import Job, log, run
from studies.country.sample import chosen_blocks
from studies.gtv.settings import ChosenBlocks
from studies.gtv.withheld_zeros import read_households


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
