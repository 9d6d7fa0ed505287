"""Figure 2: sizes of the blocks of the state-median sample."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.figures import plot_fig2


def main(job: Job) -> None:
    figure = plot_fig2(pd.read_parquet(job.input.blocks), data_label(Path(job.input.manifest)))
    save(figure, Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
