"""Figures 3 and A.4 to A.6 of the housing paper: precision and recall of re-identified households."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.housing.figures import CURVES, thin_curves


def main(job: Job) -> None:
    drawn = CURVES[job.wildcards.curve]
    curves = pd.concat(map(pd.read_parquet, job.input.curves), ignore_index=True)
    displayed = thin_curves(curves, drawn.keys, drawn.scope, "putative")
    displayed.to_csv(job.output.csv, index=False, float_format="%.6g")
    totals, label = pd.read_parquet(job.input.totals), data_label(Path(job.input.manifest))
    figure = drawn.plot(displayed, totals, drawn.keys, label)
    save(figure, Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
