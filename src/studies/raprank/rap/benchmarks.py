"""How long RAP takes, compiling apart, and how near it comes: on marginals of many rows, and on small blocks."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.arrays import Ints
from genverify.model.domain import Domain, Records
from genverify.model.release import Release
from genverify.model.work import derive_seed, watch
from studies.raprank.configuration import marginal_counts, marginal_queries
from studies.raprank.rap.reconstruct import reconstruct
from studies.raprank.settings import RapBenchmark, RapSettings

NEVER = 2**31 - 1  # the largest 32-bit number: no run ends early


def time_marginals(records: Records, domain: Domain, rap: RapSettings, part: RapBenchmark, seed: int) -> dict[str, Any]:
    """One run on all marginals of some records drawn at random, with a given number of steps."""
    available = len(records[domain.names[0]])
    rng = np.random.default_rng(derive_seed(seed, "benchmark_rap"))
    rows = min(part.rows, available)
    drawn = np.sort(rng.choice(available, rows, replace=False))
    queries = marginal_queries(domain, part.ways)
    counts = marginal_counts({name: records[name][drawn] for name in domain.names}, domain, part.ways)
    settings = rap.but(steps=part.steps, share=part.share, tolerance=0.0, patience=NEVER)
    case = f"{part.ways}-way marginals"
    return _time(case, domain, [query.predicate for query in queries], counts, rows, [seed], settings)


def time_blocks(releases: Sequence[Release], rap: RapSettings, part: RapBenchmark, seed: int) -> list[dict[str, Any]]:
    """K runs on each of a few blocks with the settings of the study: the first one, and as many as the study has."""
    rows = []
    for release in releases:
        seeds = [derive_seed(seed, "benchmark_rap", release.block, str(run)) for run in range(part.runs)]
        predicates = [query.predicate for query in release.queries]
        rows.append(_time("one block", release.schema.domain, predicates, release.lo, release.n, seeds, rap))
    return [rows[0], _many(rows, part.of_blocks)]


def _time(
    case: str, domain: Domain, predicates: Sequence[Any], counts: Ints, rows: int, seeds: Sequence[int],
    settings: RapSettings,
) -> dict[str, Any]:  # fmt: skip
    """Seconds (wall and processor) and errors of a reconstruction; one without any step shows what compiling adds."""
    with watch() as first:
        reconstruct(domain, predicates, counts, rows, seeds, settings.but(steps=0))
    with watch() as again:
        reconstruct(domain, predicates, counts, rows, seeds, settings.but(steps=0))
    started = time.process_time()
    with watch() as spent:
        result = reconstruct(domain, predicates, counts, rows, seeds, settings)
    cpu = time.process_time() - started
    row: dict[str, Any] = {"case": case, "blocks": 1, "rows": rows, "queries": len(predicates), "runs": len(seeds)}
    row |= {"steps": float(result.steps.mean()), "compile_s": first.seconds - again.seconds}
    row |= {"seconds": spent.seconds, "cpu_seconds": cpu}
    row |= {"seconds_per_run": spent.seconds / len(seeds), "cpu_seconds_per_run": cpu / len(seeds)}
    for name, errors in (("relaxed", result.relaxed_errors), ("rounded", result.rounded_errors)):
        row[f"{name}_error"] = float(np.sqrt((errors**2).mean()))
        row[f"{name}_rmse_count"] = row[f"{name}_error"] * np.sqrt(rows / len(predicates))
    return row | {"note": ""}


def _many(rows: Sequence[Mapping[str, Any]], blocks: int) -> dict[str, Any]:
    averaged = ("rows", "queries", "steps", "seconds_per_run", "cpu_seconds_per_run")
    mean = {name: float(np.mean([row[name] for row in rows])) for name in averaged}
    errors = [name for name in rows[0] if "error" in name or "rmse" in name]
    rmse = {name: float(np.sqrt(np.mean([row[name] ** 2 for row in rows]))) for name in errors}
    spent = {name: float(np.mean([row[name] for row in rows])) * blocks for name in ("seconds", "cpu_seconds")}
    note = f"seconds extrapolated from {len(rows)} blocks, over which rows, steps and errors are averaged"
    return {**rows[0], **mean, **rmse, **spent, "case": f"{blocks} blocks", "blocks": blocks, "note": note}


def speed_table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The cases as a table, to four significant digits."""
    frame = pd.DataFrame(rows)
    for name in frame.select_dtypes("float"):
        frame[name] = [float(f"{value:.4g}") for value in frame[name]]
    return frame
