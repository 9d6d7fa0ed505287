"""Tables of the cell-bounding paper redesigned, merge by merge, until their conditionals disclose nothing (section 4.1)."""

from pathlib import Path

from genverify.bounds.count_tables import read_printed
from genverify.run.jobs import Job, run
from studies.cellbounds.settings import Cellbounds
from studies.cellbounds.tables import redesign_table

LABEL = "counts printed by Wright and Smucker (Tables 1 and 2 are fictitious)"
NAMES = {"table1": "Table 1", "table2": "Table 2", "table6": "Table 6", "table7": "Table 7"}


def main(job: Job) -> None:
    tables = {words: read_printed(Path(getattr(job.input, name))) for name, words in NAMES.items()}
    result = redesign_table(tables, job.settings("cellbounds", Cellbounds).small)
    result.assign(data=LABEL).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
