"""Set the replication report, every number of it from a table of docs/reference."""

from hashlib import sha256
from pathlib import Path

from genverify.model.errors import DataError
from genverify.model.files import read_json
from genverify.run.jobs import Job, digest, folder_files, log, run
from genverify.run.layout import load


def main(job: Job) -> None:
    manifest = Path(job.input.manifest)
    text = read_json(manifest)
    listed = {("README.md", text.get("page"))}
    listed |= {one for entry in text.get("results", {}).values() for one in entry["files"].items()}
    now = {(path.name, digest(path)) for path in folder_files(manifest.parent) if path != manifest}
    for name in sorted(name for name, _ in listed ^ now):
        why = f"not as {manifest} says: the report would state what no run has made. Make it again: snakemake reference"
        raise DataError(f"{manifest.with_name(name)}: {why}")
    inputs = {"manifest": sha256(manifest.read_bytes()).hexdigest(), "files": str(len(job.input.results))}
    for made in map(Path, (job.output.pdf, job.output.html)):
        load(f"{job.input.tool}:set_document")(Path(job.input.text), made, Path.cwd(), inputs)
        log.info("%s: %d bytes", made, made.stat().st_size)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
