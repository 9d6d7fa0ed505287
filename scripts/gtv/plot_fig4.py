"""Figure 4: the share of verified singleton claims that contain each column."""

import json
from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.model.release import read_schema
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.figures import plot_fig4, shown_k


def main(job: Job) -> None:
    domain = read_schema(Path(job.input.schema)).domain
    ks = shown_k(pd.read_parquet(job.input.blocks))
    figure = plot_fig4(json.loads(Path(job.input.summary).read_text()), domain, ks, data_label(Path(job.input.manifest)))
    save(figure, Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
