"""Table 1: verified singleton claims of synthetic blocks in plain English."""

from pathlib import Path

import pandas as pd

from genverify.csvtext import neutral_frame
from genverify.domain import read_domain
from genverify.jobs import Job, run
from genverify.microdata.manifest import data_label
from genverify.sentences import read_phrases
from genverify.tables_out.examples import require_synthetic, table1, table1_text


def main(job: Job) -> None:
    require_synthetic(Path(job.input.manifest))
    label = data_label(Path(job.input.manifest))
    domain = read_domain(Path(job.input.domain)).domain
    table = table1(pd.read_parquet(job.input.claims), domain, read_phrases(Path(job.input.phrases), domain), label)
    neutral_frame(table).to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(table1_text(table, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
