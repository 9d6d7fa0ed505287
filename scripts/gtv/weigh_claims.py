"""The probability of claims and rows of a batch of blocks under every prior, compared with the proofs."""

from pathlib import Path

import pandas as pd

from genverify.model.release import read_releases, read_schema
from genverify.model.settings import Verify
from genverify.model.tablefiles import stack
from genverify.model.tabulate import read_datasets
from genverify.model.work import derive_seed, progress
from genverify.run.jobs import Job, run
from genverify.solve.program import build_program
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.probabilities import Areas, chosen_smoothing, known_of, spread, weigh_block
from studies.gtv.settings import Probability


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    settings, min_k = job.settings("probability", Probability), job.settings("verify", Verify).min_k
    max_types = job.settings("program", ProgramSettings).max_types
    smoothing = chosen_smoothing(pd.read_csv(job.input.smoothing))
    areas = Areas.of(pd.read_parquet(job.input.areas), schema.domain, smoothing)
    releases = spread(list(read_releases(Path(job.input.counts), schema)), settings.skip, settings.every)
    known = known_of(
        read_datasets(Path(job.input.datasets), releases), Path(job.input.claims), Path(job.input.decided), schema
    )
    result = []
    for release in progress(releases, "blocks weighed"):
        seed = derive_seed(job.params.seed, "probability", release.block)
        program = build_program(release, max_types)
        result.append(weigh_block(program, known[release.block], areas.priors(release.block), settings, min_k, seed))
    stack([claims for claims, _, _ in result]).to_parquet(job.output.claims, index=False)
    stack([rows for _, rows, _ in result]).to_parquet(job.output.rows, index=False)
    pd.DataFrame([block for _, _, block in result]).to_parquet(job.output.blocks, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
