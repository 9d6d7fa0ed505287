"""Generate datasets that fit the release of each block of a batch."""

from pathlib import Path

import pandas as pd

from genverify.attack.datasetfile import datasets_frame, generated_row
from genverify.attack.generate import generate_block
from genverify.attack.settings import Generate
from genverify.core.frames import stack
from genverify.core.release import read_releases, read_schema
from genverify.core.seeds import derive_seed
from genverify.core.timing import progress
from genverify.run.jobs import Job, run
from genverify.solve.settings import ProgramSettings


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    settings, wanted = job.settings("program", ProgramSettings), job.settings("generate", Generate)
    datasets, rows = [], []
    for release in progress(list(read_releases(Path(job.input.counts), schema)), "blocks generated"):
        seed = derive_seed(job.params.seed, "generate", release.block)
        generated = generate_block(release, settings, wanted.datasets, seed, wanted.method)
        datasets.append(datasets_frame(release.block, generated, schema.domain))
        rows.append(generated_row(release, generated))
    stack(datasets).to_parquet(job.output.datasets, index=False)
    stack([pd.DataFrame([row]) for row in rows]).to_parquet(job.output.blocks, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
