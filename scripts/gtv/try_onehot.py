"""Decide some claims with the paper's own program, with and without zeros, under a limit."""

from pathlib import Path

import pandas as pd

from genverify.model.release import read_releases, read_schema
from genverify.model.work import derive_seed
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.settings import LimitedOneHot
from studies.gtv.withheld_zeros import choose_claims, claims_by_block, decide_both


def main(job: Job) -> None:
    schema, how = read_schema(Path(job.input.schema)), job.settings("onehot", LimitedOneHot)
    settings = job.settings("program", ProgramSettings)
    claims = claims_by_block(pd.read_parquet(job.input.households), schema.domain.names)
    releases = list(read_releases(Path(job.input.counts), schema))
    seed = derive_seed(job.params.seed, "zeros", "onehot")
    chosen = list(choose_claims(releases, claims, settings, how.claims_per_k, seed))
    decide_both(chosen, settings.solver, how.nodes, how.seconds).to_csv(job.output.verdicts, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
