"""Audit every figure and table, and write down how far each file was checked."""

from pathlib import Path

from genverify.report.pages import markdown_table
from genverify.run.config import parse_config
from genverify.run.jobs import Job, log, run
from genverify.run.provenance.audit import audit
from genverify.run.provenance.records import BADGE, LEVEL, WORDS, write_summary


def main(job: Job) -> None:
    lines = audit(parse_config(job.params.study), job.input.results)
    try:
        while True:
            log.info("%s", next(lines))
    except StopIteration as end:
        summary = end.value
    write_summary(summary, Path(job.output.summary))
    rows = [[path, WORDS.get(level, level), str(summary["files"][path])[:12]] for path, level in summary[LEVEL].items()]
    table = markdown_table(["file", "how far it was checked", "SHA-256"], rows, left=3)
    Path(job.output.readable).write_text(f"# Audit\n\n{summary[BADGE]}\n\n{table}\n")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
