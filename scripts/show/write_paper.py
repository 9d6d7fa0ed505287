"""Set the replication report, every number of it from a table of docs/reference."""

from hashlib import sha256
from pathlib import Path

from genverify.model.errors import DataError
from genverify.report.manuscript import set_document
from genverify.run.jobs import Job, log, run
from genverify.run.reference import altered_files, read_manifest


def main(job: Job) -> None:
    manifest = Path(job.input.manifest)
    if altered := list(altered_files(manifest.parent, read_manifest(manifest))):
        raise DataError(f"{altered[0]}: the report would state what no run has made. Make it again: snakemake reference")
    inputs = {"manifest": sha256(manifest.read_bytes()).hexdigest(), "files": str(len(job.input.results))}
    for made in map(Path, (job.output.pdf, job.output.html)):
        set_document(Path(job.input.text), made, Path.cwd(), inputs)
        log.info("%s: %d bytes", made, made.stat().st_size)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
