"""Flagged blocks of a condition beside those that truly hold a household in violation."""

from pathlib import Path

import pandas as pd

from genverify.run.jobs import Job, run
from studies.housing.evaluate import check_sound, is_synthetic, judge_blocks, read_property_households
from studies.housing.households import read_household_file
from studies.housing.settings import Condition


def main(job: Job) -> None:
    file, condition = read_household_file(Path(job.input.domain)), job.wildcards.condition
    protection = job.part("protection", Condition)
    households = read_property_households(Path(job.input.households), protection.blocks)
    judged = judge_blocks(households, pd.read_parquet(job.input.blocks), file, protection.swap_hud)
    check_sound(judged, protection, condition, is_synthetic(Path(job.input.manifest), condition))
    judged.to_parquet(job.output.judged, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
