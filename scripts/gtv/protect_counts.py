"""Publish the counts of some blocks of the study under one protection."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa

from genverify.core.domain import read_domain
from genverify.core.release import read_study, write_schema
from genverify.core.settings import ReleaseSettings
from genverify.microdata.sample import batch_of, chosen_blocks
from genverify.papers.gtv.protected.kinds import possible_schema
from genverify.papers.gtv.protected.measure import describe, make_noise
from genverify.papers.gtv.protected.publish import Swapping, publish, read_blocks
from genverify.papers.gtv.protected.settings import Protection, SwapColumns
from genverify.papers.gtv.settings import ChosenBlocks
from genverify.run.jobs import Job, log, run
from genverify.solve.settings import ProgramSettings


def main(job: Job) -> None:
    domain, release, how = (
        Path(job.input.domain),
        job.settings("release", ReleaseSettings),
        job.settings("protection", Protection),
    )
    possible = possible_schema(domain, release)
    write_schema(read_study(domain, release), Path(job.output.schema))
    write_schema(possible, Path(job.output.possible))
    noise = make_noise(possible, how.noise, job.settings("program", ProgramSettings).max_types)
    counts = publish(
        _records(job, possible.domain.names, how.swap), possible, noise, job.params.seed, job.wildcards.protection
    )
    batches = counts["block"].map(batch_of(counts["block"], len(job.output.counts)))
    for number, path in enumerate(job.output.counts):
        counts[batches == number].to_parquet(path, index=False)
    Path(job.output.how).write_text(json.dumps(describe(how, noise), indent=1) + "\n")
    log.info("%d published counts: %s", len(counts), describe(how, noise))


def _records(job: Job, columns: tuple[str, ...], share: float) -> pa.Table:
    """The records of the chosen blocks, after swapping."""
    chosen, swapping = job.settings("blocks", ChosenBlocks), job.settings("swapping", SwapColumns)
    sample = pd.read_parquet(job.input.blocks)
    blocks = chosen_blocks(sample, chosen.design, chosen.number, job.params.seed, "protected")
    keeps = read_domain(Path(job.input.domain)).universe(job.settings("release", ReleaseSettings).universe).keeps
    how = Swapping(share, swapping.key, swapping.size)
    return read_blocks(Path(job.input.microdata), blocks, keeps, columns, how, job.params.seed)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
