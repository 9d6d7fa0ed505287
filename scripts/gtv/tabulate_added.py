"""Publish the counts of a batch of blocks of a design that was added."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import read_schema
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate_blocks
from genverify.protect.publishing import publish_counts
from genverify.run.jobs import Job, log, run
from studies.country.sample import batch_by_cost, households_of, number_of_batches
from studies.country.settings import Sample
from studies.country.store import read_microdata


def main(job: Job) -> None:
    settings, sample = job.settings("release", ReleaseSettings), job.settings("sample", Sample)
    universe = read_domain(Path(job.input.domain)).universe(settings.universe)
    *earlier, drawn = map(pd.read_parquet, job.input.blocks)
    others = {block for blocks in earlier for block in blocks["block"]}
    own = households_of(drawn[~drawn["block"].isin(others)])
    batches = batch_by_cost(own, number_of_batches(sample), sample.blocks_per_batch)
    together = {block for block, batch in batches.items() if batch == job.params.place}
    schema = read_schema(Path(job.input.schema))
    records = read_microdata(Path(job.input.microdata), blocks=together)
    counts = publish_counts(tabulate_blocks(records, universe.keeps, schema, settings.withhold), schema, settings)
    counts.to_parquet(job.output.counts, index=False)
    log.info("%d blocks, %d of the design with an earlier one", len(together), len(drawn) - len(own))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
