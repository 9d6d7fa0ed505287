"""Table 1: verified singleton claims of synthetic blocks in plain English, each checked against its proof."""

from pathlib import Path

import pandas as pd

from genverify.attack.explain import read_phrases
from genverify.checker.stored import require_proved
from genverify.model.domain import read_domain
from genverify.model.files import data_label
from genverify.model.release import read_schema
from genverify.model.tablefiles import neutral_frame
from genverify.run.jobs import Job, run
from studies.gtv.tables import choose_examples, require_synthetic, table1, table1_text


def main(job: Job) -> None:
    require_synthetic(Path(job.input.manifest), "Table 1")
    label = data_label(Path(job.input.manifest))
    domain = read_domain(Path(job.input.domain)).domain
    phrases, source = read_phrases(Path(job.input.phrases), domain), Path(job.input.claims)
    chosen = choose_examples(pd.read_parquet(source), phrases.vary)
    batches = zip(map(Path, job.input.counts), map(Path, job.input.proofs), strict=True)
    require_proved(chosen, source, batches, read_schema(Path(job.input.schema)))
    table = table1(chosen, domain, phrases, label)
    neutral_frame(table).to_csv(job.output.table, index=False)
    Path(job.output.readable).write_text(table1_text(table, label))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
