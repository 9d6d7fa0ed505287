"""Table 6: the most common combinations of columns among the verified singleton claims."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.files import read_yaml
from genverify.model.tablefiles import neutral_frame
from genverify.run.jobs import Job, run
from studies.gtv.summary import is_variant, label_of, of_design
from studies.gtv.tables import column_table, column_text


def main(job: Job) -> None:
    label = label_of(Path(job.input.manifest), job.wildcards.folder)
    as_printed = not is_variant(job.wildcards.folder) and not job.wildcards.only  # the paper's are of both designs together
    paper = read_yaml(Path(job.input.paper))["table6"] if as_printed else {}
    names = read_domain(Path(job.input.domain)).domain.names
    both = pd.read_parquet(job.input.claims), pd.read_parquet(job.input.sample)
    claims, sample = (of_design(frame, job.wildcards.only) for frame in both)
    table = column_table(claims, sample, names, paper, job.params.seed, label)
    neutral_frame(table).to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(column_text(table, names, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
