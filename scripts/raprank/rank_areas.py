"""Reconstruct and rank the rows of every area of a batch."""

from pathlib import Path

import pandas as pd

from genverify.model.release import read_schema
from genverify.model.tablefiles import stack
from genverify.model.work import progress
from genverify.run.jobs import Job, run
from studies.raprank.areas import make_target, read_areas
from studies.raprank.rank import rank_target, ranked_frame, runs_row, start_of
from studies.raprank.settings import ResolvedExperiment


def main(job: Job) -> None:
    experiment = job.part("experiment", ResolvedExperiment)
    baseline = pd.read_parquet(job.input.start[0]) if job.input.start else None
    names = (experiment.name, "random" if baseline is None else "holdout")
    ranked, rows = [], []
    areas = read_areas(Path(job.input.counts), read_schema(Path(job.input.schema)))
    targets = [make_target(area, experiment.blocks == "learned") for area in areas]
    for target in progress(targets, "areas ranked"):
        start = None if baseline is None else start_of(baseline, target)
        result, runs = rank_target(target, names, experiment.runs, job.params.seed, experiment.rap, start)
        ranked.append(ranked_frame(target, result, runs))
        rows.append(pd.DataFrame([runs_row(target, runs)]))
    stack(ranked).to_parquet(job.output.ranked, index=False)
    stack(rows).to_parquet(job.output.runs, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
