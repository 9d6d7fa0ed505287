"""Check the proofs of a batch of blocks and lay them out cell by cell."""

from pathlib import Path

from genverify.checked import checked_blocks
from genverify.explorer.proofs import lay_out_block
from genverify.jobs import Job, progress, run
from genverify.prooffile import write_proofs
from genverify.release import read_schema


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    blocks = list(checked_blocks(Path(job.input.counts), Path(job.input.proofs), schema))
    write_proofs(map(lay_out_block, progress(blocks, "blocks")), Path(job.output.explained))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
