"""Tables 4, 5 and 7 over generators and seeds, beside the paper's."""

from itertools import product
from pathlib import Path

import pandas as pd

from genverify.model.files import read_yaml
from genverify.run.jobs import Job, run
from studies.country.sources import SYNTHETIC
from studies.gtv.generators import Country, generators_table, generators_text


def main(job: Job) -> None:
    named = product(job.params.likeness, job.params.seeds)
    countries = [
        Country(likeness, seed, *(pd.read_parquet(path) for path in paths))
        for (likeness, seed), *paths in zip(named, job.input.counts, job.input.blocks, job.input.baselines, strict=True)
    ]
    table = generators_table(countries, read_yaml(Path(job.input.paper)), job.params.seed, SYNTHETIC)
    table.to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(generators_text(table, SYNTHETIC))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
