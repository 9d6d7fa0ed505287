"""Publish the counts of some blocks of the study under one protection."""

import json
from pathlib import Path

import pandas as pd

from genverify.model.release import read_study, write_schema
from genverify.model.settings import ReleaseSettings
from genverify.run.jobs import Job, log, run
from genverify.solve.program_settings import ProgramSettings
from studies.country.sample import chosen_blocks
from studies.gtv.protected_attack import Source, protect_counts
from studies.gtv.settings import ChosenBlocks, Protection, SwapColumns


def main(job: Job) -> None:
    domain, release = Path(job.input.domain), job.settings("release", ReleaseSettings)
    how, swapping = job.settings("protection", Protection), job.settings("swapping", SwapColumns)
    chosen, seed = job.settings("blocks", ChosenBlocks), job.params.seed
    blocks = chosen_blocks(pd.read_parquet(job.input.blocks), chosen.design, chosen.number, seed, "protected")
    source = Source(Path(job.input.microdata), domain, release, blocks)
    max_types = job.settings("program", ProgramSettings).max_types
    made = protect_counts(source, how, swapping, max_types, seed, job.wildcards.protection)
    write_schema(read_study(domain, release), Path(job.output.schema))
    write_schema(made.possible, Path(job.output.possible))
    for path, counts in zip(job.output.counts, made.batches(len(job.output.counts)), strict=True):
        counts.to_parquet(path, index=False)
    Path(job.output.how).write_text(json.dumps(made.how, indent=1) + "\n")
    log.info("%d published counts: %s", len(made.counts), made.how)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
