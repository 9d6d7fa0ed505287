"""What the text of the cell-bounding paper says of its tables, beside what follows from their counts."""

from pathlib import Path

from genverify.bounds.count_tables import read_printed
from genverify.run.jobs import Job, log, run
from studies.cellbounds.tables import read_paper, sentences_table

LABEL = "counts printed by Wright and Smucker (Tables 1 to 3 are fictitious)"
NAMES = ("table1", "table2", "table3", "table6", "table7", "table9")


def main(job: Job) -> None:
    tables = {name: read_printed(Path(getattr(job.input, name))) for name in NAMES}
    table = sentences_table(tables, read_paper(Path(job.input.paper), "sentences"), LABEL)
    table.to_csv(job.output.table, index=False)
    log.info("%d of %d sentences agree", int(table["equal"].sum()), len(table))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
