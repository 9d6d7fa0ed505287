"""Pack the study as a Workflow Run RO-Crate, and read it back."""

from pathlib import Path

import yaml

from genverify.run.jobs import Job, log, run
from genverify.run.layout import load
from genverify.run.provenance.audit import read_sources
from genverify.run.provenance.records import find_records, walk

ABOUT = {
    "name": "genverify",
    "description": "What must be true of the people behind published tables, whatever the private data were?",
    "license": "https://spdx.org/licenses/MIT",
    "licence_name": "MIT License",
    "workflow": "Snakefile",
    "settings": "config.yaml",
}


def main(job: Job) -> None:
    chain = walk(job.input.results, find_records())
    code = {path for record in chain.jobs for path in record.code if not Path(path).is_absolute()}
    sources = read_sources()
    raw = {path for path in chain.raw if sources.get(path)}
    files = [*job.input.audit, *job.input.workflow, job.input.lock, job.input.sources, job.input.licence, *code, *raw]
    texts = {ABOUT["settings"]: yaml.safe_dump(job.params.study, sort_keys=False)}
    load(f"{job.input.tool}:write_crate")(Path(job.output.crate), chain, files, texts, ABOUT)
    result = load(f"{job.input.tool}:check_crate")(Path(job.output.crate))
    log.info("%d files, %d runs", result["File"], result["CreateAction"])


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
