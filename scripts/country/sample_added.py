"""Draw the blocks of a design that was added."""

from pathlib import Path

import pandas as pd

from genverify.model.tablefiles import write_pieces
from genverify.run.jobs import Job, log, run
from studies.country.sample import batches_of, choose_blocks, number_of_batches
from studies.country.settings import Sample


def main(job: Job) -> None:
    settings = job.settings("sample", Sample)
    blocks = choose_blocks(pd.read_parquet(job.input.sizes), settings, job.params.seed)
    blocks.to_parquet(job.output.blocks, index=False)
    new = blocks[~blocks["block"].isin(pd.concat(map(pd.read_parquet, job.input.earlier))["block"])]
    batches = batches_of(new, number_of_batches(settings), settings.blocks_per_batch)
    batches["batch"] += job.params.first
    # an empty piece first: earlier designs may have all blocks of this one, and the file is there all the same
    write_pieces([batches.iloc[:0], *(own for _, own in batches.groupby("batch"))], Path(job.output.batches))
    log.info("%d blocks drawn, %d of them in no earlier design", len(blocks), len(new))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
