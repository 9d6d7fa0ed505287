"""Solution variability of each block of a batch, over all columns and over the simple set of attributes."""

from pathlib import Path

import pandas as pd

from genverify.core.timing import progress
from genverify.papers.housing.attack.joint_program import read_block, read_percentages, read_statistics
from genverify.papers.housing.attack.prior import prior_of
from genverify.papers.housing.attack.variability import measure_block, spread, variability_frame
from genverify.papers.housing.private.household import read_household_file
from genverify.papers.housing.settings import Condition
from genverify.run.jobs import Job, log, run
from genverify.solve.settings import ProgramSettings


def main(job: Job) -> None:
    file, percentages = read_household_file(Path(job.input.housing_domain)), read_percentages(Path(job.input.published))
    settings, prior, rows = job.settings("program", ProgramSettings), pd.read_parquet(job.input.prior), []
    reading = job.part("condition", Condition).reading
    statistics = spread(read_statistics(Path(job.input.statistics), percentages), job.params.blocks)
    statistics = statistics[int(job.wildcards.batch) :: job.params.batches]
    for block, row in progress(statistics, "blocks measured"):
        release = read_block(row, block, file, percentages, reading)
        found = measure_block(release, prior_of(prior, block), file, job.params.simple, settings)
        rows += [{"block": block, "n": row["N"], "n_s": row["HUD_N"], **one} for one in found]
    frame = variability_frame(rows)
    frame.to_parquet(job.output.variability, index=False)
    log.info("%d of %d exact", int(frame["exact"].sum()), len(frame))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
