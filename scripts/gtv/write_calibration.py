"""Compare the microdata with national figures and with the paper's answers."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.files import data_label, read_yaml
from genverify.model.release import read_study
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, log, run
from studies.gtv.tables import calibration


def main(job: Job) -> None:
    release = job.settings("release", ReleaseSettings)
    keeps = read_domain(Path(job.input.domain)).universe(release.universe).keeps
    schema = read_study(Path(job.input.domain), release)
    sizes = pd.read_parquet(job.input.sizes)
    targets = read_yaml(Path(job.input.national))["targets"]
    table = calibration(Path(job.input.microdata), sizes, schema, keeps, targets)
    table.assign(data=data_label(Path(job.input.manifest))).to_csv(job.output.table, index=False)
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
