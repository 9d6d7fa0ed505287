"""Publish the counts of a batch of sampled blocks."""

from pathlib import Path

from genverify.model.domain import read_domain
from genverify.model.release import read_schema
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate_blocks
from genverify.protect.publishing import publish_counts
from genverify.run.jobs import Job, log, run
from studies.country.sample import read_batch
from studies.country.store import read_microdata


def main(job: Job) -> None:
    settings = job.settings("release", ReleaseSettings)
    universe = read_domain(Path(job.input.domain)).universe(settings.universe)
    schema, blocks = read_schema(Path(job.input.schema)), read_batch(Path(job.input.batches), job.wildcards.batch)
    records = read_microdata(Path(job.input.microdata), blocks=blocks)
    counts = publish_counts(tabulate_blocks(records, universe.keeps, schema, settings.withhold), schema, settings)
    counts.to_parquet(job.output.counts, index=False)
    log.info("%d blocks, %d queries, %d published counts", len(blocks), len(schema.queries), len(counts))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
