"""Time the attack on blocks of growing size, each case in a process of its own."""

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
from studies.gtv.benchmarks import attack_stages, draw_tract, measure, merge_blocks, scaling_frame, scaling_row
from studies.gtv.settings import ScalingBenchmark


def main(job: Job) -> None:
    settings, part = job.settings("release", ReleaseSettings), job.settings("scaling", ScalingBenchmark)
    keeps = read_domain(Path(job.input.domain)).universe(settings.universe).keeps
    schemas = [read_study(Path(job.input.domain), settings.but(structural_zeros=known)) for known in (False, True)]
    how = (
        job.settings("program", ProgramSettings),
        job.settings("generate", Generate).datasets,
        job.settings("verify", Verify).min_k,
    )
    sizes, rows = pd.read_parquet(job.input.sizes), []
    for n, repeat in [(n, repeat) for n in part.households for repeat in range(part.repeats)]:
        seed = derive_seed(job.params.seed, "scaling", str(n), str(repeat))
        blocks = draw_tract(sizes, n, np.random.default_rng(seed))
        records = read_microdata(Path(job.input.microdata), blocks=blocks)
        merged = merge_blocks(records, blocks, keeps, n, f"{blocks[0][:11]}-{n}-{repeat}")
        for structural, schema in enumerate(schemas):
            (release,) = releases_of(merged, keeps, schema)
            measured = measure(attack_stages, release, *how, seed, seconds=part.seconds, memory_mb=part.memory_mb)
            rows.append(scaling_row(n, bool(structural), repeat, measured))
            log.info("%s", rows[-1])
    scaling_frame(rows).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
