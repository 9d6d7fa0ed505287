"""How likely, under each prior, the claims are that are verified from protected counts."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.files import data_label
from genverify.model.settings import ReleaseSettings
from genverify.model.tablefiles import stack
from genverify.run.jobs import Job, log, run
from studies.country.store import nation_types
from studies.gtv.protected_attack import surprise


def main(job: Job) -> None:
    file, microdata = read_domain(Path(job.input.domain)), Path(job.input.microdata)
    keeps = file.universe(job.settings("release", ReleaseSettings).universe).keeps
    blocks = pd.read_parquet(job.input.blocks, columns=["block", "n_households"])
    nation = nation_types(microdata, file.domain, keeps)
    rows, batches = [], len(job.input.claims) // len(job.params.protections)
    for index, name in enumerate(job.params.protections):
        parts = [pd.read_parquet(path) for path in job.input.claims[index * batches : (index + 1) * batches]]
        claims = stack([part for part in parts if len(part)] or parts[:1])
        rows.append(surprise(claims, blocks, microdata, file.domain, keeps, nation).assign(protection=name))
    result = stack([part for part in rows if len(part)] or rows[:1])
    result.insert(0, "protection", result.pop("protection"))
    result.assign(data=data_label(Path(job.input.manifest))).to_csv(job.output.table, index=False, float_format="%.6g")
    log.info("%s", result[["protection", "k", "claims", "tract_median", "state_median"]].round(4).to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
