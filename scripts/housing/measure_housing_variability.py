"""Solution variability of each block of a batch, over all columns and over the simple set of attributes."""

from pathlib import Path

import pandas as pd

from genverify.model.work import progress
from genverify.run.jobs import Job, log, run
from genverify.solve.program_settings import ProgramSettings
from studies.housing.households import read_household_file
from studies.housing.joint_program import prior_of, read_block, read_percentages, read_statistics
from studies.housing.settings import Condition
from studies.housing.variability import measure_block, spread, variability_frame


def main(job: Job) -> None:
    file, percentages = read_household_file(Path(job.input.housing_domain)), read_percentages(Path(job.input.published))
    settings, prior, rows = job.settings("program", ProgramSettings), pd.read_parquet(job.input.prior), []
    reading = job.part("condition", Condition).reading
    statistics = spread(read_statistics(Path(job.input.statistics), percentages), job.params.blocks)
    statistics = statistics[int(job.wildcards.batch) :: job.params.batches]
    for block, row in progress(statistics, "blocks measured"):
        release = read_block(row, block, file, percentages, reading)
        result = measure_block(release, prior_of(prior, block), file, job.params.simple, settings)
        rows += [{"block": block, "n": row["N"], "n_s": row["HUD_N"], **one} for one in result]
    frame = variability_frame(rows)
    frame.to_parquet(job.output.variability, index=False)
    log.info("%d of %d exact", int(frame["exact"].sum()), len(frame))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
