"""Equations 3 and 4 computed exactly on a tiny domain, and RAP's frequencies beside the posterior."""

from pathlib import Path

from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.raprank.figures import plot_intuition
from studies.raprank.settings import Intuition, RapSettings
from studies.raprank.tables import intuition


def main(job: Job) -> None:
    numbers = intuition(job.settings("intuition", Intuition), job.settings("rap", RapSettings), job.params.seed)
    numbers.to_csv(job.output.csv, index=False, float_format="%.12g")
    save(plot_intuition(numbers), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
