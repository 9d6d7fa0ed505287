"""Whole tracts: what block tables, tract tables and both say about persons and households."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.files import data_labels
from genverify.run.jobs import Job, run
from studies.gtv.settings import TractTables
from studies.gtv.tracts import cells_by_table, missing_table, read_tables, schema_of, tracts_table, tracts_text, whole_table


def main(job: Job) -> None:
    label, published = data_labels(job.input.manifests), job.settings("tables", TractTables)
    table, whole = tracts_table(_frames(job.input.judged)), whole_table(_frames(job.input.whole))
    missing = missing_table(_frames(job.input.missing))
    missing.assign(data=label).to_csv(job.output.missing, index=False)
    table.assign(data=label).to_csv(job.output.table, index=False)
    whole.assign(data=label).to_csv(job.output.whole, index=False)
    domain, text = read_domain(Path(job.input.domain)), read_tables([Path(path) for path in job.input.tables])
    levels = (published.block_tables, published.tract_tables)
    queries = [query for tables in levels for query in schema_of(domain, text, tables, published.universe).queries]
    Path(job.output.readable).write_text(tracts_text(table, whole, missing, cells_by_table(queries, text["printed"]), label))


def _frames(paths: list[str]) -> dict[tuple[str, str], pd.DataFrame]:
    """The files by source and reading, which name their folders."""
    return {(Path(path).parts[-3], Path(path).parts[-2]): pd.read_csv(path) for path in paths}


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
