"""Read published tables, and compare each reading with what a person wrote down about the file."""

from pathlib import Path

import pandas as pd

from genverify.run.jobs import Job, log, run
from studies.disclosure.expected_readings import benchmark


def main(job: Job) -> None:
    lines = []
    for line in benchmark(Path(job.input.expected), Path(job.input.tables)):
        lines.append(line)
        log.info("%s", line)
    pd.DataFrame(lines).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
