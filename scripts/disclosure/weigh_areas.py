"""How likely each rounded count is, given its table: over all areas."""

from pathlib import Path

import pandas as pd

from genverify.run.jobs import Job, run
from studies.disclosure.area_tables import posterior_rows, printed_by_area, read_area_tables, read_areas


def main(job: Job) -> None:
    spec, rows = read_area_tables(Path(job.input.tables)), []
    for level, path in (("small", job.input.counts), ("larger", job.input.larger)):
        rows.append(posterior_rows(list(printed_by_area(read_areas(Path(path))).values()), spec, level))
    pd.concat(rows).to_csv(job.output.chances, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
