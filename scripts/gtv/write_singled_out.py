"""Households singled out at certainty, 99 %, 90 % and 50 %, and how many of these statements are false."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label
from genverify.run.jobs import Job, run
from studies.gtv.probability_evaluation import counting_table, singled_out_page


def main(job: Job) -> None:
    label, table, scored = (
        data_label(Path(job.input.manifest)),
        pd.read_csv(job.input.singled_out),
        pd.read_csv(job.input.scores),
    )
    blocks = pd.concat(map(pd.read_parquet, job.input.blocks), ignore_index=True)
    table.assign(data=label).to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(singled_out_page(table, scored, counting_table(blocks), label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
