"""Households of the built-in country beside surveys, cell by cell."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.figures import plot_country_fit


def main(job: Job) -> None:
    cells, label = pd.read_parquet(job.input.cells), data_label(Path(job.input.manifest))
    save(plot_country_fit(cells, label), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
