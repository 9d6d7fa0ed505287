"""Make the private persons and a manifest of them."""

import json
from collections import Counter
from pathlib import Path

from genverify.model.domain import read_domain
from genverify.run.jobs import Job, log, run
from studies.country.sources import open_persons
from studies.country.store import write_microdata


def main(job: Job) -> None:
    domain = read_domain(Path(job.input.domain)).domain
    model, group_quarters = Path(job.params.synthetic), job.params.group_quarters
    rejected: Counter[str] = Counter()
    label, tables = open_persons(Path(job.input.source), model, group_quarters, job.params.seed, domain, rejected)
    written = write_microdata(tables, Path(job.output.persons), domain)
    manifest = {"label": label, "rejected": dict(rejected), **written}
    Path(job.output.manifest).write_text(json.dumps(manifest, indent=1) + "\n")
    log.info("%s: %s persons; left out or without a fit: %s", label, written["rows"], dict(rejected) or "none")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
