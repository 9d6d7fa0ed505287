"""Time ranges from marginals on one synthetic table, beside an ordinary integer program in the same run."""

import pandas as pd

from genverify.model.work import derive_seed
from genverify.run.jobs import Job, log, run
from studies.cellbounds.benchmarks import time_marginals
from studies.cellbounds.settings import MarginalsBenchmark


def main(job: Job) -> None:
    part, name = job.settings("marginals", MarginalsBenchmark), job.wildcards.case
    lines = []
    for line in time_marginals(name, part.cases[name], part, derive_seed(job.params.seed, "marginals", name)):
        lines.append(line)
        log.info("%s", line)
    pd.DataFrame(lines).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
