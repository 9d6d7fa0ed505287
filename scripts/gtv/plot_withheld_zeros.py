"""Withheld zeros: households lost by k."""

from pathlib import Path

import pandas as pd

from genverify.core.manifest import data_label
from genverify.papers.gtv.zeros.figure import plot_withheld_zeros
from genverify.run.jobs import Job, run
from genverify.show.style import save


def main(job: Job) -> None:
    table, label = pd.read_csv(job.input.table), data_label(Path(job.input.manifest))
    save(plot_withheld_zeros(table, label), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
