"""Table 5: households represented among the verified singleton claims, by variant."""

from pathlib import Path

import pandas as pd

from genverify.model.files import data_label, read_yaml
from genverify.run.jobs import Job, run
from studies.gtv.tables import ablation_table, ablation_text


def main(job: Job) -> None:
    label = data_label(Path(job.input.manifest))
    paper = read_yaml(Path(job.input.paper))["table5"]
    if design := job.wildcards.only.removeprefix("_"):
        paper = paper if design == paper["design"] else {"design": design, "variants": {}}
    counts = {Path(path).parent.name: pd.read_parquet(path) for path in job.input.households}
    answers = {Path(path).parent.name: pd.read_parquet(path) for path in job.input.answers}
    table = ablation_table(counts, answers, paper, job.params.seed, label)
    table.to_csv(job.output.table, index=False)
    missing = [name for name in paper["variants"] if name not in counts]
    Path(job.output.readable).write_text(ablation_text(table, missing, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
