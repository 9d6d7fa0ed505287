"""How reliable the probabilities of claims and rows are."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.model.settings import Verify
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.extension_figures import plot_calibration


def main(job: Job) -> None:
    reliable, scored = pd.read_csv(job.input.reliability), pd.read_csv(job.input.scores)
    min_k, label = job.settings("verify", Verify).min_k, data_label(Path(job.input.manifest))
    save(plot_calibration(reliable, scored, min_k, label), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
