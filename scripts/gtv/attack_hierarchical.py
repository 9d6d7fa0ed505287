"""Attack blocks of a protected country as if its counts were the truth; every proof is checked."""

from pathlib import Path

import pandas as pd

from genverify.model.release import read_releases, read_schema
from genverify.model.settings import Generate, Verify
from genverify.model.tablefiles import stack
from genverify.model.work import derive_seed, progress
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.hierarchical_attack import attack_exact


def main(job: Job) -> None:
    schema, settings = read_schema(Path(job.input.schema)), job.settings("program", ProgramSettings)
    K, min_k = job.settings("generate", Generate).datasets, job.settings("verify", Verify).min_k
    claims, blocks = [], []
    for release in progress(list(read_releases(Path(job.input.counts), schema)), "blocks attacked"):
        seed = derive_seed(job.params.seed, "generate", release.block)
        verified, row = attack_exact(release, settings, K, min_k, seed)
        claims += verified
        blocks.append(row)
    stack(claims).to_parquet(job.output.claims, index=False)
    pd.DataFrame(blocks).to_parquet(job.output.blocks, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
