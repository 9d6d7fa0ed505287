"""Table 3: sets of k columns that the published tables cross."""

from pathlib import Path

from genverify.jobs import Job, run
from genverify.release import read_schema
from genverify.tables_out.queries import table3


def main(job: Job) -> None:
    table3(read_schema(Path(job.input.schema))).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
