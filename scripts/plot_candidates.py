"""How the number of candidate claims falls with the number of generated datasets."""

from pathlib import Path

import pandas as pd

from genverify.figures.candidates import candidates_table, plot_candidates, spread_blocks
from genverify.figures.style import save
from genverify.jobs import Job, progress, run
from genverify.microdata.manifest import data_label
from genverify.release import read_releases, read_schema
from genverify.results import read_datasets


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    releases = {r.block: r for path in job.input.counts for r in read_releases(Path(path), schema)}
    datasets = pd.concat(map(pd.read_parquet, job.input.datasets), ignore_index=True)
    chosen = progress(spread_blocks(list(releases)), "blocks counted")
    records = ((block, read_datasets(datasets, releases[block])) for block in chosen)
    table = candidates_table(records, len(releases), pd.read_parquet(job.input.claims), job.params.verify["min_k"])
    table.to_csv(job.output.table, index=False, float_format="%.4g")
    save(plot_candidates(table, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
