"""Figure A.1 of the housing paper: flagged blocks by their subsidized households."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.housing.figures import flagged_bins, plot_flagged


def main(job: Job) -> None:
    bins = flagged_bins(pd.read_parquet(job.input.judged))
    bins.to_csv(job.output.csv, index=False, float_format="%.6g")
    save(plot_flagged(bins, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
