"""Figures 3 and 5: verified claims, of one household (3) or any number (5), and how likely each would be by chance."""

import json
from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.figures import plot_fig3


def main(job: Job) -> None:
    summary, blocks = json.loads(Path(job.input.summary).read_text()), pd.read_parquet(job.input.blocks)
    figure = plot_fig3(summary, blocks, data_label(Path(job.input.manifest)), singletons=job.wildcards.number == "3")
    save(figure, Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
