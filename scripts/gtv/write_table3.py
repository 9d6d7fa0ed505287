"""Table 3: sets of k columns that the published tables cross."""

from pathlib import Path

from genverify.model.files import data_label
from genverify.model.release import read_schema
from genverify.model.tablefiles import neutral_frame
from genverify.run.jobs import Job, run
from studies.gtv.tables import table3, table3_text


def main(job: Job) -> None:
    table = table3(read_schema(Path(job.input.schema)))
    neutral_frame(table).to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(table3_text(table, data_label(Path(job.input.manifest))))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
