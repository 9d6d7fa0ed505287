"""Cell bounds against true counts on the tables of the cell-bounding paper, exact and rounded."""

from pathlib import Path

import pandas as pd

from genverify.bounds.count_tables import read_printed
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.cellbounds.figures import plot_cellbounds
from studies.cellbounds.settings import Cellbounds
from studies.cellbounds.tables import bounded_cells

SHOWN = {"table2": "Table 2", "table7": "Table 7", "table9": "Table 9"}
LABEL = "counts printed by Wright and Smucker (Table 2 is fictitious)"


def main(job: Job) -> None:
    tables = {words: read_printed(Path(getattr(job.input, name))) for name, words in SHOWN.items()}
    decimals = job.settings("cellbounds", Cellbounds).decimals
    cells = pd.concat([bounded_cells(counts, words, decimals) for words, counts in tables.items()])
    save(plot_cellbounds(cells, LABEL), Path(job.output.pdf), Path(job.output.png))
    cells.to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
