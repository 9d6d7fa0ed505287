"""Reconstruct and rank the rows of every area of a batch."""

from pathlib import Path

import pandas as pd

from genverify.core.frames import stack
from genverify.core.release import read_schema
from genverify.core.timing import progress
from genverify.papers.raprank.published import read_targets
from genverify.papers.raprank.rank import rank_target, ranked_frame, runs_row, start_of
from genverify.papers.raprank.settings import ResolvedExperiment
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    experiment = job.part("experiment", ResolvedExperiment)
    baseline = pd.read_parquet(job.input.start[0]) if job.input.start else None
    names = (experiment.name, "random" if baseline is None else "holdout")
    ranked, rows = [], []
    learned = experiment.blocks == "learned"
    targets = list(read_targets(Path(job.input.counts), read_schema(Path(job.input.schema)), learned))
    for target in progress(targets, "areas ranked"):
        start = None if baseline is None else start_of(baseline, target)
        found, runs = rank_target(target, names, experiment.runs, job.params.seed, experiment.rap, start)
        ranked.append(ranked_frame(target, found, runs))
        rows.append(pd.DataFrame([runs_row(target, runs)]))
    stack(ranked).to_parquet(job.output.ranked, index=False)
    stack(rows).to_parquet(job.output.runs, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
