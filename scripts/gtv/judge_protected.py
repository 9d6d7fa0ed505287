"""Hold the claims that were verified from a protected release against the private blocks."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.settings import ReleaseSettings
from genverify.model.tablefiles import stack
from genverify.run.jobs import Job, log, run
from studies.country.store import read_microdata
from studies.gtv.protected_attack import judge


def main(job: Job) -> None:
    claims, blocks = (
        stack([part for part in map(pd.read_parquet, paths) if len(part)]) for paths in (job.input.claims, job.input.blocks)
    )
    records = read_microdata(Path(job.input.microdata), blocks=set(blocks["block"])).to_pandas()
    keeps = read_domain(Path(job.input.domain)).universe(job.settings("release", ReleaseSettings).universe).keeps
    records = records[keeps.matches(dict(records.items()))].reset_index(drop=True)
    judged = judge(claims, blocks, records)
    judged.to_parquet(job.output.blocks, index=False)
    log.info("%d claims verified from the release, %d of them false", judged["claims"].sum(), judged["false"].sum())


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
