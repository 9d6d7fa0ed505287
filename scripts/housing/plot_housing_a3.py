"""Figure A.3 of the housing paper: putative against true violations of each block."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.housing.figures import plot_putative, putative_counts


def main(job: Job) -> None:
    counts = putative_counts(pd.read_parquet(job.input.judged))
    counts.to_csv(job.output.csv, index=False)
    figure = plot_putative(counts, Path(job.input.judged).parent.name, data_label(Path(job.input.manifest)))
    save(figure, Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
