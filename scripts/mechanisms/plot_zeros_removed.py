"""Record types that the zeros of a block leave, by its size."""

from pathlib import Path

import pandas as pd

from genverify.core.domain import read_domain
from genverify.core.manifest import data_label
from genverify.core.release import read_study
from genverify.core.settings import ReleaseSettings
from genverify.papers.mechanisms.figures import plot_zeros_removed
from genverify.papers.mechanisms.zeros import records_left, summarise_left
from genverify.run.jobs import Job, run
from genverify.show.style import save
from genverify.solve.settings import ProgramSettings


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
