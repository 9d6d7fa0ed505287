"""Solution variability over the blocks of the study."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.model.tablefiles import by_design
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.figures import plot_solvar


def main(job: Job) -> None:
    sample = pd.read_parquet(job.input.sample)
    blocks = by_design(sample, map(pd.read_parquet, job.input.variability))
    blocks = blocks.merge(pd.read_parquet(job.input.blocks)[["block", "design", "unique"]], on=["block", "design"])
    blocks.to_csv(job.output.csv, index=False)
    save(plot_solvar(blocks, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
