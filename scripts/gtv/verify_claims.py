"""Decide the candidate claims of a batch of blocks, check their proofs and write them."""

from pathlib import Path

from genverify.attack.verify import verify_batch
from genverify.model.settings import Verify
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings


def main(job: Job) -> None:
    settings, min_k = job.settings("program", ProgramSettings), job.settings("verify", Verify).min_k
    schema, counts, datasets = (Path(path) for path in (job.input.schema, job.input.counts, job.input.datasets))
    claims, rows, proofs = (Path(path) for path in (job.output.claims, job.output.blocks, job.output.proofs))
    verify_batch(schema, counts, datasets, settings, min_k, claims, rows, proofs)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
