"""Compare suppression patterns of synthetic tables: cells, cost, gap, CPU seconds, and what integers still show."""

import pandas as pd

from genverify.model.work import derive_seed
from genverify.run.jobs import Job, log, run
from studies.disclosure.benchmarks import compare_suppression
from studies.disclosure.settings import SuppressionBenchmark


def main(job: Job) -> None:
    lines = []
    settings = job.settings("suppression", SuppressionBenchmark)
    for line in compare_suppression(settings, derive_seed(job.params.seed, "suppression")):
        lines.append(line)
        log.info("%s", line)
    pd.DataFrame(lines).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
