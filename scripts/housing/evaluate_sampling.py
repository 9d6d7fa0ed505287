"""The sampling attack: what a sample of the private households says about who is in violation."""

from pathlib import Path

from genverify.run.jobs import Job, run
from studies.housing.evaluate import read_property_households, sampling_curves
from studies.housing.households import read_household_file


def main(job: Job) -> None:
    households = read_property_households(Path(job.input.households), job.params.conditions["none"]["blocks"])
    file, params = read_household_file(Path(job.input.domain)), job.params
    curves = sampling_curves(households, params.match_keys, file, params.share, params.seed)
    curves.to_parquet(job.output.curves, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
