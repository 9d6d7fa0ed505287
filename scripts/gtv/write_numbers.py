"""The numbers of the paper's text, beside ours."""

from pathlib import Path

import pandas as pd

from genverify.core.domain import read_domain
from genverify.core.files import read_yaml
from genverify.core.manifest import data_label
from genverify.papers.gtv.tables.numbers import Evidence, numbers_table, numbers_text
from genverify.run.jobs import Job, run


def main(job: Job) -> None:
    label = data_label(Path(job.input.manifest))
    single = {name: pd.read_parquet(getattr(job.input, name)) for name in ("claims", "blocks", "baselines", "sample")}
    households = {Path(path).parent.name: pd.read_parquet(path) for path in job.input.households}
    answers = {"paper": pd.read_parquet(job.input.answers)}
    names = read_domain(Path(job.input.domain)).domain.names
    evidence = Evidence(**single, households=households, answers=answers, names=names, seed=job.params.seed)
    table = numbers_table(evidence, read_yaml(Path(job.input.paper))["numbers"], label)
    table.to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(numbers_text(table, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
