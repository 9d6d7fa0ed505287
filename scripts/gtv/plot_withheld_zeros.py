"""Suppressed zeros: households lost by k."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.extension_figures import plot_withheld_zeros


def main(job: Job) -> None:
    table, label = pd.read_csv(job.input.table), data_label(Path(job.input.manifest))
    save(plot_withheld_zeros(table, label), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
