"""Two variants of a study compared: households that their claims represent, and the difference with its interval."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.gtv.figures import plot_comparison
from studies.gtv.tables import comparison_table, comparison_text


def main(job: Job) -> None:
    first, second, label = job.wildcards.first, job.wildcards.second, data_label(Path(job.input.manifest))
    table = comparison_table(pd.read_parquet(job.input.first), pd.read_parquet(job.input.second), job.params.seed, label)
    table.to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(comparison_text(table, first, second, label))
    figure = plot_comparison(table, first, second, label)
    save(figure, *(Path(path) for path in (job.output.pdf, job.output.png, job.output.svg)))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
