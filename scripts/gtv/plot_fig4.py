"""Figure 4: the share of verified singleton claims that contain each column."""

import json
from pathlib import Path

import pandas as pd

from genverify.model.release import read_schema
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.figures import plot_fig4, shown_k
from studies.gtv.summary import label_of, of_design, of_designs


def main(job: Job) -> None:
    domain = read_schema(Path(job.input.schema)).domain
    blocks = of_design(pd.read_parquet(job.input.blocks), job.wildcards.only)
    summary = of_designs(json.loads(Path(job.input.summary).read_text()), blocks)
    figure = plot_fig4(summary, domain, shown_k(blocks), label_of(Path(job.input.manifest), job.wildcards.folder))
    save(figure, Path(job.output.pdf), Path(job.output.png), Path(job.output.svg))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
