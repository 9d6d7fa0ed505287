"""Whole tracts: what block tables, tract tables and both say about persons."""

from pathlib import Path

import pandas as pd

from genverify.core.domain import read_domain
from genverify.core.manifest import data_labels
from genverify.papers.gtv.tracts.publish import read_tables, schema_of
from genverify.papers.gtv.tracts.table import cells_by_table, tracts_table, tracts_text
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    keys = [(Path(path).parts[-3], Path(path).parts[-2]) for path in job.input.judged]
    label = data_labels(job.input.manifests)
    table = tracts_table({key: pd.read_csv(path) for key, path in zip(keys, job.input.judged, strict=True)})
    table.assign(data=label).to_csv(job.output.table, index=False)
    domain, text = read_domain(Path(job.input.domain)), read_tables([Path(path) for path in job.input.tables])
    published = (job.params.block_tables, job.params.tract_tables)
    queries = [query for tables in published for query in schema_of(domain, text, tables).queries]
    Path(job.output.readable).write_text(tracts_text(table, cells_by_table(queries, text["printed"]), label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
