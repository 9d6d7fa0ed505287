"""How the answers on blocks of a size after hierarchical noise depend on how alike neighbours are before it."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import read_study
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, log, run
from studies.country.settings import Microdata
from studies.country.sources import PROTECTED
from studies.gtv.hierarchical_attack import calibration
from studies.gtv.settings import HierarchicalNoise

CALIBRATION_SEED = 20100401  # of no study: what is fitted is fitted on another country


def main(job: Job) -> None:
    domain, study = Path(job.input.domain), job.settings("hierarchical", HierarchicalNoise)
    queries = read_study(domain, job.settings("release", ReleaseSettings)).queries
    microdata = job.settings("microdata", Microdata)
    table = pd.DataFrame(calibration(microdata, study, CALIBRATION_SEED, read_domain(domain), queries)).round(3)
    table.assign(data=PROTECTED).to_csv(job.output.table, index=False)
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
