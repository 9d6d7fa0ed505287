"""Figure 1: verified claims about a small synthetic block, drawn on its private table."""

from pathlib import Path

import pandas as pd

from genverify.domain import read_domain
from genverify.figures.fig1 import LARGEST, check_synthetic, choose_example, plot_fig1
from genverify.figures.style import save
from genverify.jobs import Job, run
from genverify.microdata.manifest import data_label
from genverify.microdata.store import read_microdata
from genverify.release import read_schema


def main(job: Job) -> None:
    check_synthetic(Path(job.input.manifest))
    domain = read_schema(Path(job.input.schema)).domain
    keeps = read_domain(Path(job.input.domain)).universe(job.params.release["universe"]).keeps
    sample = pd.read_parquet(job.input.sample)
    small = sample.loc[sample["n_households"] <= LARGEST, "block"]
    records = read_microdata(Path(job.input.microdata), blocks=set(small)).to_pandas()
    records = records[keeps.matches(dict(records.items()))]
    example = choose_example(pd.read_parquet(job.input.claims), records, domain.names)
    save(plot_fig1(example, domain, data_label(Path(job.input.manifest))), Path(job.output.pdf), Path(job.output.png))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
