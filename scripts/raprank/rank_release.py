"""Reconstruct and rank the rows of every whole block of a batch from its release."""

from pathlib import Path

import pandas as pd

from genverify.model.release import read_releases, read_schema
from genverify.model.tablefiles import stack
from genverify.model.work import progress
from genverify.run.jobs import Job, run
from studies.raprank.areas import make_target
from studies.raprank.rank import rank_target, ranked_frame, runs_row
from studies.raprank.settings import RapSettings, WholeBlocks


def main(job: Job) -> None:
    settings, runs = job.settings("rap", RapSettings), job.settings("raprank", WholeBlocks).runs
    ranked, rows = [], []
    for release in progress(
        list(read_releases(Path(job.input.counts), read_schema(Path(job.input.schema)))), "blocks ranked"
    ):
        target = make_target([release])
        result, done = rank_target(target, ("release",), runs, job.params.seed, settings)
        ranked.append(ranked_frame(target, result, done, key="block"))
        rows.append(pd.DataFrame([runs_row(target, done, key="block")]))
    stack(ranked).to_parquet(job.output.ranked, index=False)
    stack(rows).to_parquet(job.output.runs, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
