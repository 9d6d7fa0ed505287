"""A reconstruction given as a program in a file (LP or MPS): has it exactly one solution?"""

from dataclasses import dataclass, replace
from itertools import chain
from math import floor
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array

from genverify.checker.linear_proofs import check_at_most, check_linear
from genverify.model.arrays import Floats, Ints
from genverify.model.errors import DataError
from genverify.model.linear import LARGEST_COUNT, OPEN, LinearSystem, as_floats, with_row
from genverify.model.work import BRAKE
from genverify.solve.bounds import Ends, exact_leaf
from genverify.solve.linear.ranges import all_ranges, propagate
from genverify.solve.linear.search import Work
from genverify.solve.program import INTEGRAL, integer_point, matrix_of
from genverify.solve.solvers.base import best_point, maximise_integers
from genverify.solve.solvers.highs import ITERATIONS, MODEL, open_highs, pass_model, units_of


@dataclass(frozen=True)
class Unique:
    """What became of the question, and how many numbers another solution moves."""

    answer: str
    numbers: int
    rows: int
    moved: int = 0


def read_program(path: Path) -> LinearSystem:
    """The program of a file; all numbers must be whole and from 0, all weights and ends whole."""
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    if not path.is_file() or highs.readModel(str(path)) == highspy.HighsStatus.kError:
        raise DataError(f"{path}: cannot be read as an LP or MPS file")
    lp = highs.getLp()
    if not lp.num_col_ or not lp.num_row_:
        raise DataError(f"{path}: cannot be read as an LP or MPS file: it has no numbers, or no rows")
    entries = np.array(lp.a_matrix_.value_), np.array(lp.a_matrix_.index_), np.array(lp.a_matrix_.start_)
    matrix = csr_array(csc_array(entries, (lp.num_row_, lp.num_col_)))
    rows = tuple(lp.row_names_) or tuple(f"r{i}" for i in range(lp.num_row_))
    cells = tuple(lp.col_names_) or tuple(f"x{i}" for i in range(lp.num_col_))
    given = ((lp.col_lower_, "a lower end"), (lp.col_upper_, "an upper end"), (matrix.data, "a weight"),
             (lp.row_lower_, "a row"), (lp.row_upper_, "a row"))  # fmt: skip
    lower, upper, weights, least, most = (_whole(np.array(values), path, what) for values, what in given)
    if (lower < 0).any():
        raise DataError(f"{path}: {cells[int(np.argmin(lower))]} may be below 0; a reconstruction counts people")
    start, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    return LinearSystem(cells, lower, upper, rows, start, columns, weights, least, most)


def _whole(values: npt.NDArray[Any], path: Path, what: str) -> Ints:
    result, none = np.rint(values), np.isinf(values)
    if (result != values).any():
        wrong = values[np.argmax(result != values)]
        raise DataError(f"{path}: {what} is {wrong}, not a whole number; multiply the row until it is")
    if (np.abs(values[~none]) > LARGEST_COUNT).any():
        raise DataError(f"{path}: {what} is above {LARGEST_COUNT} in size, too large to compute with exactly")
    return np.where(none, np.where(values > 0, OPEN, -OPEN), np.where(none, 0, result).astype(np.int64))


def unique(sums: LinearSystem, work: Work) -> Unique:
    """Whether exactly one solution exists; every solution is recounted, every proof checked."""
    size = len(sums.cells), len(sums.rows)
    known = propagate(sums)
    ends = Ends(known.lo, known.hi)
    x = None if known.empty else _solution(sums, ends, work)
    if x is None:
        first = all_ranges(sums, work, np.zeros(size[0], dtype=bool))
        if first.empty:
            check_linear(sums, first.statements)
            return Unique("no solution, with a checked proof", *size)
        if first.point is None:
            return Unique(f"undecided ({first.limit or 'no solution was found within the limits'})", *size)
        x = first.point
    # of a solution whose numbers all lie at their ends, any other moves away from some of them: that the sum of all moves is
    # at most 0 is one bound, with one proof; numbers strictly between their ends are asked for one by one
    at_end = (x == ends.lo) | (x == ends.hi)
    c = np.where(x == ends.lo, 1, -1) * (at_end & (ends.lo < ends.hi))
    between = (sign * (np.arange(len(x)) == cell) for cell in np.flatnonzero(~at_end).tolist() for sign in (1, -1))
    proved = True
    for question in chain([c], between):
        here, proof = int((question * x).sum()), None
        other = _solution(sums, ends, work, (question, here + 1))
        if other is not None and int((question * other).sum()) > here:
            return Unique("not unique: two solutions, both recounted", *size, int((other != x).sum()))
        if other is None:  # none is left, by the solver: a proof of it
            value, y = _relaxed(sums, ends, question, work)
            proof = exact_leaf(sums, ends, y, question, here) if floor(value + INTEGRAL) <= here else None
        weights = {sums.cells[cell]: int(question[cell]) for cell in np.flatnonzero(question).tolist()}
        proved &= proof is not None and check_at_most(sums, known.statements, weights, proof) <= here
    return Unique("unique, with a checked proof" if proved else "unique by the solver, without a proof", *size)


def _relaxed(sums: LinearSystem, ends: Ends, c: Ints, work: Work) -> tuple[float, Floats]:
    """The linear program, after the solver's presolve took most of it away: its value, and multipliers of all rows."""
    matrix, columns = matrix_of(sums).tocsc().astype(np.float64), np.arange(len(c), dtype=np.int32)
    iterations = int(min(work.seconds / units_of(matrix)[1] + 1, ITERATIONS))
    highs = open_highs(simplex_iteration_limit=iterations, time_limit=BRAKE * work.seconds)
    pass_model(highs, matrix, as_floats(sums.least), as_floats(sums.most))
    highs.changeColsBounds(len(c), columns, ends.lo.astype(np.float64), as_floats(ends.hi))
    highs.changeColsCost(len(c), columns, c.astype(np.float64))
    highs.run()
    if highs.getModelStatus() != MODEL.kOptimal:
        raise DataError("the solver stopped before its end; --seconds allows more work")
    return highs.getInfo().objective_function_value, np.array(highs.getSolution().row_dual)


def _solution(sums: LinearSystem, ends: Ends, work: Work, away: tuple[Ints, int] | None = None) -> Ints | None:
    """The first solution that the solver's own integer search meets, recounted; `away`: with a sum of at least so much."""
    system = replace(sums, lo=ends.lo, hi=ends.hi)
    if away is not None:
        system = with_row(system, "away", *away)
    best = best_point(maximise_integers(work.solver(BRAKE * work.seconds), system, np.zeros(len(sums.cells))))
    point = None if best is None else integer_point(best)
    return point if point is not None and sums.fits(point) else None
