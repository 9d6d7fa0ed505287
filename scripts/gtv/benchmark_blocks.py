"""Time the attack on blocks of every size of the country, by this version and by an earlier one beside it."""

from pathlib import Path

import numpy as np
import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import read_study
from genverify.model.settings import Generate, ReleaseSettings, Verify
from genverify.model.tabulate import releases_of
from genverify.model.work import derive_seed
from genverify.run.jobs import Job, log, run
from genverify.solve.program_settings import ProgramSettings
from studies.country.store import read_microdata
from studies.gtv.benchmarks import blocks_frame, cost_rows, costs, country_rows, draw_classes, shares
from studies.gtv.settings import BlocksBenchmark


def main(job: Job) -> None:
    settings, part = job.settings("release", ReleaseSettings), job.settings("blocks", BlocksBenchmark)
    keeps = read_domain(Path(job.input.domain)).universe(settings.universe).keeps
    schema, sizes = read_study(Path(job.input.domain), settings), pd.read_parquet(job.input.sizes)
    seed = derive_seed(job.params.seed, "blocks")
    how = (
        job.settings("program", ProgramSettings),
        job.settings("generate", Generate).datasets,
        job.settings("verify", Verify).min_k,
        seed,
    )
    versions = {"before": Path(part.before)} if part.before else {}
    rows = []
    for class_, blocks in draw_classes(sizes, part.per_class, np.random.default_rng(seed)).items():
        releases = list(releases_of(read_microdata(Path(job.input.microdata), blocks=blocks), keeps, schema))
        for version, folder in {**versions, "now": None}.items():
            rows.append(cost_rows(version, class_, costs(releases, how, folder)))
            log.info("%s", rows[-1])
    blocks_frame(list(country_rows(rows, shares(sizes), part.inhabited))).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
