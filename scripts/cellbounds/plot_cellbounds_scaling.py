"""How the seconds for all cell bounds grow with the table."""

from pathlib import Path
from shutil import copyfile

import pandas as pd

from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.cellbounds.figures import plot_cellbounds_scaling


def main(job: Job) -> None:
    lines = pd.read_csv(job.input.table)
    label = f"{lines['data'].iloc[0]}; integer programs by HiGHS; points off the lines: other numbers of columns"
    save(plot_cellbounds_scaling(lines, label), Path(job.output.pdf), Path(job.output.png))
    copyfile(job.input.table, job.output.table)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
