"""How fast cell bounds are, from conditionals and marginals, against the paper's integer programs, on its shapes."""

import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import prod
from operator import eq
from pathlib import Path
from time import process_time
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array

from genverify.bounds.count_tables import Multiway, read_multiway
from genverify.bounds.exact import (
    CellBounds,
    Conditionals,
    Rounding,
    aggregate,
    bound_rounded,
    conditionals_of_counts,
    exact_bounds,
    rounded_of_counts,
)
from genverify.bounds.marginals import MarginalBounds, bound_marginals, levels_of, marginal_sums
from genverify.model.arrays import Floats, Ints
from genverify.model.errors import DataError
from genverify.model.linear import LinearSystem
from genverify.model.tablefiles import Expected, naming_unreadable
from genverify.model.work import derive_seed, watch
from genverify.solve.linear.search import Work
from genverify.solve.program import integer_point, sparse_system
from genverify.solve.solvers.base import Infeasible, Optimal, Solver, WorkLimits, make_solver, maximise_integers
from studies.cellbounds.settings import CellboundsBenchmark, MarginalCase, MarginalsBenchmark, Shape


def reference_range(table: Conditionals, N: int, row: int, column: int, solver: Solver) -> tuple[int, int] | None:
    """The bounds of one cell by (1)-(5), in counts beyond the reduced ones; None where the solver ran into a limit."""
    sides = np.zeros(table.reduced.size + 1)
    sides[-1] = table.remainder(N)
    result = _range(_matrix(table), sides, row * len(table.columns) + column, solver)
    r_ij = int(table.reduced[row, column])
    return None if result is None else (r_ij + result[0], r_ij + result[1])


def reference_multipliers(table: Conditionals, N: int, row: int, solver: Solver) -> tuple[int, int] | None:
    """The least and the greatest multiplier of one row by (6)-(8); None where the solver ran into a limit."""
    sides = np.array([float(table.remainder(N))])
    return _range(csr_array(table.sums[None, :].astype(np.float64)), sides, row, solver)


def _range(A: csr_array, sides: Floats, variable: int, solver: Solver) -> tuple[int, int] | None:
    """The least and the greatest value of one variable, A z = sides; no variable exceeds the last side, N - R."""
    system = sparse_system(A, sides, sides, np.full(A.shape[1], sides[-1]))
    low, high = (_end(system, variable, sign, solver) for sign in (-1, 1))
    return None if low is None or high is None else (low, high)


def _end(system: LinearSystem, variable: int, sign: int, solver: Solver) -> int | None:
    """The greatest value of one variable (sign -1: the least); None where the solver ran into a limit."""
    objective = np.zeros(len(system.lo))
    objective[variable] = sign
    answer = maximise_integers(solver, system, objective)
    if isinstance(answer, Infeasible):
        raise DataError("no table has these conditionals and this N")
    point = integer_point(answer.z) if isinstance(answer, Optimal) else None
    return None if point is None or not system.fits(point) else int(point[variable])


