"""Time cell bounds on random tables, against the integer programs of the paper in the same run."""

import numpy as np

from genverify.model.work import derive_seed
from genverify.run.jobs import Job, log, run
from studies.cellbounds.benchmarks import KINDS, benchmark_frame, random_counts, time_table
from studies.cellbounds.settings import CellboundsBenchmark


def main(job: Job) -> None:
    part, lines = job.settings("cellbounds", CellboundsBenchmark), []
    for size in part.tables:
        for kind in KINDS:
            rng = np.random.default_rng(derive_seed(job.params.seed, "cellbounds", kind, *map(str, dict(size).values())))
            for line in time_table(kind, random_counts(kind, **dict(size), rng=rng), part, rng):
                lines.append(line)
                log.info("%s", line)
    benchmark_frame(lines).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
