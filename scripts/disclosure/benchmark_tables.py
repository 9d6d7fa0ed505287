"""Time `genverify disclose` on two-way tables by their number of cells, and plain linear programs on the small ones."""

import pandas as pd

from genverify.model.work import derive_seed
from genverify.run.jobs import Job, log, run
from studies.disclosure.benchmarks import time_tables
from studies.disclosure.settings import TablesBenchmark


def main(job: Job) -> None:
    lines = []
    for line in time_tables(job.settings("tables", TablesBenchmark), derive_seed(job.params.seed, "tables")):
        lines.append(line)
        log.info("%s", line)
    pd.DataFrame(lines).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
