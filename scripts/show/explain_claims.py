"""Check the proofs of a batch of blocks and lay them out cell by cell."""

from pathlib import Path

from genverify.checker.certificate import write_proofs
from genverify.checker.stored import checked_blocks
from genverify.explorer.explorer_site import lay_out_block
from genverify.model.release import read_schema
from genverify.model.work import progress
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    blocks = list(checked_blocks(Path(job.input.counts), Path(job.input.proofs), schema))
    write_proofs(map(lay_out_block, progress(blocks, "blocks")), Path(job.output.explained))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
