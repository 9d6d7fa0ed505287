"""Put the batches of verified claims and of blocks together."""

from pathlib import Path

import pandas as pd

from genverify.model.tablefiles import by_design, collect, write_pieces
from genverify.run.jobs import Job, log, run


def main(job: Job) -> None:
    sample = pd.read_parquet(job.input.sample)
    claims = write_pieces(collect(sample, job.input.claims), Path(job.output.claims))
    parts = zip(map(pd.read_parquet, job.input.generated), map(pd.read_parquet, job.input.verified), strict=True)
    blocks = by_design(sample, (one.merge(other, on="block") for one, other in parts))
    blocks.to_parquet(job.output.blocks, index=False)
    log.info("%d verified claims about %d blocks", claims, len(blocks))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
