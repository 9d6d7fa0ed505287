"""Time the compact program against the one-hot program on country-median blocks."""

from pathlib import Path

import pandas as pd

from genverify.model.release import read_releases, read_schema
from genverify.model.settings import Generate, Verify
from genverify.model.work import derive_seed
from genverify.run.jobs import Job, log, run
from genverify.solve.program_settings import ProgramSettings
from studies.country.sample import draw_blocks
from studies.gtv.benchmarks import compare
from studies.gtv.settings import SpeedBenchmark

DESIGN = "country_median"


def main(job: Job) -> None:
    sample, part = pd.read_parquet(job.input.sample), job.settings("speed", SpeedBenchmark)
    chosen = draw_blocks(sample, DESIGN, part.blocks, job.params.seed, "speed")
    schema, rows = read_schema(Path(job.input.schema)), []
    program = job.settings("program", ProgramSettings)
    K, min_k = job.settings("generate", Generate).datasets, job.settings("verify", Verify).min_k
    for release in (release for path in job.input.counts for release in read_releases(Path(path), schema)):
        if release.block in chosen:
            seed = derive_seed(job.params.seed, "generate", release.block)
            rows.append(compare(release, program, K, min_k, seed, part))
            log.info("%d of %d blocks: %s", len(rows), len(chosen), rows[-1])
    pd.DataFrame(rows).sort_values("block").to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
