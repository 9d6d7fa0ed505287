"""Make a store of the columns of a task from the files of a survey."""

import json
from pathlib import Path

import yaml

from genverify.model.files import read_yaml
from genverify.run.jobs import Job, log, run
from studies.country.store import write_microdata
from studies.country.surveys import domain_text, read_survey


def main(job: Job) -> None:
    files = [Path(path) for path in job.input.files]
    table, domain = read_survey(files, read_yaml(Path(job.input.tasks)), job.wildcards.task)
    written = write_microdata([table], Path(job.output.microdata), domain)
    Path(job.output.domain).write_text(yaml.safe_dump(domain_text(domain), sort_keys=False))
    label = f"{job.params.about}, task {job.wildcards.task}"
    Path(job.output.manifest).write_text(json.dumps({"label": label, **written}, indent=1) + "\n")
    log.info("%s: %d rows, %d columns", label, written["rows"], len(domain.names))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
