"""Publish the counts of the sampled blocks."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import read_study, write_schema
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate_blocks
from genverify.protect.publishing import publish_counts
from genverify.run.jobs import Job, log, run
from studies.country.sample import batch_by_cost, groups_of_batches, households_of
from studies.country.settings import Sample
from studies.country.store import read_microdata


def main(job: Job) -> None:
    settings = job.settings("release", ReleaseSettings)
    schema = read_study(Path(job.input.domain), settings)
    universe = read_domain(Path(job.input.domain)).universe(settings.universe)
    sample, blocks = job.settings("sample", Sample), pd.read_parquet(job.input.blocks)
    batches = batch_by_cost(households_of(blocks), len(job.output.counts), sample.blocks_per_batch)
    write_schema(schema, Path(job.output.schema))
    published = 0
    for numbers, together in groups_of_batches(batches, len(job.output.counts)):
        records = read_microdata(Path(job.input.microdata), blocks=together)
        counts = publish_counts(tabulate_blocks(records, universe.keeps, schema, settings.withhold), schema, settings)
        batch_of_row = counts["block"].map(batches).to_numpy()
        for batch in numbers:
            counts[batch_of_row == batch].to_parquet(job.output.counts[batch], index=False)
        published += len(counts)
    log.info("%d blocks, %d queries, %d published counts", len(batches), len(schema.queries), published)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
