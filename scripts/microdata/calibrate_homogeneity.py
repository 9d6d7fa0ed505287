"""How the answers on blocks of ten households depend on the homogeneity of the built-in country."""

from dataclasses import asdict
from pathlib import Path

import pandas as pd

from genverify.core.domain import read_domain
from genverify.core.release import read_study
from genverify.core.settings import ReleaseSettings
from genverify.microdata.settings import Microdata
from genverify.microdata.sources import SYNTHETIC
from genverify.microdata.synthetic import SyntheticSettings, calibrate, read_country
from genverify.run.jobs import Job, log, run

CALIBRATION_SEED = 20100401
MULTIPLIERS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)


def main(job: Job) -> None:
    chosen = job.settings("microdata", Microdata).synthetic
    settings = SyntheticSettings(CALIBRATION_SEED, chosen.households, 1.0)
    queries = read_study(Path(job.input.domain), job.settings("release", ReleaseSettings)).queries
    country = read_country(Path(chosen.country))
    shares = calibrate(settings, read_domain(Path(job.input.domain)), country, queries, MULTIPLIERS)
    table = pd.DataFrame([asdict(row) for row in shares]).assign(data=SYNTHETIC)
    table.to_csv(job.output.table, index=False)
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
