"""Halve the areas of an experiment and publish the counts of the private half."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import write_schema
from genverify.run.jobs import Job, log, run
from studies.country.sample import batch_of
from studies.country.store import read_records
from studies.raprank.areas import area_records, both_schemas, publish_areas, repeat_rows, split_areas
from studies.raprank.configuration import experiment_schemas
from studies.raprank.settings import ResolvedExperiment


def main(job: Job) -> None:
    experiment, areas = job.part("experiment", ResolvedExperiment), pd.read_parquet(job.input.areas)
    domain_file = read_domain(Path(job.input.domain))
    schemas = experiment_schemas(domain_file, experiment)
    records = read_records(Path(job.input.microdata), domain_file, experiment.keeps, set(areas["block"]))
    records = area_records(records, areas, schemas[0].domain)
    if experiment.fivefold:
        records = repeat_rows(records, schemas[0].domain.names, experiment.fivefold, job.params.seed)
    private, holdout = split_areas(records, experiment, job.params.seed)
    private.to_parquet(job.output.private, index=False)
    holdout.to_parquet(job.output.holdout, index=False)
    write_schema(both_schemas(*schemas), Path(job.output.schema))
    counts = publish_areas(private, areas, *schemas)
    batches = batch_of(counts["area"], len(job.output.counts))
    for batch, path in enumerate(job.output.counts):
        counts[counts["area"].map(batches) == batch].to_parquet(path, index=False)
    log.info("%d of %d areas halved", private["area"].nunique(), areas["area"].nunique())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
