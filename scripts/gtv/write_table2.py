"""Table 2: the published table P20 of one sampled block."""

from pathlib import Path

from genverify.model.files import data_label
from genverify.model.release import read_releases, read_schema
from genverify.model.tablefiles import neutral_frame
from genverify.run.jobs import Job, run
from studies.gtv.tables import table2, table2_text


def main(job: Job) -> None:
    releases = read_releases(Path(job.input.counts), read_schema(Path(job.input.schema)))
    largest = max(releases, key=lambda release: (release.n, release.block))
    label = data_label(Path(job.input.manifest))
    table = table2(largest, "P20", label)
    neutral_frame(table).to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(table2_text(table, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
