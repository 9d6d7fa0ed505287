"""Put the batches of verified claims and of blocks together."""

from pathlib import Path

import pandas as pd

from genverify.model.tablefiles import collect, write_pieces
from genverify.run.jobs import Job, log, run


def main(job: Job) -> None:
    sample = pd.read_parquet(job.input.sample)
    claims = write_pieces(collect(sample, job.input.claims), Path(job.output.claims))
    verified = dict(zip(job.input.generated, job.input.verified, strict=True))
    parts = collect(sample, job.input.generated, lambda path: _both(path, verified[path]))
    blocks = write_pieces(parts, Path(job.output.blocks))
    log.info("%d verified claims about %d blocks", claims, blocks)


def _both(generated: str, verified: str) -> pd.DataFrame:
    """What generation and verification say of the blocks of a batch."""
    return pd.read_parquet(generated).merge(pd.read_parquet(verified), on="block")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
