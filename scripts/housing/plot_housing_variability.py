"""Figures 2 and A.2 of the housing paper: solution variability, and the blocks in which there is next to none."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.model.tablefiles import stack
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.housing.figures import VARIABILITY


def main(job: Job) -> None:
    points_of, plot = VARIABILITY[job.wildcards.spread]
    points = points_of(stack([pd.read_parquet(path) for path in job.input.variability]))
    points.to_csv(job.output.csv, index=False, float_format="%.6g")
    save(plot(points, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
