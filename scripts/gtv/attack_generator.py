"""Attack the sampled blocks of a country: claims, and which of them survive where answers are suppressed."""

from pathlib import Path

import pandas as pd

from genverify.model.release import read_releases, read_schema
from genverify.model.settings import Generate, Verify
from genverify.model.tablefiles import stack
from genverify.model.work import derive_seed, progress
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.generators import attack_block


def main(job: Job) -> None:
    schema, seed = read_schema(Path(job.input.schema)), int(job.wildcards.country)
    settings = job.settings("program", ProgramSettings).proving("The study over generators")
    K, min_k = job.settings("generate", Generate).datasets, job.settings("verify", Verify).min_k
    part, parts = int(job.wildcards.part), job.params.parts
    releases = list(read_releases(Path(job.input.counts), schema))[part::parts]
    claims, blocks = [], []
    for release in progress(releases, "blocks attacked"):
        result, given = attack_block(release, settings, K, min_k, derive_seed(seed, "generate", release.block))
        claims.append(result)
        blocks.append(given)
    stack(claims).to_parquet(job.output.claims, index=False)
    pd.DataFrame(blocks).to_parquet(job.output.blocks, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
