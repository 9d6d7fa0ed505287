"""Match rates against the share of persons in rows that stand five times in their block."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_labels
from genverify.model.tablefiles import neutral_frame
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.raprank.figures import dose_means, plot_dose


def main(job: Job) -> None:
    curves = zip(job.params.shares, map(pd.read_parquet, job.input.curves), strict=True)
    means = dose_means(list(curves), job.params.seed)
    neutral_frame(means).to_csv(job.output.csv, index=False, float_format="%.6g")
    save(plot_dose(means, data_labels(job.input.manifests)), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
