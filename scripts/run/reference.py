"""Put the figures and tables of the papers into docs/reference, with a page and a manifest."""

from genverify.run.config import parse_config
from genverify.run.jobs import Job, log, run
from genverify.run.layout import REFERENCE_TOOL, load


def main(job: Job) -> None:
    for line in load(f"{REFERENCE_TOOL}:write_lines")(parse_config(job.params.study)):
        log.info("%s", line)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
