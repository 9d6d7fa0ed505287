"""What rankings suggest about whole blocks, and what the verified claims guarantee."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.files import data_label
from genverify.model.release import read_schema
from genverify.model.settings import ReleaseSettings
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.country.store import read_records
from studies.raprank.figures import plot_certainty
from studies.raprank.rank import certainty_numbers


def main(job: Job) -> None:
    names = read_schema(Path(job.input.schema)).domain.names
    ranked, datasets = (pd.concat(map(pd.read_parquet, paths)) for paths in (job.input.ranked, job.input.datasets))
    claims = pd.read_parquet(job.input.claims)
    domain_file, universe = read_domain(Path(job.input.domain)), job.settings("release", ReleaseSettings).universe
    records = read_records(Path(job.input.microdata), domain_file, universe, set(ranked["block"]))
    numbers = certainty_numbers(records, ranked, datasets, claims, names, job.params.runs, job.params.grid, job.params.seed)
    numbers.to_csv(job.output.csv, index=False, float_format="%.6g")
    save(plot_certainty(numbers, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
