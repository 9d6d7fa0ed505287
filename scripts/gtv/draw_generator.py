"""Draw a country of one generator and seed, sample its blocks, and publish their counts."""

from pathlib import Path

import pyarrow as pa

from genverify.model.domain import EVERY, read_domain
from genverify.model.release import read_study, write_schema
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate_blocks
from genverify.run.jobs import Job, log, run
from studies.country.settings import Microdata, Sample
from studies.gtv.generators import draw_country, with_blocks


def main(job: Job) -> None:
    domain, microdata = Path(job.input.domain), job.settings("microdata", Microdata)
    sample = with_blocks(job.settings("sample", Sample), job.params.blocks_per_state)
    likeness, seed = job.wildcards.likeness, int(job.wildcards.country)
    blocks, records = draw_country(microdata, likeness, sample, seed, read_domain(domain), Path(job.output.counts).parent)
    blocks.to_parquet(job.output.blocks, index=False)
    records.to_parquet(job.output.records, index=False)
    schema = read_study(domain, job.settings("release", ReleaseSettings))
    write_schema(schema, Path(job.output.schema))
    counts = tabulate_blocks(pa.Table.from_pandas(records, preserve_index=False), EVERY, schema, ())
    counts.to_parquet(job.output.counts, index=False)
    log.info("%s, seed %d: %d blocks, %d households", likeness, seed, blocks["block"].nunique(), len(records))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
