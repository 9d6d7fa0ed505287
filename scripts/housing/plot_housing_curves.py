"""Figures 3 and A.4 to A.6 of the housing paper: precision and recall of re-identified households."""

from pathlib import Path

import pandas as pd

from genverify.core.manifest import data_label
from genverify.papers.housing.figures.curves import CURVES
from genverify.papers.housing.figures.lines import thin_curves
from genverify.run.jobs import Job, run
from genverify.show.style import save


def main(job: Job) -> None:
    drawn = CURVES[job.wildcards.curve]
    curves = pd.concat(map(pd.read_parquet, job.input.curves), ignore_index=True)
    shown = thin_curves(curves, drawn.keys, drawn.scope, "putative")
    shown.to_csv(job.output.csv, index=False, float_format="%.6g")
    totals, label = pd.read_parquet(job.input.totals), data_label(Path(job.input.manifest))
    figure = drawn.plot(shown, totals, drawn.keys, label)
    save(figure, Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
