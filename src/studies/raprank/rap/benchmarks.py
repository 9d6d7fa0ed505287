"""How long RAP takes, compiling apart, and how near it comes: on marginals of many rows, and on small blocks."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from genverify.model.arrays import Ints
from genverify.model.domain import Domain, Records
from genverify.model.release import Release
from genverify.model.tabulate import tabulate
from genverify.model.work import derive_seed
from studies.raprank.configuration import marginal_queries
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
    counts = tabulate({name: records[name][drawn] for name in domain.names}, np.array([0]), domain, queries)[0]
    settings = rap.but(steps=part.steps, share=part.share, tolerance=0.0, patience=NEVER)
    case = f"{part.ways}-way marginals"
    return _time(case, domain, [query.predicate for query in queries], counts, rows, [seed], settings)


def time_blocks(releases: Sequence[Release], rap: RapSettings, part: RapBenchmark, seed: int) -> list[dict[str, Any]]:
    """K runs on each of a few blocks with the settings of the study."""
    rows = []
    for release in releases:
        seeds = [derive_seed(seed, "benchmark_rap", release.block, str(run)) for run in range(part.runs)]
        predicates = [query.predicate for query in release.queries]
        rows.append(_time(f"block {release.block}", release.schema.domain, predicates, release.lo, release.n, seeds, rap))
    return rows


def _time(
    case: str, domain: Domain, predicates: Sequence[Any], counts: Ints, rows: int, seeds: Sequence[int],
    settings: RapSettings,
) -> dict[str, Any]:  # fmt: skip
    """Processor seconds and errors of a reconstruction; the first of two without any step shows what compiling adds."""
    spent = [time.process_time()]
    for steps in (0, 0, settings.steps):
        result = reconstruct(domain, predicates, counts, rows, seeds, settings.but(steps=steps))
        spent.append(time.process_time())
    first, again, cpu = np.diff(spent)
    row: dict[str, Any] = {"case": case, "rows": rows, "queries": len(predicates), "runs": len(seeds)}
    row |= {"steps": float(result.steps.mean()), "compile_s": first - again, "cpu_seconds": cpu}
    for name, errors in (("relaxed", result.relaxed_errors), ("rounded", result.rounded_errors)):
        row[f"{name}_error"] = float(np.sqrt((errors**2).mean()))
        row[f"{name}_rmse_count"] = row[f"{name}_error"] * np.sqrt(rows / len(predicates))
    return row
