"""A table as a page of the report."""

from pathlib import Path

from genverify.report.pages import table_page
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    Path(job.output.page).write_text(table_page(Path(job.input.table)))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
