"""Put the baselines of all batches together, and summarise the verified claims: all that the figures about them need."""

import json
from pathlib import Path

import pandas as pd
import pyarrow.dataset as ds

from genverify.model.release import read_schema
from genverify.model.tablefiles import collect, write_pieces
from genverify.run.jobs import Job, log, run
from studies.gtv.summary import summarise


def main(job: Job) -> None:
    names = read_schema(Path(job.input.schema)).domain.names
    write_pieces(collect(pd.read_parquet(job.input.sample), job.input.baselines), Path(job.output.baselines))
    claims, baselines = (ds.dataset(path, format="parquet") for path in (job.input.claims, job.output.baselines))
    groups = summarise(claims, baselines, names)
    Path(job.output.summary).write_text("[\n" + ",\n".join(json.dumps(group) for group in groups) + "\n]\n")
    unseen = pd.concat(map(pd.read_parquet, job.input.unseen)).groupby("prior", sort=False).sum().reset_index()
    unseen.to_csv(job.output.unseen, index=False)
    log.info("%d groups of claims; those that a prior has never seen:\n%s", len(groups), unseen.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
