"""Every condition of the housing study: blocks flagged, households found, and what chance gives."""

from pathlib import Path

from genverify.model.files import data_label
from genverify.run.jobs import Job, run
from studies.housing.evaluate import by_condition
from studies.housing.settings import Condition
from studies.housing.tables import condition_table, condition_text


def main(job: Job) -> None:
    label = data_label(Path(job.input.manifest))
    result = {name: by_condition(getattr(job.input, name)) for name in ("judged", "curves", "totals")}
    conditions = {name: Condition(**condition) for name, condition in job.params.conditions.items()}
    table = condition_table(**result, conditions=conditions, label=label)
    table.to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(condition_text(table, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
