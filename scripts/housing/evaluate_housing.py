"""Re-identified households of a condition, and how many violations the reconstructions of each block have."""

from pathlib import Path

import pandas as pd

from genverify.run.jobs import Job, run
from studies.housing.evaluate import (
    read_counted,
    read_found,
    read_property_households,
    reidentify,
    with_reconstructions,
)
from studies.housing.households import read_household_file


def main(job: Job) -> None:
    file, condition = read_household_file(Path(job.input.domain)), job.wildcards.condition
    households = read_property_households(Path(job.input.households), job.params.blocks["blocks"])
    counted, result = read_counted(job.input.reconstructions, file), read_found(job.input.found)
    judged = with_reconstructions(pd.read_parquet(job.input.judged), counted, result)
    attack = (condition, set(judged.loc[judged["flagged"], "block"]), counted, result)
    curves, totals = reidentify(households, *attack, job.params.match_keys, file, job.params.seed)
    for name, frame in {"curves": curves, "totals": totals, "evaluation": judged}.items():
        frame.to_parquet(getattr(job.output, name), index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
