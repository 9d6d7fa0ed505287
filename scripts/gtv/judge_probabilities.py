"""Hold the probabilities of claims and rows against the private blocks."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import read_schema
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, run
from studies.country.store import read_records
from studies.gtv.probability_evaluation import judged


def main(job: Job) -> None:
    names = read_schema(Path(job.input.schema)).domain.names
    claims, rows, ranked = (
        pd.concat(map(pd.read_parquet, paths), ignore_index=True)
        for paths in (job.input.claims, job.input.rows, job.input.ranked)
    )
    ranked = ranked[ranked["block"].isin(set(rows["block"]))]
    file, universe = read_domain(Path(job.input.domain)), job.settings("release", ReleaseSettings).universe
    records = read_records(Path(job.input.microdata), file, universe, set(claims["block"]))
    tables = judged(claims, rows, ranked, pd.read_parquet(job.input.areas), records, names, job.params.runs, job.params.seed)
    paths = (job.output.reliability, job.output.scores, job.output.rates, job.output.singled_out)
    for table, path in zip(tables, paths, strict=True):
        table.to_csv(path, index=False, float_format="%.6g")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
