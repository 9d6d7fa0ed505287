"""How fast ranges from marginals are, and how many are exact within a limit; beside an ordinary integer program per end."""

import resource
from collections.abc import Iterator
from itertools import combinations
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from genverify.core.sums import Sums
from genverify.core.timing import watch
from genverify.papers.cellbounds.marginals import MarginalBounds, bound_marginals, levels_of, marginal_sums
from genverify.papers.cellbounds.multiway import Multiway
from genverify.papers.cellbounds.settings import MarginalCase, MarginalsBenchmark
from genverify.papers.cellbounds.shapes import stand_in
from genverify.solve.recount import integer_point
from genverify.solve.solvers.base import IntegerProgram, Optimal, WorkLimits
from genverify.solve.solvers.choose import make_solver
from genverify.solve.sums.work import Work

OURS, ORDINARY = "ranges with proofs", "ordinary integer program"
DATA = "synthetic tables"
EVEN = 2.0  # levels of nearly the same size: few cells are fixed by zeros, which makes ranges hard


def time_marginals(name: str, case: MarginalCase, settings: MarginalsBenchmark, seed: int) -> Iterator[dict[str, Any]]:
    """One line for the ranges of all cells, and one for the integer program on some of their ends (not on huge tables)."""
    rng = np.random.default_rng(seed)
    full = stand_in(case.levels, case.records, rng, EVEN)
    marginals = [full.marginal(names) for names in combinations(full.names, case.way)]
    base = {"case": name, "data": DATA, "cells": full.counts.size, "marginals": len(marginals), "way": case.way,
            "records": case.records}  # fmt: skip
    started = process_time()
    with watch() as spent:
        found = bound_marginals(marginals, Work(seconds=settings.seconds, cpu=True), full)
    exact, told = int(found.exact.sum()), int(found.uncertified.sum())
    yield {**base, "method": OURS, "cpu_s": process_time() - started, "wall_s": spent.seconds, "peak_mb": _peak(),
           "exact": exact, "uncertified": told, "limit_s": settings.seconds, "remark": ""}  # fmt: skip
    if full.counts.size <= settings.reference_up_to:  # on larger tables the solver does not come to look at its limit
        yield {**base, **_ordinary(marginals, found, settings, rng), "limit_s": settings.reference_seconds}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _ordinary(
    marginals: list[Multiway], found: MarginalBounds, settings: MarginalsBenchmark, rng: np.random.Generator
) -> dict[str, Any]:
    """The integer program that anybody would write, on the two ends of a few cells; seconds are extrapolated to all."""
    sums = marginal_sums(marginals, levels_of(marginals))
    shape = (len(sums.rows), len(sums.cells))
    A = csr_array((sums.weights.astype(np.float64), sums.columns, sums.start), shape=shape)
    cells = rng.choice(len(sums.cells), min(settings.reference_cells, len(sums.cells)), replace=False).tolist()
    started, equal, late = process_time(), 0, 0
    with watch() as spent:
        for cell in cells:
            for sign, end in ((1, found.upper.ravel()[cell]), (-1, -found.lower.ravel()[cell])):
                best = _best(A, sums, cell, sign, settings.reference_seconds)
                late, equal = late + (best is None), equal + (best == end)
    times = len(sums.cells) / len(cells)
    remark = f"extrapolated from {2 * len(cells)} ends: {equal} equal to ours, {late} stopped by the limit"
    return {"method": ORDINARY, "cpu_s": (process_time() - started) * times, "wall_s": spent.seconds * times,
            "peak_mb": _peak(), "exact": None, "uncertified": None, "remark": remark}  # fmt: skip


def _best(A: csr_array, sums: Sums, cell: int, sign: int, seconds: float) -> int | None:
    objective = np.zeros(len(sums.cells))
    objective[cell] = sign
    solver = make_solver("highs", WorkLimits(iterations=10**9, nodes=10**9, seconds=seconds, cpu=True))
    ends = (sums.least.astype(np.float64), sums.most.astype(np.float64))
    answer = solver.solve(IntegerProgram(A, *ends, sums.hi.astype(np.float64), objective))
    point = integer_point(answer.z) if isinstance(answer, Optimal) else None
    return None if point is None or not sums.fits(point) else sign * int(point[cell])
