"""What came out for rounded counts over all areas."""

from pathlib import Path

import pandas as pd

from genverify.run.jobs import Job, run
from studies.disclosure.area_tables import read_area_tables, summary_frame, summary_page


def main(job: Job) -> None:
    spec = read_area_tables(Path(job.input.tables))
    rows = pd.concat([pd.read_parquet(path) for path in job.input.ranges], ignore_index=True)
    table = summary_frame(rows).assign(data=spec.title)
    table.to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(summary_page(table, pd.read_csv(job.input.chances), spec))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
