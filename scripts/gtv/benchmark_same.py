"""Attack the same blocks with this version and with an earlier one beside it, and compare what they verify."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from genverify.attack.settings import Generate, Verify
from genverify.core.domain import read_domain
from genverify.core.errors import ConfigError
from genverify.core.predicates import Predicate
from genverify.core.release import Release, read_releases, read_schema, read_study
from genverify.core.seeds import derive_seed
from genverify.core.settings import ReleaseSettings
from genverify.core.tabulate import releases_of
from genverify.microdata.store import read_microdata
from genverify.papers.gtv.benchmark.blockcost import costs
from genverify.papers.gtv.benchmark.same import same_frame, same_row
from genverify.papers.gtv.benchmark.scaling import draw_tract, merge_blocks
from genverify.papers.gtv.benchmark.settings import BlocksBenchmark, SameBenchmark
from genverify.run.jobs import Job, log, run
from genverify.solve.settings import ProgramSettings


def main(job: Job) -> None:
    before = job.settings("blocks", BlocksBenchmark).before
    if before is None:
        raise ConfigError("benchmark.blocks.before: name the folder of an earlier version; docs/speed.md shows how")
    how = (
        job.settings("program", ProgramSettings),
        job.settings("generate", Generate).datasets,
        job.settings("verify", Verify).min_k,
        derive_seed(job.params.seed, "same"),
    )
    rows = []
    for case, releases in cases(job):
        rows.append(same_row(case, costs(releases, how, Path(before)), costs(releases, how, None)))
        log.info("%s", rows[-1])
    same_frame(rows).to_csv(job.output.table, index=False)


def cases(job: Job) -> Iterator[tuple[str, list[Release]]]:
    """The blocks of the study, and blocks of so many households, put together from those of a tract."""
    settings, own = job.settings("release", ReleaseSettings), job.settings("same", SameBenchmark)
    if own.study:
        schema = read_schema(Path(job.input.schema))
        yield "study", [release for path in job.input.counts for release in read_releases(Path(path), schema)]
    keeps = read_domain(Path(job.input.domain)).universe(settings.universe).keeps
    schema, sizes = read_study(Path(job.input.domain), settings), pd.read_parquet(job.input.sizes)
    for case in own.cases:
        made = [merged(job, sizes, keeps, case.households, number) for number in range(case.blocks)]
        yield f"{case.households} households", [release for block in made for release in releases_of(block, keeps, schema)]


def merged(job: Job, sizes: pd.DataFrame, keeps: Predicate, households: int, number: int) -> pa.Table:
    rng = np.random.default_rng(derive_seed(job.params.seed, "same", str(households), str(number)))
    blocks = draw_tract(sizes, households, rng)
    records = read_microdata(Path(job.input.microdata), blocks=blocks)
    return merge_blocks(records, blocks, keeps, households, f"{blocks[0][:11]}-{households}-{number}")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
