"""How RAP converges on an area whose blocks are distinguished."""

from pathlib import Path

import pandas as pd

from genverify.core.csvtext import neutral_frame
from genverify.core.manifest import data_label
from genverify.core.release import read_schema
from genverify.papers.raprank.convergence import converge, most_blocks
from genverify.papers.raprank.figures.convergence import plot_convergence
from genverify.papers.raprank.settings import Convergence, ResolvedExperiment
from genverify.run.jobs import Job, run
from genverify.show.style import save


def main(job: Job) -> None:
    experiment, own = job.part("experiment", ResolvedExperiment), job.settings("convergence", Convergence)
    known, learned = most_blocks([Path(path) for path in job.input.counts], read_schema(Path(job.input.schema)))
    private, holdout = (pd.read_parquet(path) for path in (job.input.private, job.input.holdout))
    points = converge(known, learned, private, holdout, experiment.rap, own, job.params.seed)
    neutral_frame(points).to_csv(job.output.csv, index=False, float_format="%.6g")
    save(plot_convergence(points, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
