"""Figure 1: verified claims about a small synthetic block, checked against their proofs, drawn on its private table."""

from pathlib import Path

import pandas as pd

from genverify.checker.stored import require_proved
from genverify.model.domain import read_domain
from genverify.model.files import data_label
from genverify.model.release import read_schema
from genverify.model.settings import ReleaseSettings
from genverify.report.figures import save
from genverify.run.jobs import Job, run
from studies.country.store import read_microdata
from studies.gtv.figures import LARGEST, choose_example, plot_fig1
from studies.gtv.tables import require_synthetic


def main(job: Job) -> None:
    require_synthetic(Path(job.input.manifest), "Figure 1")
    schema, source = read_schema(Path(job.input.schema)), Path(job.input.claims)
    keeps = read_domain(Path(job.input.domain)).universe(job.settings("release", ReleaseSettings).universe).keeps
    sample = pd.read_parquet(job.input.sample)
    small = sample.loc[sample["n_households"] <= LARGEST, "block"]
    records = read_microdata(Path(job.input.microdata), blocks=set(small)).to_pandas()
    records = records[keeps.matches(dict(records.items()))]
    example = choose_example(pd.read_parquet(source), records, schema.domain.names)
    batches = zip(map(Path, job.input.counts), map(Path, job.input.proofs), strict=True)
    require_proved(example.claims(schema.domain.names), source, batches, schema)
    save(plot_fig1(example, schema.domain, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
