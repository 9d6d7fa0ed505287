"""Reconstruct the flagged blocks of a batch: their most likely datasets, or those nearest to the counts."""

from pathlib import Path

import pandas as pd

from genverify.model.work import progress
from genverify.run.jobs import Job, log, run
from genverify.solve.program_settings import ProgramSettings
from studies.housing.households import read_household_file
from studies.housing.joint_program import prior_of, read_block, read_percentages, read_statistics
from studies.housing.reconstruct import all_datasets, blocks_frame, flagged_batch, reconstruct_block
from studies.housing.settings import Condition


def main(job: Job) -> None:
    file, percentages = read_household_file(Path(job.input.housing_domain)), read_percentages(Path(job.input.published))
    condition = job.part("condition", Condition)
    wanted = flagged_batch(pd.read_parquet(job.input.blocks), int(job.wildcards.batch), job.params.batches)
    rows = dict(read_statistics(Path(job.input.statistics), percentages))
    settings, prior, result = job.settings("program", ProgramSettings), pd.read_parquet(job.input.prior), []
    for block in progress(wanted, "blocks reconstructed"):
        release = read_block(rows[block], block, file, percentages, condition.reading)
        part = prior_of(prior, block)
        result.append(reconstruct_block(release, part, condition.top, settings, job.params.search, job.params.seed))
    all_datasets(result).to_parquet(job.output.datasets, index=False)
    blocks_frame(result).to_parquet(job.output.blocks, index=False)
    log.info("%d fit, %d proved, of %d", sum(r.fits for r in result), sum(r.likely.proved for r in result), len(result))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
