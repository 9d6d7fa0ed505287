"""Compare the claims about tracts with the records: which are true, whom they single out, which cells are missing."""

from pathlib import Path

import pandas as pd

from genverify.model.release import read_schema
from genverify.model.tablefiles import stack
from genverify.run.jobs import Job, run
from studies.gtv.tracts import distinguished_codes, judge, missing_cells


def main(job: Job) -> None:
    claims, areas = (pd.concat([pd.read_parquet(path) for path in paths]) for paths in (job.input.claims, job.input.areas))
    records = pd.read_parquet(job.input.records)
    names = [name for name in records.columns if name != "block"]
    judge(claims, areas, records, names).to_csv(job.output.judged, index=False)
    apart = distinguished_codes(read_schema(Path(job.input.blocks)))
    missing_cells(claims, records, names, apart).to_csv(job.output.missing, index=False)
    stack([pd.read_parquet(path) for path in job.input.whole]).to_csv(job.output.whole, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
