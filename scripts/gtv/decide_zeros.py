"""Try the explanations that are about one kind of records: which claims are still verified when answers are suppressed."""

from pathlib import Path

import pandas as pd

from genverify.model.release import read_releases, read_schema
from genverify.model.settings import validate
from genverify.run.jobs import Job, run
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.settings import Explanation
from studies.gtv.withheld_zeros import claims_by_block, named_gap, try_gaps


def main(job: Job) -> None:
    schema = read_schema(Path(job.input.schema))
    claims = claims_by_block(pd.read_parquet(job.input.households), schema.domain.names)
    explanations = {name: validate(Explanation, text, name) for name, text in job.params.explanations.items()}
    gaps = {
        name: named_gap(schema, explanation.missing, f"config/zeros.yaml: zeros.explanations.{name}.missing")
        for name, explanation in explanations.items()
        if explanation.records == job.wildcards.records
    }
    releases = list(read_releases(Path(job.input.counts), schema))
    try_gaps(gaps, releases, claims, job.settings("program", ProgramSettings)).to_parquet(job.output.decided, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
