"""Tables 4 and 7: households represented among the verified singleton claims (4), or among all verified claims (7)."""

from pathlib import Path

import pandas as pd

from genverify.model.files import read_yaml
from genverify.run.jobs import Job, run
from studies.gtv.summary import is_variant, label_of, of_design
from studies.gtv.tables import households_table, households_text

CLAIMS = {"4": "singleton", "7": "all"}


def main(job: Job) -> None:
    number, label = job.wildcards.number, label_of(Path(job.input.manifest), job.wildcards.folder)
    paper = read_yaml(Path(job.input.paper))[f"table{number}"]
    if is_variant(job.wildcards.folder):
        paper |= {"designs": {}, "slips": []}  # the paper's numbers are of another release
    households = of_design(pd.read_parquet(job.input.households), job.wildcards.only)
    table = households_table(households, CLAIMS[number], paper, job.params.seed, label)
    table.to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(
        households_text(table, f"Table {number}. {paper['title'].capitalize()}", paper["slips"], label)
    )


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
