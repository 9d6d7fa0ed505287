"""Search for lines whose absence would explain the paper's row, and try the best sets on all blocks."""

from pathlib import Path

import pandas as pd

from genverify.model.files import read_yaml
from genverify.model.release import read_releases, read_schema
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.settings import GapSearch
from studies.gtv.withheld_zeros import (
    SEARCHED,
    Search,
    TrialBlocks,
    claims_by_block,
    paper_losses,
    possible_gaps,
    steps_frame,
    try_gaps,
)


def main(job: Job) -> None:
    schema, how = read_schema(Path(job.input.schema)), job.settings("search", GapSearch)
    settings = job.settings("program", ProgramSettings)
    claims = claims_by_block(pd.read_parquet(job.input.households), schema.domain.names)
    releases = list(read_releases(Path(job.input.counts), schema))
    paper = paper_losses(read_yaml(Path(job.input.paper))["table5"]["variants"], "no_zeros")
    lab = TrialBlocks(releases[: how.blocks], claims, settings, check=False)
    result = list(Search(lab, paper, len(schema.queries), how.rounds).steps(possible_gaps(schema), how.size))
    steps_frame([step for ranked in result for step in ranked[: how.shown]]).to_csv(job.output.steps, index=False)
    best = {f"{SEARCHED}{ranked[0].size} missing": ranked[0].gap for ranked in result}
    rows = ("paper", "no_zeros")
    try_gaps(best, releases, claims, settings, rows).to_parquet(job.output.decided, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
