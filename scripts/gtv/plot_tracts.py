"""Whole tracts: persons singled out, by k, from block tables, tract tables and both."""

from pathlib import Path

import pandas as pd

from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.extension_figures import plot_tracts


def main(job: Job) -> None:
    table = pd.read_csv(job.input.table)
    save(plot_tracts(table, str(table["data"].iloc[0])), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
