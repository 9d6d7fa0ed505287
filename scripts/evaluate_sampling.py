"""The sampling attack: what a sample of the private households says about who is in violation."""

from pathlib import Path

import pandas as pd

from genverify.housing.keys import property_households
from genverify.housing.reidentify import sampling_curves
from genverify.jobs import Job, run
from genverify.textfiles import read_yaml


def main(job: Job) -> None:
    households = property_households(pd.read_parquet(job.input.households))
    domain, params = read_yaml(Path(job.input.domain)), job.params
    curves = sampling_curves(households, params.keys, domain, params.share, params.seed)
    curves.to_parquet(job.output.curves, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
