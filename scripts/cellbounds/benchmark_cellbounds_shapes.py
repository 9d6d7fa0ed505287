"""Time cell bounds on tables of the shapes that the paper tested: files of the user, or stand-ins."""

from pathlib import Path

import pandas as pd

from genverify.model.files import read_yaml
from genverify.run.jobs import Job, log, run
from studies.cellbounds.benchmarks import open_shapes, time_shape
from studies.cellbounds.settings import CellboundsBenchmark


def main(job: Job) -> None:
    part, lines = job.settings("cellbounds", CellboundsBenchmark), []
    for name, table, data in open_shapes(part.shapes, read_yaml(Path(job.input.adult)), job.params.seed):
        for line in time_shape(name, table, data, part.shapes[name].responses, part.repeats):
            lines.append(line)
            log.info("%s", line)
    pd.DataFrame(lines).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
