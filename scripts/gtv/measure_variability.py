"""Solution variability of each block of a batch, from its first generated dataset."""

from pathlib import Path

import pandas as pd

from genverify.model.release import read_releases, read_schema
from genverify.model.tablefiles import stack
from genverify.model.tabulate import read_datasets
from genverify.model.work import progress
from genverify.run.jobs import Job, run
from genverify.solve.datasets import solution_variability
from genverify.solve.program import build_program
from genverify.solve.program_settings import ProgramSettings


def main(job: Job) -> None:
    settings = job.settings("program", ProgramSettings)
    releases = list(read_releases(Path(job.input.counts), read_schema(Path(job.input.schema))))
    datasets = read_datasets(Path(job.input.datasets), releases)
    rows = []
    for release in progress(releases, "blocks measured"):
        first = datasets[release.block][0]
        result = solution_variability(build_program(release, settings.max_types), first, settings.make_solver())
        rows.append({"block": release.block, "n_households": release.n, **vars(result)})
    stack([pd.DataFrame([row]) for row in rows]).to_parquet(job.output.variability, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
