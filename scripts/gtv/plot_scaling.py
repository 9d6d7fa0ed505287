"""Seconds and memory of the attack against the size of the block."""

from pathlib import Path
from shutil import copyfile

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.figures import plot_scaling


def main(job: Job) -> None:
    figure = plot_scaling(pd.read_csv(job.input.table), data_label(Path(job.input.manifest)))
    save(figure, Path(job.output.pdf), Path(job.output.png))
    copyfile(job.input.table, job.output.table)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
