"""Tables 1, 3, 5, 6, 8 and 9 of the cell-bounding paper, each computed from the numbers that it is about."""

from pathlib import Path

from genverify.bounds.count_tables import read_printed
from genverify.run.jobs import Job, run
from studies.cellbounds.tables import CONSISTENT, compare, compare_rounded, read_paper

NUMBERS = {"1": "table1", "3": "table3", "5": "table2", "6": "table6", "8": "table7", "9": "table9"}


def main(job: Job) -> None:
    number = job.wildcards.number
    printed = read_printed(Path(getattr(job.input, NUMBERS[number])))
    paper = read_paper(Path(job.input.paper), f"table{number}")
    table = compare(printed, paper) if printed.whole else compare_rounded(printed, paper, CONSISTENT)
    table.to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
