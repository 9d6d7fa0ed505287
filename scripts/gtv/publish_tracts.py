"""Publish the counts of some tracts and of their blocks, with a column read as it is or in bins."""

import json
from pathlib import Path

import pandas as pd

from genverify.core.domain import DomainFile, read_domain
from genverify.core.manifest import data_label
from genverify.core.release import ranges_frame, write_schema
from genverify.core.seeds import derive_seed
from genverify.microdata.person_records import read_person_records
from genverify.microdata.store import read_microdata
from genverify.papers.gtv.tracts.publish import choose_tracts, make_reading, read_tables, schema_of, tract_levels
from genverify.papers.gtv.tracts.settings import KIND_OF, SyntheticTracts, TractTables
from genverify.run.jobs import Job, log, run


def main(job: Job) -> None:
    published = job.settings(KIND_OF[job.wildcards.source], TractTables)
    domain, text = read_domain(Path(job.input.domain)), read_tables([Path(path) for path in job.input.tables])
    blocks, tracts = (
        schema_of(domain, text, own, published.universe) for own in (published.block_tables, published.tract_tables)
    )
    records, label = _records(job, domain, published)
    reading = make_reading(text, blocks, tracts, published.readings[job.wildcards.reading])
    levels = list(tract_levels(records, blocks, tracts, reading))
    write_schema(levels[0].schema, Path(job.output.blocks))
    write_schema(levels[0].areas[0].release.schema, Path(job.output.tracts))
    ranges_frame([block for one in levels for block in one.blocks]).to_parquet(job.output.block_counts, index=False)
    ranges_frame([one.areas[0].release for one in levels]).to_parquet(job.output.tract_counts, index=False)
    reading.records(records).to_parquet(job.output.records, index=False)
    Path(job.output.manifest).write_text(json.dumps({"label": label}) + "\n")
    log.info("%d tracts, %d blocks, %d records", len(levels), sum(len(one.blocks) for one in levels), len(records))


def _records(job: Job, domain: DomainFile, published: TractTables) -> tuple[pd.DataFrame, str]:
    """The records of some synthetic tracts, without their largest blocks, or of all tracts of a file."""
    source = Path(job.input.source)
    if not source.is_dir():
        return read_person_records(source, domain.domain), f"records of {source.name}"
    records = read_microdata(source, ["block", *domain.domain.names]).to_pandas()
    for name, codes in domain.universe(published.universe).keeps.clauses:
        records = records[records[name].isin(list(codes))]
    records["block"] = records["block"].astype(str)
    chosen, seed = job.settings(job.wildcards.source, SyntheticTracts), derive_seed(job.params.seed, "tracts", "sample")
    own = choose_tracts(records, chosen.tracts, chosen.records, seed)
    kept = own[own.groupby("block")["block"].transform("size") <= published.largest_block].reset_index(drop=True)
    return kept, data_label(source.with_suffix(".json"))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
