"""Record types that the zeros of a block leave, by its size."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.files import data_label
from genverify.model.release import read_study
from genverify.model.settings import ReleaseSettings
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.mechanisms.figures import plot_zeros_removed
from studies.mechanisms.zeros import records_left, summarise_left


def main(job: Job) -> None:
    settings = job.settings("release", ReleaseSettings).but(structural_zeros=True)
    schema = read_study(Path(job.input.domain), settings)
    keeps = read_domain(Path(job.input.domain)).universe(settings.universe).keeps
    domain = schema.domain.restrict(keeps.where)
    possible = records_left(domain, schema.rules, job.settings("program", ProgramSettings).max_types)
    left = summarise_left(pd.read_parquet(job.input.blocks), pd.read_parquet(job.input.sample), domain.size)
    left.assign(structural_alone=possible).to_csv(job.output.table, index=False)
    figure = plot_zeros_removed(left, possible, data_label(Path(job.input.manifest)))
    save(figure, Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
