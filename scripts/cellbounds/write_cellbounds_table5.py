"""Table 5 of the cell-bounding paper, computed from its counts."""

from pathlib import Path

from genverify.papers.cellbounds.tables import compare, read_paper
from genverify.papers.cellbounds.two_way import read_printed
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    table = compare(read_printed(Path(job.input.counts)), read_paper(Path(job.input.paper), "table5"))
    table.to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
