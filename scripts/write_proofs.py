"""Summarise the proofs of a study."""

from pathlib import Path

import pandas as pd

from genverify.jobs import Job, log, run
from genverify.microdata.manifest import data_label
from genverify.prooffile import read_proofs
from genverify.release import read_releases, read_schema
from genverify.tables_out.proofs import proof_summary


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    releases = {release.block: release for path in job.input.counts for release in read_releases(Path(path), schema)}
    proofs = ((releases[found["block"]], found) for path in job.input.proofs for found in read_proofs(Path(path)))
    table = proof_summary(pd.read_parquet(job.input.blocks), proofs)
    table.assign(data=data_label(Path(job.input.manifest))).to_csv(job.output.table, index=False)
    log.info("%s", table.to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
