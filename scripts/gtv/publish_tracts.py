"""Publish the counts of some tracts and of their blocks, with a column read as it is or in bins."""

import json
from pathlib import Path

from genverify.model.domain import read_domain
from genverify.model.files import data_label
from genverify.model.release import ranges_frame, write_schema
from genverify.run.jobs import Job, log, run
from studies.country.store import read_microdata, read_person_records
from studies.gtv.settings import KIND_OF, SyntheticTracts, TractTables
from studies.gtv.tracts import publish_tracts, read_tables, sample_tracts


def main(job: Job) -> None:
    source, published = Path(job.input.source), job.settings(KIND_OF[job.wildcards.source], TractTables)
    domain, text = read_domain(Path(job.input.domain)), read_tables([Path(path) for path in job.input.tables])
    if source.is_dir():
        records = read_microdata(source, ["block", *domain.domain.names]).to_pandas()
        chosen, label = job.settings(job.wildcards.source, SyntheticTracts), data_label(source.with_suffix(".json"))
        records = sample_tracts(records, domain, published, chosen, job.params.seed)
    else:
        records, label = read_person_records(source, domain.domain), f"records of {source.name}"
    made = publish_tracts(records, domain, text, published, job.wildcards.reading)
    write_schema(made.levels[0].schema, Path(job.output.blocks))
    write_schema(made.tracts[0].schema, Path(job.output.tracts))
    ranges_frame(made.blocks).to_parquet(job.output.block_counts, index=False)
    ranges_frame(made.tracts).to_parquet(job.output.tract_counts, index=False)
    made.records.to_parquet(job.output.records, index=False)
    Path(job.output.manifest).write_text(json.dumps({"label": label}) + "\n")
    log.info("%d tracts, %d blocks, %d records", len(made.tracts), len(made.blocks), len(records))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
