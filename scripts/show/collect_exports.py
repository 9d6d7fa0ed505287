"""Put the certificates of all batches into one archive."""

from pathlib import Path

from genverify.export.export_command import join_exports, readme
from genverify.model.files import data_label
from genverify.run.jobs import Job, log, run


def main(job: Job) -> None:
    out = Path(job.output.archive)
    words = readme("vipr", f"Counts of: {data_label(Path(job.input.manifest))}.")
    written = join_exports(out, map(Path, job.input.archives), words)
    log.info("%s, %.1f MB", written, out.stat().st_size / 1e6)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
