"""How fast cell bounds are: random tables, exact and rounded conditionals, against the integer program (1)-(5)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import eq
from time import process_time
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Ints
from genverify.core.timing import watch
from genverify.papers.cellbounds.conditional import Conditionals, conditionals_of_counts
from genverify.papers.cellbounds.exact import CellBounds, bound_cells
from genverify.papers.cellbounds.reference import reference_multipliers, reference_range
from genverify.papers.cellbounds.rounded import bound_rounded, rounded_of_counts
from genverify.papers.cellbounds.rounding import Rounding
from genverify.papers.cellbounds.settings import CellboundsBenchmark
from genverify.solve.solvers.base import WorkLimits
from genverify.solve.solvers.choose import make_solver

Ends = tuple[int, int]
Spent = tuple[float, float]
T = TypeVar("T")
KINDS = ("sparse", "no_ones")
EXACT, CELL_PROGRAM, ROW_PROGRAM = "exact", "integer program (1)-(5)", "knapsack (6)-(8)"
SKEW = 0.3
DATA = "synthetic tables"


def random_counts(kind: str, rows: int, columns: int, records: int, rng: np.random.Generator) -> Ints:
    """
    Records over cells of very different weight, rows without any left out; `no_ones` also leaves out the rows with one
    nonzero cell, whose reduced sum of 1 would give most bounds in closed form (Corollary 3.5).
    """
    weights = rng.dirichlet(np.full(rows * columns, SKEW))
    counts = rng.multinomial(records, weights).reshape(rows, columns).astype(np.int64)
    kept: Ints = counts[(counts > 0).sum(axis=1) > (1 if kind == "no_ones" else 0)]
    return kept


def time_table(kind: str, counts: Ints, settings: CellboundsBenchmark, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """The seconds of every method on one table, from its counts to the bounds of all cells."""
    rows, columns = ([str(place) for place in range(size)] for size in counts.shape)
    N = int(counts.sum())
    table = conditionals_of_counts(rows, columns, counts)
    case = {
        "kind": kind,
        "rows": counts.shape[0],
        "columns": counts.shape[1],
        "nonzero_cells": int((counts > 0).sum()),
        "N": N,
    }

    def exact() -> CellBounds:
        return bound_cells(conditionals_of_counts(rows, columns, counts), N)

    spent, found = _best(exact, settings.repeats)
    base = {**case, "distinct_reduced_sums": len(set(table.sums.tolist()))}
    yield {**base, **_line(EXACT, spent, found)}
    for decimals in settings.decimals:

        def rounded(rounding: Rounding = Rounding(decimals)) -> CellBounds:  # noqa: B008  (bound now, not at the call)
            return bound_rounded(rounded_of_counts(rows, columns, counts, rounding), N)

        yield {**base, **_line(f"{decimals} decimals", *_best(rounded, settings.repeats))}
    if counts.shape[0] <= settings.reference_rows:
        for line in _references(table, N, found, settings, rng):
            yield {**base, **line}


def _best(work: Callable[[], T], repeats: int) -> tuple[Spent, T]:
    """The run with the fewest CPU seconds."""
    found: list[tuple[Spent, T]] = []
    for _ in range(repeats):
        started = process_time()
        with watch() as spent:
            result = work()
        found.append(((process_time() - started, spent.seconds), result))
    return min(found, key=lambda run: run[0])


def _line(method: str, spent: Spent, found: CellBounds) -> dict[str, Any]:
    disclosed = int(found.disclosed.sum())
    return {"method": method, "cpu_s": spent[0], "wall_s": spent[1], "disclosed_rows": disclosed, "remark": ""}


def _references(
    table: Conditionals, N: int, found: CellBounds, settings: CellboundsBenchmark, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """The integer programs on a few nonzero cells and on their rows; the seconds are extrapolated to all of them."""
    cells = np.argwhere(table.reduced > 0)
    chosen = cells[rng.choice(len(cells), min(settings.reference_cells, len(cells)), replace=False)].tolist()
    solver = make_solver("highs", WorkLimits(iterations=10**9, nodes=10**9, seconds=settings.seconds))
    spent, ranges = _best(lambda: [reference_range(table, N, row, column, solver) for row, column in chosen], 1)
    true = [(int(found.lower[row, column]), int(found.upper[row, column])) for row, column in chosen]
    yield _extrapolated(CELL_PROGRAM, spent, len(cells) / len(chosen), ranges, true, "cells")
    spent, ranges = _best(lambda: [reference_multipliers(table, N, row, solver) for row, _ in chosen], 1)
    true = [(int(low // r - 1), int(high // r - 1)) for low, high, r in
            ((found.least_totals[row], found.greatest_totals[row], table.sums[row]) for row, _ in chosen)]  # fmt: skip
    yield _extrapolated(ROW_PROGRAM, spent, len(table.rows) / len(chosen), ranges, true, "rows")


def _extrapolated(
    method: str, spent: Spent, times: float, ranges: Sequence[Ends | None], true: Sequence[Ends], what: str
) -> dict[str, Any]:
    equal, late = sum(map(eq, ranges, true)), ranges.count(None)
    remark = f"extrapolated from {len(true)} {what}: {equal} equal to ours, {late} stopped by the time limit"
    seconds = {"cpu_s": spent[0] * times, "wall_s": spent[1] * times}
    return {"method": method, **seconds, "disclosed_rows": None, "remark": remark}


def benchmark_frame(lines: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One line per table and method, with how many times the CPU seconds of the exact method it took."""
    frame = pd.DataFrame(list(lines)).assign(data=DATA)
    exact = frame["cpu_s"].where(frame["method"] == EXACT).ffill()
    frame.insert(list(frame).index("wall_s"), "times_exact", (frame["cpu_s"] / exact).round(1))
    frame[["cpu_s", "wall_s"]] = frame[["cpu_s", "wall_s"]].round(5)
    frame["disclosed_rows"] = frame["disclosed_rows"].astype("Int64")
    return frame
