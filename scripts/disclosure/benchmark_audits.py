"""Time audits of synthetic surveys, and answers about synthetic tracts in MPS files."""

import pandas as pd

from genverify.model.work import derive_seed
from genverify.run.jobs import Job, log, run
from studies.disclosure.benchmarks import time_audits
from studies.disclosure.settings import DisclosureBenchmark


def main(job: Job) -> None:
    lines = []
    for line in time_audits(job.settings("audits", DisclosureBenchmark), derive_seed(job.params.seed, "audits")):
        lines.append(line)
        log.info("%s", line)
    pd.DataFrame(lines).round(2).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
