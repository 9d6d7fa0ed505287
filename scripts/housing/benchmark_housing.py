"""Time detection and the most likely reconstructions on the blocks of the housing study."""

from pathlib import Path

import pandas as pd

from genverify.model.files import read_yaml
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.housing.households import read_household_file
from studies.housing.joint_program import read_percentages, read_statistics
from studies.housing.reconstruct import time_housing
from studies.housing.settings import Condition, HousingBenchmark


def main(job: Job) -> None:
    percentages = read_percentages(Path(job.input.published))
    given = {
        "file": read_household_file(Path(job.input.housing_domain)),
        "percentages": percentages,
        "paper_times": read_yaml(Path(job.input.paper))["times"],
        "reading": "appendix_e",
        "top": job.settings("condition", Condition).top,
        "search": job.params.search,
        "seed": job.params.seed,
    }
    blocks, prior = read_statistics(Path(job.input.statistics), percentages), pd.read_parquet(job.input.prior)
    table = time_housing(
        blocks, prior, given, job.settings("own", HousingBenchmark), job.settings("program", ProgramSettings)
    )
    table.to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
