"""Lay out the proofs of a batch of blocks cell by cell."""

from pathlib import Path

from genverify.explorer.proofs import lay_out_batch
from genverify.jobs import Job, progress, run
from genverify.prooffile import read_proofs, write_proofs
from genverify.release import read_releases, read_schema


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    releases = {release.block: release for release in read_releases(Path(job.input.counts), schema)}
    proofs = progress(list(read_proofs(Path(job.input.proofs))), "blocks")
    write_proofs(lay_out_batch(releases, proofs), Path(job.output.explained))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
