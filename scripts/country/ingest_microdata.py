"""Make the private microdata and a manifest of them."""

import json
from collections import Counter
from pathlib import Path

from genverify.model.domain import read_domain
from genverify.run.jobs import Job, log, run
from studies.country.settings import Microdata
from studies.country.sources import open_source
from studies.country.store import write_microdata


def main(job: Job) -> None:
    domain_file = read_domain(Path(job.input.domain))
    settings = job.settings("microdata", Microdata)
    rejected: Counter[str] = Counter()
    label, tables = open_source(settings, job.params.seed, domain_file, rejected)
    written = write_microdata(tables, Path(job.output.microdata), domain_file.domain)
    manifest = {"label": label, "source": settings.source, "rejected": dict(rejected), **written}
    Path(job.output.manifest).write_text(json.dumps(manifest, indent=1) + "\n")
    log.info("%s: %s records accepted, rejected: %s", label, written["rows"], dict(rejected) or "none")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
