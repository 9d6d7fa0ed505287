"""Write the proofs of a batch as VIPR certificates, and check each of them."""

from pathlib import Path

from genverify.checker.stored import stored_blocks
from genverify.export.export_command import readme, write_export
from genverify.model.files import data_label
from genverify.model.release import read_schema
from genverify.model.work import progress
from genverify.run.jobs import Job, log, run
from genverify.run.layout import VIPR_TOOL, load


def main(job: Job) -> None:
    schema, out = read_schema(Path(job.input.schema)), Path(job.output.archive)
    blocks = list(stored_blocks(Path(job.input.counts), Path(job.input.proofs), schema))
    words = readme("vipr", f"Counts of: {data_label(Path(job.input.manifest))}.")
    written = write_export(out, progress(blocks, "blocks"), "vipr", words)
    checked = load(f"{VIPR_TOOL}:check_archive")(out)
    log.info("%s; %d certificates accepted by the VIPR checker", written, checked)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
