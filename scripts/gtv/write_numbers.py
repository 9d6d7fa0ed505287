"""The numbers of the paper's text, beside ours."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.files import data_label, read_yaml
from genverify.run.jobs import Job, run
from studies.gtv.numbers import Evidence, numbers_table, numbers_text


def main(job: Job) -> None:
    label = data_label(Path(job.input.manifest))
    single = {name: pd.read_parquet(getattr(job.input, name)) for name in ("claims", "blocks", "baselines", "sample")}
    households = {Path(path).parent.name: pd.read_parquet(path) for path in job.input.households}
    answers = {"paper": pd.read_parquet(job.input.answers)}
    names = read_domain(Path(job.input.domain)).domain.names
    evidence = Evidence(**single, households=households, answers=answers, names=names, seed=job.params.seed)
    printed, reasons = read_yaml(Path(job.input.paper))["numbers"], read_yaml(Path(job.input.reasons))
    table = numbers_table(evidence, printed, reasons, label)
    table.to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(numbers_text(table, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
