"""Match curves of the rankings and of every baseline, area by area."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from genverify.model.domain import read_domain
from genverify.model.release import read_schema
from genverify.run.jobs import Job, log, run
from studies.raprank.rank import Evidence, judge_areas
from studies.raprank.settings import ResolvedExperiment


def main(job: Job) -> None:
    domain_file, experiment = read_domain(Path(job.input.domain)), job.part("experiment", ResolvedExperiment)
    evidence = Evidence(
        areas=pd.read_parquet(job.input.areas),
        private=pd.read_parquet(job.input.private),
        holdout=pd.read_parquet(job.input.holdout),
        ranked=by_start(job.input.ranked, experiment.starts),
        published=read_schema(Path(job.input.schema)).domain,
        distinguished=bool(experiment.block_tables),
    )
    keeps = domain_file.universe(experiment.keeps).keeps
    curves = judge_areas(evidence, Path(job.input.microdata), domain_file.domain, keeps, job.params.grid, job.params.seed)
    curves.to_parquet(job.output.curves, index=False)
    log.info("%d areas, sources: %s", curves["area"].nunique(), ", ".join(curves["source"].unique()))


def by_start(paths: list[str], starts: Sequence[str]) -> dict[str, pd.DataFrame]:
    """The ranked rows of each start: the folder of a file names it."""
    return {start: pd.concat([pd.read_parquet(p) for p in paths if Path(p).parent.name == start]) for start in starts}


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
