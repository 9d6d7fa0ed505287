"""
The integer programs of the paper on a solver, the references that the fast method is compared with: (1)-(5), a minimum and a
maximum per cell, and the knapsack (6)-(8), a minimum and a maximum per row.
"""

import numpy as np
from scipy.sparse import coo_array, csr_array

from genverify.bounds.exact import Conditionals, row_multipliers
from genverify.model.arrays import Floats
from genverify.model.errors import DataError
from genverify.solve.program import sparse_system
from genverify.solve.solvers.base import Infeasible, Solver, Stopped, maximise_integers


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
    ends = []
    for sign in (-1.0, 1.0):
        objective = np.zeros(A.shape[1])
        objective[variable] = sign
        answer = maximise_integers(solver, system, objective)
        if isinstance(answer, Infeasible):
            raise DataError("no table has these conditionals and this N")
        if isinstance(answer, Stopped):
            return None
        ends.append(round(sign * answer.value))
    return ends[0], ends[1]


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


def possible_totals(table: Conditionals, N: int) -> list[list[int]]:
    """Every value that the total of each row can take, r_i (nu_i + 1)."""
    return [[int(r) * (nu + 1) for nu in row.values] for r, row in zip(table.sums, row_multipliers(table, N), strict=True)]
