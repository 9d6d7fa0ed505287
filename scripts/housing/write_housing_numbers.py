"""The numbers that the housing paper prints, beside ours."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label, read_yaml
from genverify.model.tablefiles import stack
from genverify.run.jobs import Job, run
from studies.housing.evaluate import SAMPLING, by_condition, read_property_households
from studies.housing.households import read_household_file
from studies.housing.tables import Evidence, numbers_table, numbers_text


def main(job: Job) -> None:
    label = data_label(Path(job.input.manifest))
    result = {name: by_condition(getattr(job.input, name)) for name in ("judged", "curves", "totals")}
    result["curves"][SAMPLING] = pd.read_parquet(job.input.sampling)
    variability = stack([pd.read_parquet(path) for path in job.input.variability])
    households = read_property_households(Path(job.input.households))
    file = read_household_file(Path(job.input.domain))
    evidence = Evidence(**result, variability=variability, households=households, file=file, simple=job.params.simple)
    printed, computed = read_yaml(Path(job.input.paper))["numbers"], read_yaml(Path(job.input.computed))
    table = numbers_table(evidence, printed, computed, label)
    table.to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(numbers_text(table, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
