"""Cell bounds against true counts on the tables of the cell-bounding paper, exact and rounded."""

from pathlib import Path

import pandas as pd

from genverify.papers.cellbounds.figures import plot_cellbounds
from genverify.papers.cellbounds.settings import Cellbounds
from genverify.papers.cellbounds.tables import bounded_cells
from genverify.papers.cellbounds.two_way import read_printed
from genverify.run.jobs import Job, run
from genverify.show.style import save

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
