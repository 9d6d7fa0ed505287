"""Put the batches of verified claims and of blocks together."""

import pandas as pd

from genverify.jobs import Job, log, run
from genverify.results import by_design, stack


def main(job: Job) -> None:
    sample = pd.read_parquet(job.input.sample)
    claims = by_design(sample, map(pd.read_parquet, job.input.claims))
    generated, verified = (_whole(paths) for paths in (job.input.generated, job.input.verified))
    blocks = by_design(sample, [generated.merge(verified, on="block")])
    claims.to_parquet(job.output.claims, index=False)
    blocks.to_parquet(job.output.blocks, index=False)
    log.info("%d verified claims about %d blocks", len(claims), claims["block"].nunique())


def _whole(paths: list[str]) -> pd.DataFrame:
    parts = map(pd.read_parquet, paths)
    return stack([part for part in parts if len(part)])


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
