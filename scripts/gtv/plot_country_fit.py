"""Households of the built-in country beside surveys, cell by cell."""

from pathlib import Path

import pandas as pd

from genverify.core.manifest import data_label
from genverify.papers.gtv.figures.country_fit import plot_country_fit
from genverify.run.jobs import Job, run
from genverify.show.style import save


def main(job: Job) -> None:
    cells, label = pd.read_parquet(job.input.cells), data_label(Path(job.input.manifest))
    save(plot_country_fit(cells, label), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
