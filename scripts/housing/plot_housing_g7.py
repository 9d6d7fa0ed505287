"""Figure G.7 of the housing paper: match rate of reconstructed violations."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.housing.figures import KNOWN_SUBSIDY, PANELS, plot_match_rate, thin_curves


def main(job: Job) -> None:
    keys = [*PANELS, *KNOWN_SUBSIDY]
    curves = pd.concat(map(pd.read_parquet, job.input.curves), ignore_index=True)
    displayed = thin_curves(curves, keys, "all", "k")
    displayed.to_csv(job.output.csv, index=False, float_format="%.6g")
    figure = plot_match_rate(displayed, keys, data_label(Path(job.input.manifest)))
    save(figure, Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
