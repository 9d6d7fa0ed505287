"""Table 6: the most common combinations of columns among the verified singleton claims."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.files import data_label, read_yaml
from genverify.model.tablefiles import neutral_frame
from genverify.run.jobs import Job, run
from studies.gtv.tables import column_table, column_text


def main(job: Job) -> None:
    label = data_label(Path(job.input.manifest))
    paper = read_yaml(Path(job.input.paper))["table6"]
    names = read_domain(Path(job.input.domain)).domain.names
    claims, sample = pd.read_parquet(job.input.claims), pd.read_parquet(job.input.sample)
    table = column_table(claims, sample, names, paper, job.params.seed, label)
    neutral_frame(table).to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(column_text(table, names, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
