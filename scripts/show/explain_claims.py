"""Check the proofs of a batch of blocks and lay them out cell by cell."""

from pathlib import Path

from genverify.checker.file import write_proofs
from genverify.checker.stored import checked_blocks
from genverify.core.release import read_schema
from genverify.core.timing import progress
from genverify.run.jobs import Job, run
from genverify.show.explorer.proofs import lay_out_block


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    blocks = list(checked_blocks(Path(job.input.counts), Path(job.input.proofs), schema))
    write_proofs(map(lay_out_block, progress(blocks, "blocks")), Path(job.output.explained))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