def _matrix(table: Conditionals) -> csr_array:
    """r_i n_ij - r_ij sum_j' n_ij' = 0 for every cell, and the sum of all cells."""
    cells, J = table.reduced.size, len(table.columns)
    cell = np.arange(cells)
    same_row = (cell // J * J)[:, None] + np.arange(J)
    values = np.repeat(-table.reduced.reshape(-1, 1), J, axis=1)
    values[cell, cell % J] += table.sums[cell // J]
    rows = np.concatenate([np.repeat(cell, J), np.full(cells, cells)])
    columns = np.concatenate([same_row.ravel(), cell])
    entries = np.concatenate([values.ravel(), np.ones(cells, dtype=np.int64)])
    return csr_array(coo_array((entries.astype(np.float64), (rows, columns)), shape=(cells + 1, cells)))


# How fast cell bounds are: random tables, exact and rounded conditionals, against the integer program (1)-(5).

Spent = tuple[float, float]
T = TypeVar("T")
KINDS = ("sparse", "no_ones")
EXACT, CELL_PROGRAM, ROW_PROGRAM = "exact", "integer program (1)-(5)", "knapsack (6)-(8)"
SKEW = 0.3  # of the Dirichlet distribution: below 1, cells of very different weight and many of them empty
DATA = "synthetic tables"


def random_counts(kind: str, rows: int, columns: int, records: int, rng: np.random.Generator) -> Ints:
    """Records over cells of very different weight; `no_ones` also leaves out rows with one nonzero cell (Corollary 3.5)."""
    weights = rng.dirichlet(np.full(rows * columns, SKEW))
    counts = rng.multinomial(records, weights).reshape(rows, columns).astype(np.int64)
    rest: Ints = counts[(counts > 0).sum(axis=1) > (1 if kind == "no_ones" else 0)]
    return rest


def time_table(kind: str, counts: Ints, settings: CellboundsBenchmark, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """The seconds of every method on one table, from its counts to the bounds of all cells."""
    (rows, columns), N = _names(counts), int(counts.sum())
    case = {"kind": kind, "rows": len(rows), "columns": len(columns), "nonzero_cells": int((counts > 0).sum()), "N": N}
    spent, (table, result) = _best(partial(_exact, counts, N), settings.repeats)
    base = {**case, "distinct_reduced_sums": len(set(table.sums.tolist()))}
    yield {**base, **_line(EXACT, spent, result)}
    for decimals in settings.decimals:

        def rounded(rounding: Rounding = Rounding(decimals)) -> CellBounds:  # noqa: B008  (bound now, not at the call)
            return bound_rounded(rounded_of_counts(rows, columns, counts, rounding), N)

        yield {**base, **_line(f"{decimals} decimals", *_best(rounded, settings.repeats))}
    if counts.shape[0] <= settings.reference_rows:
        for line in _references(table, N, result, settings, rng):
            yield {**base, **line}


def _names(counts: Ints) -> tuple[list[str], list[str]]:
    rows, columns = (list(map(str, range(size))) for size in counts.shape)
    return rows, columns


def _exact(counts: Ints, N: int) -> tuple[Conditionals, CellBounds]:
    known = conditionals_of_counts(*_names(counts), counts)
    return known, exact_bounds(known, N)


def _best(work: Callable[[], T], repeats: int) -> tuple[Spent, T]:
    """The CPU and the wall seconds of the fastest repeat, and what it gave."""
    results: list[tuple[Spent, T]] = []
    for _ in range(repeats):
        started = process_time()
        with watch() as spent:
            result = work()
        results.append(((process_time() - started, spent.seconds), result))
    return min(results, key=lambda run: run[0])


def _line(method: str, spent: Spent, result: CellBounds) -> dict[str, Any]:
    disclosed = int(result.disclosed.sum())
    return {"method": method, "cpu_s": spent[0], "wall_s": spent[1], "disclosed_rows": disclosed, "remark": ""}


def _references(
    table: Conditionals, N: int, result: CellBounds, settings: CellboundsBenchmark, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """The integer programs on a few nonzero cells and on their rows; the seconds are extrapolated to all of them."""
    cells = np.argwhere(table.reduced > 0)
    chosen = cells[rng.choice(len(cells), min(settings.reference_cells, len(cells)), replace=False)].tolist()
    solver = make_solver("highs", WorkLimits(iterations=10**9, nodes=10**9, seconds=settings.seconds))
    spent, ranges = _best(lambda: [reference_range(table, N, row, column, solver) for row, column in chosen], 1)
    true = [(int(result.lower[row, column]), int(result.upper[row, column])) for row, column in chosen]
    yield _extrapolated(CELL_PROGRAM, spent, len(cells) / len(chosen), ranges, true, "cells")
    spent, ranges = _best(lambda: [reference_multipliers(table, N, row, solver) for row, _ in chosen], 1)
    true = [(int(low // r - 1), int(high // r - 1)) for low, high, r in
            ((result.least_totals[row], result.greatest_totals[row], table.sums[row]) for row, _ in chosen)]  # fmt: skip
    yield _extrapolated(ROW_PROGRAM, spent, len(table.rows) / len(chosen), ranges, true, "rows")


def _extrapolated(
    method: str, spent: Spent, times: float, found: Sequence[T | None], true: Sequence[T], what: str
) -> dict[str, Any]:
    equal, late = sum(map(eq, found, true)), found.count(None)
    remark = f"extrapolated from {len(true)} {what}: {equal} equal to ours, {late} stopped by the time limit"
    return {"method": method, "cpu_s": spent[0] * times, "wall_s": spent[1] * times, "remark": remark}


def benchmark_frame(lines: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One line per table and method, with how many times the CPU seconds of the exact method it took."""
    frame = pd.DataFrame(list(lines)).assign(data=DATA)
    exact = frame["cpu_s"].where(frame["method"] == EXACT).ffill()
    frame.insert(list(frame).index("wall_s"), "times_exact", (frame["cpu_s"] / exact).round(1))
    frame[["cpu_s", "wall_s"]] = frame[["cpu_s", "wall_s"]].round(5)
    frame["disclosed_rows"] = frame["disclosed_rows"].astype("Int64")
    return frame


# How fast ranges from marginals are, and how many are exact within a limit; beside an ordinary integer program per end.

OURS, ORDINARY = "ranges with proofs", "ordinary integer program"
EVEN = 2.0  # levels of nearly the same size: few cells are fixed by zeros, which makes ranges hard


def time_marginals(name: str, case: MarginalCase, settings: MarginalsBenchmark, seed: int) -> Iterator[dict[str, Any]]:
    """One line for the ranges of all cells, and one for the integer program on some of their ends (not on huge tables)."""
    rng = np.random.default_rng(seed)
    full = _stand_in(case.levels, case.records, rng, EVEN)
    marginals = [full.marginal(names) for names in combinations(full.names, case.way)]
    base = {"case": name, "data": DATA, "cells": full.counts.size, "marginals": len(marginals), "way": case.way,
            "records": case.records}  # fmt: skip
    (cpu_s, wall_s), result = _best(partial(bound_marginals, marginals, Work(seconds=settings.seconds), full), 1)
    exact, uncertified = int(result.exact.sum()), int(result.uncertified.sum())
    yield {**base, "method": OURS, "cpu_s": cpu_s, "wall_s": wall_s, "peak_mb": _peak(),
           "exact": exact, "uncertified": uncertified, "limit_s": settings.seconds, "remark": ""}  # fmt: skip
    if full.counts.size <= settings.reference_up_to:  # on larger tables the solver does not come to look at its limit
        yield {**base, **_ordinary(marginals, result, settings, rng), "limit_s": settings.reference_seconds}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _ordinary(
    marginals: list[Multiway], result: MarginalBounds, settings: MarginalsBenchmark, rng: np.random.Generator
) -> dict[str, Any]:
    """The integer program that anybody would write, on the two ends of a few cells; seconds are extrapolated to all."""
    sums = marginal_sums(marginals, levels_of(marginals))
    cells = rng.choice(len(sums.cells), min(settings.reference_cells, len(sums.cells)), replace=False).tolist()
    solver = make_solver("highs", WorkLimits(iterations=10**9, nodes=10**9, seconds=settings.reference_seconds))
    spent, ends = _best(lambda: [_end(sums, cell, sign, solver) for cell in cells for sign in (1, -1)], 1)
    true = [int(side.ravel()[cell]) for cell in cells for side in (result.upper, result.lower)]
    line = _extrapolated(ORDINARY, spent, len(sums.cells) / len(cells), ends, true, "ends")
    return line | {"peak_mb": _peak(), "exact": None, "uncertified": None}


# Tables of the shapes that the paper tested (section 3.3): 2,880 cells with N = 48,842, and 65,536 cells with N = 21,574. A
# user's files are read where they are given; otherwise a stand-in of the same shape is drawn from a mixture of a few
# classes of people, which makes some combinations common and leaves most of them empty, as in the real tables. It is called
# so.

CLASSES, SPREAD = 5, 0.5
STAND_IN = "synthetic stand-in of the same shape"


def _stand_in(levels: Sequence[int], records: int, rng: np.random.Generator, spread: float = SPREAD) -> Multiway:
    """Records over the cells, each of one of a few classes, with the variables apart from each other within a class."""
    of_class = rng.choice(CLASSES, records, p=rng.dirichlet(np.ones(CLASSES)))
    indices = []
    for size in levels:
        shares = np.cumsum(rng.dirichlet(np.full(size, spread), CLASSES), axis=1)
        indices.append((rng.random(records)[:, None] > shares[of_class, :-1]).sum(axis=1))
    counts = np.zeros(levels, dtype=np.int64)
    np.add.at(counts, tuple(indices), 1)
    names = tuple(f"V{index + 1}" for index in range(len(levels)))
    return Multiway(names, tuple(tuple(map(str, range(size))) for size in levels), counts)


def _read_adult(paths: Sequence[Path], layout: Mapping[str, Any]) -> Multiway:
    """The eight-way table of the UCI Adult files (adult.data, adult.test), grouped as the layout says."""
    names, grouped = list(layout["columns"]), layout["variables"]
    frame = pd.concat([_read(path, names) for path in paths], ignore_index=True)
    columns = {name: _group(frame[name], how, name) for name, how in grouped.items()}
    levels = {name: [*map(str, how.get("groups", how.get("below", {}))), str(how["else"])] for name, how in grouped.items()}
    counts = np.zeros([len(level) for level in levels.values()], dtype=np.int64)
    np.add.at(counts, tuple(pd.Index(levels[name]).get_indexer(pd.Index(column)) for name, column in columns.items()), 1)
    if counts.size != layout["cells"] or counts.sum() != layout["records"]:
        raise DataError(
            f"{', '.join(map(str, paths))}: {counts.sum():,} records in {counts.size:,} cells, where the paper's table has "
            f"{layout['records']:,} in {layout['cells']:,}. Name both files, adult.data and adult.test, as they come."
        )
    return Multiway(tuple(levels), tuple(map(tuple, levels.values())), counts)


def _read(path: Path, names: Sequence[str]) -> pd.DataFrame:
    """A file without a header; the first line of adult.test is a remark, and answers of income end in a full stop there."""
    with naming_unreadable(path, Expected("a file of the UCI Adult data")):
        frame = pd.read_csv(path, names=list(names), comment="|", skipinitialspace=True, dtype=str, keep_default_na=False)
    frame = frame[frame["age"] != ""]
    wrong = frame.index[~frame["age"].str.fullmatch(r"\d{1,3}") | frame["income"].isna() | (frame["income"] == "")]
    if len(wrong):
        raise DataError(
            f"{path}, record {int(wrong[0]) + 1}: not {len(names)} values beginning with an age; a UCI Adult file?"
        )
    return frame


def _group(column: "pd.Series[str]", how: Mapping[str, Any], name: str) -> "pd.Series[str]":
    if "groups" in how:
        of = {value: str(group) for group, values in how["groups"].items() for value in values}
        return column.map(of).fillna(str(how["else"]))
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.isna().any():
        raise DataError(f"column {name}: {column[numbers.isna()].iloc[0]!r} is not a number")
    result = pd.Series(str(how["else"]), index=column.index)
    for group, limit in reversed(how["below"].items()):
        result = result.mask(numbers < limit, str(group))
    return result


def open_shapes(
    shapes: Mapping[str, Shape], adult_layout: Mapping[str, Any], seed: int
) -> Iterator[tuple[str, Multiway, str]]:
    """The name and the table of every shape, and whose data it holds: files of the user, or a stand-in."""
    for name, shape in shapes.items():
        if not shape.files:
            rng = np.random.default_rng(derive_seed(seed, "cellbounds", "shape", name))
            yield name, _stand_in(shape.levels, shape.records, rng), STAND_IN
            continue
        paths = [Path(path) for path in shape.files]
        table = _read_adult(paths, adult_layout) if shape.adult else read_multiway(paths[0])
        if table.counts.size != prod(shape.levels) or table.total != shape.records:
            raise DataError(
                f"{paths[0]}: {table.counts.size:,} cells and {table.total:,} records; benchmark.cellbounds.shapes.{name} "
                f"says {prod(shape.levels):,} and {shape.records:,}. Correct levels and records, or the file."
            )
        yield name, table, "file of the user"


def time_shape(name: str, table: Multiway, data: str, responses: Sequence[int], repeats: int) -> Iterator[dict[str, Any]]:
    """Seconds for all bounds of rearrangements of a table: its last n variables as the response."""
    names = table.names
    for number in responses:
        given, response = names[:-number], names[-number:]
        counts = aggregate(table.counts, names, given, response)
        counts = counts[counts.sum(axis=1) > 0]
        (cpu_s, _), (known, result) = _best(partial(_exact, counts, table.total), repeats)
        disclosed = counts[result.disclosed]
        yield {
            "table": name, "cells": table.counts.size, "N": table.total, "responses": number,
            "rows": counts.shape[0], "columns": counts.shape[1], "nonzero_cells": int((counts > 0).sum()),
            "rows_with_reduced_sum_1": int((known.sums == 1).sum()), "disclosed_rows": int(result.disclosed.sum()),
            "disclosed_counts": int((disclosed > 0).sum()), "cpu_s": round(cpu_s, 4), "data": data,
        }  # fmt: skip
