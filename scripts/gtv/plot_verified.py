"""Figures 3 and 5: verified claims, of one household (3) or any number (5), and how likely each would be by chance."""

import json
from pathlib import Path

import pandas as pd

from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.figures import plot_fig3
from studies.gtv.summary import label_of, of_design, of_designs


def main(job: Job) -> None:
    blocks = of_design(pd.read_parquet(job.input.blocks), job.wildcards.only)
    summary = of_designs(json.loads(Path(job.input.summary).read_text()), blocks)
    label = label_of(Path(job.input.manifest), job.wildcards.folder)
    figure = plot_fig3(summary, blocks, label, singletons=job.wildcards.number == "3")
    save(figure, Path(job.output.pdf), Path(job.output.png), Path(job.output.svg))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
