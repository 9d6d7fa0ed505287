"""Count the persons that the zeros of each block leave possible, for blocks of several numbers of persons."""

from pathlib import Path

import pandas as pd

from genverify.model.domain import EVERY, read_domain
from genverify.model.release import read_study
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import releases_of
from genverify.model.work import progress
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.country.store import block_sizes, read_microdata
from studies.mechanisms.settings import Zeros
from studies.mechanisms.zeros import count_left, draw_sizes


def main(job: Job) -> None:
    settings, part = job.settings("release", ReleaseSettings), job.settings("zeros", Zeros)
    schema, store = read_study(Path(job.input.domain), settings), Path(job.input.persons)
    keeps = read_domain(Path(job.input.domain)).universe(settings.universe).keeps
    drawn = draw_sizes(block_sizes(store, EVERY), part.persons, part.blocks, job.params.seed, "persons")
    limit = job.settings("program", ProgramSettings).max_types
    releases = list(releases_of(read_microdata(store, blocks=drawn), keeps, schema))
    rows = [{"block": release.block, "n": release.n, **count_left(release, schema.rules, limit)}
            for release in progress(releases, "blocks counted")]  # fmt: skip
    pd.DataFrame(rows).to_parquet(job.output.blocks, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
