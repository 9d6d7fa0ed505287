"""Tables 5, 8 and 9 of the cell-bounding paper, each computed from the counts that it is about."""

from pathlib import Path

from genverify.papers.cellbounds.tables import compare, read_paper
from genverify.papers.cellbounds.two_way import read_printed
from genverify.run.jobs import Job, run

COUNTS = {"5": "table2", "8": "table7", "9": "table9"}


def main(job: Job) -> None:
    number = job.wildcards.number
    counts = read_printed(Path(getattr(job.input, COUNTS[number])))
    table = compare(counts, read_paper(Path(job.input.paper), f"table{number}"))
    table.to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
