"""Draw the blocks of a design that was added."""

import pandas as pd

from genverify.run.jobs import Job, log, run
from studies.country.sample import choose_blocks
from studies.country.settings import Sample


def main(job: Job) -> None:
    blocks = choose_blocks(pd.read_parquet(job.input.sizes), job.settings("sample", Sample), job.params.seed)
    blocks.to_parquet(job.output.blocks, index=False)
    log.info("%d blocks drawn", len(blocks))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
