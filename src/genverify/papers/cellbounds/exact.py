"""Exact bounds of every cell from exact conditionals and N (Theorem 2.1), with prior bounds on sums of cells in a row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Ints
from genverify.core.errors import DataError, nearest
from genverify.papers.cellbounds.conditional import Conditionals
from genverify.papers.cellbounds.knapsack import Limits, Multipliers, solve_knapsack

EMPTY = Multipliers(0, 0, ())


@dataclass(frozen=True)
class Prior:
    """What is known beforehand: lower <= the sum of these cells of a row <= upper (None: not known)."""

    row: str
    columns: tuple[str, ...]
    lower: int | None = None
    upper: int | None = None


@dataclass(frozen=True)
class CellBounds:
    """
    The tightest bounds of every cell (a row of `lower` and `upper` per row of the table) and of the total of every row.

    A row is disclosed where all its cells have one possible count.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    lower: Ints
    upper: Ints
    least_totals: Ints
    greatest_totals: Ints

    @cached_property
    def disclosed(self) -> npt.NDArray[np.bool_]:
        flags: npt.NDArray[np.bool_] = (self.lower == self.upper).all(axis=1)
        return flags


def bound_cells(table: Conditionals, N: int, priors: Iterable[Prior] = ()) -> CellBounds:
    """The interval [r_ij (nu_i- + 1), r_ij (nu_i+ + 1)] of every cell."""
    found = row_multipliers(table, N, priors)
    least = np.array([row.least + 1 for row in found], dtype=np.int64)
    greatest = np.array([row.greatest + 1 for row in found], dtype=np.int64)
    lower, upper = table.reduced * least[:, None], table.reduced * greatest[:, None]
    return CellBounds(table.rows, table.columns, lower, upper, table.sums * least, table.sums * greatest)


def possible_totals(table: Conditionals, N: int) -> list[list[int]]:
    """Every value that the total of each row can take, r_i (nu_i + 1)."""
    found = row_multipliers(table, N)
    return [[int(r) * (nu + 1) for nu in row.values] for r, row in zip(table.sums, found, strict=True)]


def row_multipliers(table: Conditionals, N: int, priors: Iterable[Prior] = ()) -> list[Multipliers]:
    """The multipliers nu_i that each row can take, in the order of the rows; an empty row has the multiplier 0."""
    limits = prior_limits(table, priors)
    filled = np.flatnonzero(table.sums)
    target = table.remainder(N)
    solved = solve_knapsack(table.sums[filled].tolist(), target, [limits[row] for row in filled])
    found = [EMPTY] * len(table.rows)
    for row, one in zip(filled, solved, strict=True):
        found[row] = one
    return found


def prior_limits(table: Conditionals, priors: Iterable[Prior]) -> list[Limits]:
    """Prior bounds l, u on sums of cells as limits of the multiplier: l / sum r_ij - 1 to u / sum r_ij - 1, rounded."""
    limits = [Limits()] * len(table.rows)
    for prior in priors:
        row, columns = place_of(table.rows, prior.row, "row"), [place_of(table.columns, c, "column") for c in prior.columns]
        reduced = int(table.reduced[row, columns].sum())
        if reduced == 0:
            if (prior.lower or 0) > 0 or (prior.upper is not None and prior.upper < 0):
                raise DataError(f"row {prior.row!r}: {' + '.join(prior.columns)} is 0 by its fractions, not {_words(prior)}")
            continue
        low = 0 if prior.lower is None else max(0, -(-prior.lower // reduced) - 1)
        high = None if prior.upper is None else prior.upper // reduced - 1
        limits[row] = _both(limits[row], Limits(low, high), prior)
    return limits


def place_of(labels: Sequence[str], label: str, what: str) -> int:
    if label not in labels:
        raise DataError(f"no {what} {label!r}: {nearest(label, list(labels))}")
    return labels.index(label)


def _both(first: Limits, second: Limits, prior: Prior) -> Limits:
    highs = [limit.high for limit in (first, second) if limit.high is not None]
    both = Limits(max(first.low, second.low), min(highs, default=None))
    if both.high is not None and both.high < both.low:
        raise DataError(f"row {prior.row!r}: no multiple of the fractions has {' + '.join(prior.columns)} {_words(prior)}")
    return both


def _words(prior: Prior) -> str:
    limits = [("at least", prior.lower), ("at most", prior.upper)]
    return " and ".join(f"{word} {value}" for word, value in limits if value is not None)
