"""Make a store of person records, and a manifest of it."""

import json
from pathlib import Path

import pyarrow as pa

from genverify.model.domain import read_domain
from genverify.run.jobs import Job, log, run
from studies.country.store import read_person_records, write_microdata


def main(job: Job) -> None:
    path, domain = Path(job.input.records), read_domain(Path(job.input.domain)).domain
    records = read_person_records(path, domain)
    table = pa.Table.from_pandas(records, preserve_index=False)
    written = write_microdata([table], Path(job.output.microdata), domain)
    label = f"person records of {path.name}, aggregates only"
    Path(job.output.manifest).write_text(json.dumps({"label": label, **written}, indent=1) + "\n")
    log.info("%s: %d persons in %d blocks", label, written["rows"], records["block"].nunique())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
