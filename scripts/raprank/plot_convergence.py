"""How RAP converges on an area of an experiment."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.model.release import read_schema
from genverify.model.tablefiles import neutral_frame
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.raprank.figures import plot_convergence
from studies.raprank.rank import converge, most_blocks
from studies.raprank.settings import Convergence, ResolvedExperiment


def main(job: Job) -> None:
    experiment, part = job.part("experiment", ResolvedExperiment), job.settings("convergence", Convergence)
    area = most_blocks([Path(path) for path in job.input.counts], read_schema(Path(job.input.schema)))
    private, holdout = (pd.read_parquet(path) for path in (job.input.private, job.input.holdout))
    points = converge(area, private, holdout, experiment.rap, part, job.params.seed)
    neutral_frame(points).to_csv(job.output.csv, index=False, float_format="%.6g")
    save(plot_convergence(points, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
