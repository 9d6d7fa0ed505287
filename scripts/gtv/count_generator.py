"""Count the households that the claims of a country represent; every claim is checked against the households."""

import pandas as pd

from genverify.run.jobs import Job, log, run
from studies.gtv.generators import count_represented


def main(job: Job) -> None:
    claims = pd.concat([pd.read_parquet(path) for path in job.input.claims], ignore_index=True)
    counts = count_represented(claims, pd.read_parquet(job.input.records), pd.read_parquet(job.input.sample))
    counts.to_parquet(job.output.counts, index=False)
    blocks = pd.concat([pd.read_parquet(path) for path in job.input.blocks], ignore_index=True)
    blocks.sort_values("block", ignore_index=True).to_parquet(job.output.blocks, index=False)
    log.info("%d claims about %d blocks, all of them true", len(claims), len(blocks))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
