"""Summarise the proofs of a study."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.jobs import Job, log, run
from genverify.microdata.manifest import data_label
from genverify.prooffile import read_proofs
from genverify.release import Release, Schema, read_releases, read_schema
from genverify.tables_out.proofs import proof_summary


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    batches = zip(job.input.counts, job.input.proofs, strict=True)
    proofs = (pair for counts, found in batches for pair in _matched(Path(counts), Path(found), schema))
    table = proof_summary(pd.read_parquet(job.input.blocks), proofs)
    table.assign(data=data_label(Path(job.input.manifest))).to_csv(job.output.table, index=False)
    log.info("%s", table.to_string(index=False))


def _matched(counts: Path, proofs: Path, schema: Schema) -> Iterator[tuple[Release, dict[str, Any]]]:
    releases = {release.block: release for release in read_releases(counts, schema)}
    return ((releases[found["block"]], found) for found in read_proofs(proofs))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
