"""Controlled rounding: every count goes to one of its two nearest multiples of a base, and all totals still add up."""

import numpy as np

from genverify.model.arrays import Ints
from genverify.model.errors import ReleaseError
from genverify.model.linear import LinearSystem
from genverify.solve.program import WrongAnswer, integer_point, matrix_of, sparse_system
from genverify.solve.solvers.base import WorkLimits, best_point, make_solver, maximise_integers
from genverify.solve.solvers.highs import ITERATIONS

NODES, SECONDS = 20_000, 600.0  # of the integer program; seconds of the clock are a safety net


def controlled_rounding(system: LinearSystem, counts: Ints, base: int) -> Ints:
    """The rounded counts nearest to the true ones: multiples of the base stay as they are (0 too), and every sum holds."""
    if system.least.any() or system.most.any():
        raise ReleaseError("controlled rounding needs sums alone: leave out percentages, facts and a tolerance, or suppress")
    rest = counts % base
    down = (counts - rest) // base
    total = -system.activity(down)
    rows = sparse_system(matrix_of(system).astype(np.float64), total, total, np.where(rest > 0, 1, 0))
    solver = make_solver("highs", WorkLimits(ITERATIONS, NODES, SECONDS))
    point = best_point(maximise_integers(solver, rows, (2 * rest - base).astype(np.float64)))
    up = None if point is None else integer_point(point)
    if up is None:
        raise ReleaseError(f"no table of multiples of {base} that are nearest to the counts adds up, or none was found")
    rounded = base * (down + up)
    if system.activity(rounded).any() or (np.abs(rounded - counts) >= base).any():
        raise WrongAnswer("the solver's rounded table does not add up when recounted; nothing is reported")
    return rounded
