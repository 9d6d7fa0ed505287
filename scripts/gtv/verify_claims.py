"""Decide the candidate claims of a batch of blocks, check their proofs and write them."""

from pathlib import Path

import pandas as pd

from genverify.attack.verify import claims_frame, verified_row, verify_block
from genverify.checker.certificate import write_proofs
from genverify.model.release import read_releases, read_schema
from genverify.model.settings import Verify
from genverify.model.tablefiles import stack
from genverify.model.tabulate import read_datasets
from genverify.model.work import progress
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    settings, min_k = job.settings("program", ProgramSettings), job.settings("verify", Verify).min_k
    releases = list(read_releases(Path(job.input.counts), schema))
    datasets = read_datasets(Path(job.input.datasets), releases)
    claims, rows, proofs = [], [], []
    for release in progress(releases, "blocks verified"):
        found = verify_block(release, datasets[release.block], settings, min_k)
        proofs.append(found.certificate)
        claims.append(claims_frame(found))
        rows.append(verified_row(found, settings))
    stack(claims).to_parquet(job.output.claims, index=False)
    stack([pd.DataFrame([row]) for row in rows]).to_parquet(job.output.blocks, index=False)
    write_proofs(proofs, Path(job.output.proofs))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
