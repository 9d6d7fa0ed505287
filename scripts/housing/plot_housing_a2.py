"""Figure A.2 of the housing paper: share subsidized where reconstruction is all but certain."""

from pathlib import Path

import pandas as pd

from genverify.core.frames import stack
from genverify.core.manifest import data_label
from genverify.papers.housing.figures.blocks import near_bins, plot_near
from genverify.run.jobs import Job, run
from genverify.show.style import save


def main(job: Job) -> None:
    bins = near_bins(stack([pd.read_parquet(path) for path in job.input.variability]))
    bins.to_csv(job.output.csv, index=False, float_format="%.6g")
    save(plot_near(bins, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
