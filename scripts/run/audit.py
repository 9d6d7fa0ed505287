"""Audit every figure and table of the study."""

from genverify.run.config import parse_config
from genverify.run.jobs import Job, log, run
from genverify.run.provenance.audit import audit


def main(job: Job) -> None:
    for line in audit(parse_config(job.params.study)):
        log.info("%s", line)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
