"""The paper's numbers after hierarchical noise, and how much of what is verified is true of the people."""

from pathlib import Path
from typing import Any

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.files import read_yaml
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, log, run
from studies.country.sources import PROTECTED
from studies.gtv.hierarchical_attack import COLUMNS, Attacked
from studies.gtv.settings import HierarchicalNoise


def main(job: Job) -> None:
    domain, study = read_domain(Path(job.input.domain)), job.settings("hierarchical", HierarchicalNoise)
    universe = job.settings("release", ReleaseSettings).universe
    printed, rows = read_yaml(Path(job.input.paper))["numbers"], list[tuple[Any, ...]]()
    files = zip(job.input.blocks, job.input.claims, job.input.private, job.input.microdata, strict=True)
    for (name, settings), (blocks, claims, private, protected) in zip(study.countries.items(), files, strict=True):
        frames = pd.read_parquet(blocks), pd.read_parquet(claims)
        country = Attacked(name, settings, *frames, Path(private), Path(protected))
        rows += country.rows(domain, universe, printed, job.params.seed)
    table = pd.DataFrame(rows, columns=COLUMNS).assign(data=PROTECTED)
    table.to_csv(job.output.table, index=False)
    log.info("%s", table.drop(columns=["data", "paper"]).to_string(index=False))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
