"""Claims from protected microdata, true and false, beside the numbers of Figure 3."""

from pathlib import Path

import pandas as pd

from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.hierarchical_attack import plot_hierarchical


def main(job: Job) -> None:
    table = pd.read_csv(job.input.table)
    save(plot_hierarchical(table, str(table["data"].iloc[0])), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
