"""Moves per core-second of counting, and its peak memory under growing budgets."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from genverify.model.release import read_releases, read_schema
from genverify.run.jobs import Job, run
from genverify.solve.counting.diagram import Budget
from genverify.solve.program import build_program
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.probabilities import spread
from studies.gtv.probability_evaluation import measure_memory, time_counting
from studies.gtv.settings import CountingBenchmark, Probability


def main(job: Job) -> None:
    chosen, max_types = job.settings("counting", CountingBenchmark), job.settings("program", ProgramSettings).max_types
    settings = job.settings("probability", Probability)
    budget = Budget(**settings.budget.model_dump())
    releases = list(read_releases(Path(job.input.counts), read_schema(Path(job.input.schema))))
    releases = list(spread(releases, settings.skip, settings.every))
    programs = [build_program(release, max_types) for release in releases]
    small = [program for program in programs if program.classes <= chosen.classes][: chosen.blocks]
    larger = [program for program in programs if chosen.classes < program.classes <= chosen.larger][: chosen.blocks]
    largest = max(programs, key=lambda program: program.classes)
    budgets = [replace(budget, states=budget.states // part, moves=budget.moves // part) for part in chosen.parts]
    timed = pd.DataFrame([time_counting(part, budget) for part in (small, larger) if part])
    pd.concat([timed, measure_memory(largest.release, max_types, budgets)], ignore_index=True).to_csv(
        job.output.table, index=False, float_format="%.6g"
    )


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
