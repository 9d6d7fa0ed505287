"""Hold estimates against exact probabilities, on blocks that can be counted."""

from pathlib import Path

import pandas as pd

from genverify.attack.probability import Effort
from genverify.model.claims import Codes
from genverify.model.release import Release, read_releases, read_schema
from genverify.model.settings import Verify
from genverify.model.tabulate import read_datasets
from genverify.model.work import progress
from genverify.run.jobs import Job, run
from genverify.solve.counting.diagram import Budget
from genverify.solve.program import build_program
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.probabilities import SINGLED, Areas, chosen_smoothing, spread
from studies.gtv.probability_evaluation import compare_estimates, coverage_table
from studies.gtv.settings import EstimateBenchmark, Probability


def main(job: Job) -> None:
    schema, part = read_schema(Path(job.input.schema)), job.settings("estimate", EstimateBenchmark)
    settings, min_k = job.settings("probability", Probability), job.settings("verify", Verify).min_k
    max_types = job.settings("program", ProgramSettings).max_types
    areas = Areas.of(pd.read_parquet(job.input.areas), schema.domain, chosen_smoothing(pd.read_csv(job.input.smoothing)))
    effort, budget = Effort(**settings.estimate.model_dump()), Budget(**part.budget.model_dump())
    releases: list[Release] = []
    starts: dict[str, Codes] = {}
    for counts, datasets in zip(job.input.counts, job.input.datasets, strict=True):
        chosen = spread(list(read_releases(Path(counts), schema)), settings.skip, settings.every)
        starts |= read_datasets(Path(datasets), chosen)
        releases += chosen
    rows = []
    for release in progress(releases[: part.blocks], "blocks estimated"):
        priors = {name: prior for name, prior in areas.priors(release.block).items() if name in SINGLED}
        program = build_program(release, max_types)
        rows += compare_estimates(
            program, priors, starts[release.block], effort, budget, min_k, settings.claims, job.params.seed
        )
    blocks = pd.DataFrame(rows)
    blocks.to_csv(job.output.blocks, index=False, float_format="%.6g")
    coverage_table(blocks).to_csv(job.output.table, index=False, float_format="%.6g")


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
