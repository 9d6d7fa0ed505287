"""Count the records that the zeros of each block leave, for the sampled blocks and others of every size."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import read_study
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import releases_of
from genverify.model.work import progress
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.country.store import read_microdata
from studies.mechanisms.settings import Zeros
from studies.mechanisms.zeros import count_left, draw_sizes


def main(job: Job) -> None:
    settings, part = job.settings("release", ReleaseSettings), job.settings("zeros", Zeros)
    keeps = read_domain(Path(job.input.domain)).universe(settings.universe).keeps
    plain, known = (read_study(Path(job.input.domain), settings.but(structural_zeros=zeros)) for zeros in (False, True))
    drawn = draw_sizes(pd.read_parquet(job.input.sizes), part.households, part.blocks, job.params.seed)
    blocks = sorted({*drawn, *pd.read_parquet(job.input.sample)["block"]})
    releases = list(releases_of(read_microdata(Path(job.input.microdata), blocks=blocks), keeps, plain))
    limit = job.settings("program", ProgramSettings).max_types
    rows = [{"block": release.block, "n": release.n, **count_left(release, known.rules, limit)}
            for release in progress(releases, "blocks counted")]  # fmt: skip
    pd.DataFrame(rows).to_parquet(job.output.blocks, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
