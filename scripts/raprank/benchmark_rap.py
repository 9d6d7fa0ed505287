"""Time RAP on all 2-way marginals of many households, and on the queries of country-median blocks."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import read_releases, read_schema
from genverify.run.jobs import Job, run
from studies.country.sample import draw_blocks
from studies.country.store import read_microdata
from studies.raprank.rap.benchmarks import time_blocks, time_marginals
from studies.raprank.settings import RapBenchmark, RapSettings

DESIGN = "country_median"


def main(job: Job) -> None:
    sample, part, seed = pd.read_parquet(job.input.sample), job.settings("own", RapBenchmark), job.params.seed
    file, schema = read_domain(Path(job.input.domain)), read_schema(Path(job.input.schema))
    keeps = file.universe(job.params.universe).keeps
    table = read_microdata(Path(job.input.microdata), states=[sample["state"].min()])
    rest = keeps.matches({name: table[name].to_numpy() for name in keeps.columns or ["state"]})
    records = {name: table[name].to_numpy()[rest] for name in file.domain.names}
    chosen = draw_blocks(sample, DESIGN, part.blocks, seed, "benchmark_rap")
    matches = [
        release for path in job.input.counts for release in read_releases(Path(path), schema) if release.block in chosen
    ]
    rap = job.settings("rap", RapSettings)
    marginals = time_marginals(records, file.domain, rap, part, seed)
    rows = [marginals, *time_blocks(matches, rap, part, seed)]
    pd.DataFrame(rows).to_csv(job.output.table, index=False, float_format="%.4g")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
