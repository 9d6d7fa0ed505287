"""Persons that the zeros of a block leave possible, by its number of persons."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.mechanisms.figures import plot_zeros_removed
from studies.mechanisms.zeros import IMPLIED, PUBLISHED, summarise_left


def main(job: Job) -> None:
    domain = read_domain(Path(job.input.domain)).domain
    left = summarise_left(pd.read_parquet(job.input.blocks), None, domain.size, (PUBLISHED, IMPLIED))
    left.to_csv(job.output.table, index=False)
    figure = plot_zeros_removed(left, None, data_label(Path(job.input.manifest)), "persons")
    save(figure, Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
