"""Publish the counts of the sampled blocks."""

from pathlib import Path

import pandas as pd

from genverify.domain import read_domain
from genverify.jobs import Job, log, run
from genverify.microdata.store import read_microdata
from genverify.release import read_study, write_schema
from genverify.sample import batch_of
from genverify.tabulate import tabulate_blocks


def main(job: Job) -> None:
    settings = job.params.release
    schema = read_study(Path(job.input.domain), settings)
    universe = read_domain(Path(job.input.domain)).universe(settings["universe"])
    batches = batch_of(pd.read_parquet(job.input.blocks)["block"], job.params.sample["batches"])
    records = read_microdata(Path(job.input.microdata), blocks=set(batches))
    counts = tabulate_blocks(records, universe.keeps, schema, settings["withhold"])
    write_schema(schema, Path(job.output.schema))
    for batch, path in enumerate(job.output.counts):
        counts[counts["block"].map(batches) == batch].to_parquet(path, index=False)
    log.info("%d blocks, %d queries, %d published counts", len(batches), len(schema.queries), len(counts))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
