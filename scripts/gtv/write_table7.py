"""Table 7: households represented among all verified claims."""

from pathlib import Path

import pandas as pd

from genverify.core.files import read_yaml
from genverify.core.manifest import data_label
from genverify.papers.gtv.tables.households import households_table, households_text
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    label = data_label(Path(job.input.manifest))
    paper = read_yaml(Path(job.input.paper))["table7"]
    table = households_table(pd.read_parquet(job.input.households), "all", paper, job.params.seed, label)
    table.to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(
        households_text(table, f"Table 7. {paper['title'].capitalize()}", paper["slips"], label)
    )


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
