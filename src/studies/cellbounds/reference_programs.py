"""
The integer programs of the paper on a solver, the references that the fast method is compared with: (1)-(5), a minimum and a
maximum per cell, and the knapsack (6)-(8), a minimum and a maximum per row.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array, csr_array

from genverify.bounds.exact import ZERO_ALONE, Conditionals, Steps, add, row_multipliers, solve_knapsack
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


# Results of the paper that the fast method does not need: totals, what one count gives away, and smaller knapsacks.


def possible_totals(table: Conditionals, N: int) -> list[list[int]]:
    """Every value that the total of each row can take, r_i (nu_i + 1)."""
    return [[int(r) * (nu + 1) for nu in row.values] for r, row in zip(table.sums, row_multipliers(table, N), strict=True)]


def proposition_3_2a(r_ij: int, count: int) -> int | None:
    """The multiplier of a row of which one nonzero count is known; None where the count is no multiple of r_ij."""
    return count // r_ij - 1 if r_ij > 0 and count >= r_ij and count % r_ij == 0 else None


def corollary_3_3(r: Sequence[int], remainder: int) -> set[int]:
    """Where no row was reduced, N = R and the whole table is disclosed."""
    return set(range(len(r))) if remainder == 0 else set()


def precedes(r: Sequence[int], fewer: Sequence[int], rows: Sequence[int]) -> bool:
    """
    Whether L precedes K: L is part of K, and every r_k is a sum of nonnegative multiples of reduced sums of L.

    >>> precedes([2, 21, 29], [0, 1], [0, 1, 2])
    True
    """
    reached, limit = ZERO_ALONE, max((r[k] for k in rows), default=0)
    for step in sorted({r[i] for i in fewer}):
        reached = add(reached, [Steps(0, step, None)], limit)
    return set(fewer) <= set(rows) and all(reached >> r[k] & 1 for k in rows)


def smallest_preceding(r: Sequence[int], rows: Sequence[int], keep: int | None = None) -> list[int]:
    """The rows of K without those whose r is a sum of multiples of smaller ones that stay; `keep` always stays."""
    limit = max((r[k] for k in rows), default=0)
    reached, rest = ZERO_ALONE, []
    for k in sorted(rows, key=lambda k: (r[k], k != keep, k)):
        if k == keep or not reached >> r[k] & 1:
            rest.append(k)
            reached = add(reached, [Steps(0, r[k], None)], limit)
    return sorted(rest)


def proposition_3_6(r: Sequence[int], remainder: int, i: int) -> int:
    """The greatest nu_i, from the smaller knapsack over an L that precedes all rows and holds i."""
    rows = smallest_preceding(r, range(len(r)), keep=i)
    return solve_knapsack([r[k] for k in rows], remainder)[rows.index(i)].greatest


def proposition_3_7(r: Sequence[int], remainder: int, i: int) -> int:
    """The least nu_i, from the smaller knapsack over row i and an L that precedes all other rows."""
    rows = [i, *smallest_preceding(r, [k for k in range(len(r)) if k != i])]
    return solve_knapsack([r[k] for k in rows], remainder)[0].least
