"""How the answers on blocks of ten households depend on the homogeneity of the built-in country."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import read_study
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, log, run
from studies.country.people import read_country
from studies.country.places import calibrate
from studies.country.settings import Microdata
from studies.country.sources import SYNTHETIC

CALIBRATION_SEED = 20100401
MULTIPLIERS = (0.0, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5)


def main(job: Job) -> None:
    chosen = job.settings("microdata", Microdata).synthetic
    queries = read_study(Path(job.input.domain), job.settings("release", ReleaseSettings)).queries
    country = read_country(Path(chosen.country))
    shares = calibrate(chosen, CALIBRATION_SEED, read_domain(Path(job.input.domain)), country, queries, MULTIPLIERS)
    table = pd.DataFrame(shares).assign(data=SYNTHETIC)
    table.to_csv(job.output.table, index=False)
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
