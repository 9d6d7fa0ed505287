"""Suppressed zeros: what every explanation loses, beside the paper's losses."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label, read_yaml
from genverify.run.jobs import Job, run
from studies.gtv.withheld_zeros import losses_table, zeros_page


def main(job: Job) -> None:
    label, printed = data_label(Path(job.input.manifest)), read_yaml(Path(job.input.paper))
    decided = pd.concat([pd.read_parquet(path) for path in [*job.input.decided, job.input.searched]], ignore_index=True)
    steps, onehot = pd.read_csv(job.input.steps), pd.read_csv(job.input.verdicts)
    table = losses_table(decided, onehot, printed, job.params.seed, label)
    table.to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(zeros_page(table, steps, onehot, printed, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
