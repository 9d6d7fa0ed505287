"""Summarise the verified claims: all that the figures about them need."""

import json
from pathlib import Path

import pyarrow.dataset as ds

from genverify.model.release import read_schema
from genverify.run.jobs import Job, log, run
from studies.gtv.summary import summarise


def main(job: Job) -> None:
    names = read_schema(Path(job.input.schema)).domain.names
    claims, baselines = (ds.dataset(path, format="parquet") for path in (job.input.claims, job.input.baselines))
    groups = summarise(claims, baselines, names)
    Path(job.output.summary).write_text("[\n" + ",\n".join(json.dumps(group) for group in groups) + "\n]\n")
    log.info("%d groups of claims", len(groups))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
