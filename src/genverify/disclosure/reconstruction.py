"""
A reconstruction given as a program in a file (LP or MPS): has it exactly one solution?

Take one solution x. If every number of it lies at one of its ends (as 0 and 1 do), any other solution moves away from some
of these ends, so the sum of all moves is above 0. That this sum is at most 0 is one bound, with one proof. Numbers strictly
between their ends are asked for one by one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array

from genverify.checker.sums import check_at_most, check_sums
from genverify.core.arraytypes import Ints
from genverify.core.errors import DataError
from genverify.core.sums import CEILING, Sums
from genverify.solve.recount import INTEGRAL, integer_point
from genverify.solve.solvers.base import IntegerProgram, Optimal, best_point
from genverify.solve.sums.leaf import Ends, exact_leaf
from genverify.solve.sums.lp import CellProgram
from genverify.solve.sums.parts import all_ranges
from genverify.solve.sums.propagate import propagate
from genverify.solve.sums.work import Work

LARGEST = 10**6  # numbers without an upper end are taken to be at most this


@dataclass(frozen=True)
class Unique:
    """What became of the question: unique with a checked proof or by the solver alone, not unique, no solution, open."""

    answer: str
    numbers: int
    rows: int
    moved: int = 0


def read_program(path: Path) -> Sums:
    """The program of a file; all numbers must be whole and from 0, all weights and ends whole."""
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    if not path.is_file() or highs.readModel(str(path)) == highspy.HighsStatus.kError:
        raise DataError(f"{path}: cannot be read as an LP or MPS file")
    lp = highs.getLp()
    if not lp.num_col_ or not lp.num_row_:
        raise DataError(f"{path}: cannot be read as an LP or MPS file: it has no numbers, or no rows")
    shape = (lp.num_row_, lp.num_col_)
    entries = (np.array(lp.a_matrix_.value_), np.array(lp.a_matrix_.index_), np.array(lp.a_matrix_.start_))
    matrix = csr_array(csc_array(entries, shape))
    lower, upper = np.array(lp.col_lower_), np.minimum(np.array(lp.col_upper_), LARGEST)
    rows = tuple(lp.row_names_) or tuple(f"r{i}" for i in range(shape[0]))
    cells = tuple(lp.col_names_) or tuple(f"x{i}" for i in range(shape[1]))
    least, most = (np.clip(np.array(values), -CEILING, CEILING) for values in (lp.row_lower_, lp.row_upper_))
    given = ((lower, "a lower end"), (upper, "an upper end"), (matrix.data, "a weight"), (least, "a row"), (most, "a row"))
    ends = [_whole(values, path, what) for values, what in given]
    if (lower < 0).any():
        raise DataError(f"{path}: {cells[int(np.argmin(lower))]} may be below 0; a reconstruction counts people")
    start, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    return Sums(cells, ends[0], ends[1], rows, start, columns, ends[2], ends[3], ends[4])


def _whole(values: npt.NDArray[Any], path: Path, what: str) -> Ints:
    found = np.rint(values)
    if not np.array_equal(found, values):
        raise DataError(
            f"{path}: {what} is {values[np.argmax(found != values)]}, no whole number; multiply the row until it is"
        )
    whole: Ints = found.astype(np.int64)
    return whole


def unique(sums: Sums, work: Work) -> Unique:
    """Whether exactly one solution exists; every solution is recounted, every proof checked."""
    size = len(sums.cells), len(sums.rows)
    first = all_ranges(sums, work, np.zeros(len(sums.cells), dtype=bool))
    if first.empty:
        check_sums(sums, first.statements)
        return Unique("no solution, with a checked proof", *size)
    if first.point is None:
        return Unique(f"undecided ({first.limit or 'no solution was found within the limits'})", *size)
    known = propagate(sums)
    ends, x = Ends(known.lo, known.hi), first.point
    inside = np.flatnonzero((x > ends.lo) & (x < ends.hi))
    c = np.where(x == ends.lo, 1, -1)
    c[ends.lo == ends.hi] = 0
    c[inside] = 0
    questions = [c, *(_one(len(x), cell, sign) for cell in inside.tolist() for sign in (1, -1))]
    proved = True
    lp = CellProgram(sums.matrix, sums.least, sums.most, lambda: work.seconds)
    lp.set_ends(ends.lo, ends.hi)
    for question in questions:
        other, proof = _ask(sums, ends, x, question, lp, work)
        if other is not None:
            return Unique("not unique: two solutions, both recounted", *size, int((other != x).sum()))
        if proof is None:
            proved = False
            continue
        weights = {sums.cells[cell]: int(question[cell]) for cell in np.flatnonzero(question).tolist()}
        shown = check_at_most(sums, known.statements, weights, proof)
        proved &= shown <= int((question * x).sum())
    return Unique("unique, with a checked proof" if proved else "unique by the solver, without a proof", *size)


def _one(size: int, cell: int, sign: int) -> Ints:
    question = np.zeros(size, dtype=np.int64)
    question[cell] = sign
    return question


def _ask(
    sums: Sums, ends: Ends, x: Ints, c: Ints, lp: CellProgram, work: Work
) -> tuple[Ints | None, Mapping[str, Any] | None]:
    """Another solution with c y > c x, or a proof that there is none; neither where only the solver says so."""
    here = int((c * x).sum())
    answer = lp.maximise(c.astype(np.float64))
    if not isinstance(answer, Optimal):
        raise DataError("the solver stopped before its end; give more time with --seconds")
    if floor(answer.value + INTEGRAL) <= here:
        weights = {int(cell): int(c[cell]) for cell in np.flatnonzero(c)}
        return None, exact_leaf(sums, ends, answer.y, weights, here)
    point = integer_point(answer.z)
    if point is None:
        shift = sums.activity(ends.lo)
        room = (ends.hi - ends.lo).astype(np.float64)
        program = IntegerProgram(
            _matrix(sums), (sums.least - shift).astype(float), (sums.most - shift).astype(float), room, c.astype(float)
        )
        best = best_point(work.solver(work.seconds).solve(program))
        point = None if best is None else integer_point(best + ends.lo)
    if point is not None and sums.fits(point) and int((c * point).sum()) > here:
        return point, None
    return None, None


def _matrix(sums: Sums) -> csr_array:
    shape = (len(sums.rows), len(sums.cells))
    return csr_array((sums.weights.astype(np.float64), sums.columns, sums.start), shape=shape)
