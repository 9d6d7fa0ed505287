"""Write the proofs of a batch as VIPR certificates; each stored proof is checked first."""

from pathlib import Path

from genverify.checker.stored import stored_blocks
from genverify.export.export_command import readme, write_export
from genverify.model.files import data_label
from genverify.model.release import read_schema
from genverify.model.work import progress
from genverify.run.jobs import Job, log, run


def main(job: Job) -> None:
    schema, out = read_schema(Path(job.input.schema)), Path(job.output.archive)
    blocks = list(stored_blocks(Path(job.input.counts), Path(job.input.proofs), schema))
    words = readme("vipr", f"Counts of: {data_label(Path(job.input.manifest))}.")
    written = write_export(out, progress(blocks, "blocks"), "vipr", words)
    log.info("%s", written)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
