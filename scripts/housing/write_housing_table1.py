"""Table 1 of the housing paper: block-level precision and recall under three conditions."""

from pathlib import Path

from genverify.model.files import data_label, read_yaml
from genverify.run.jobs import Job, run
from studies.housing.evaluate import by_condition
from studies.housing.tables import block_table, block_text


def main(job: Job) -> None:
    label = data_label(Path(job.input.manifest))
    table = block_table(by_condition(job.input.judged), read_yaml(Path(job.input.paper))["table1"], label)
    table.to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(block_text(table, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
