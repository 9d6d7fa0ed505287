"""Count the suppressed cells of synthetic tables that integers pin and that linear programs call protected."""

from pathlib import Path

import pandas as pd

from genverify.model.work import derive_seed
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.disclosure.benchmarks import compare_auditors, plot_auditors
from studies.disclosure.settings import SuppressionBenchmark


def main(job: Job) -> None:
    settings = job.settings("suppression", SuppressionBenchmark)
    lines = pd.DataFrame(compare_auditors(settings, derive_seed(job.params.seed, "auditors")))
    lines.to_csv(job.output.table, index=False)
    save(plot_auditors(lines), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
