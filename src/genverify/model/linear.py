"""Counts that are tied by sums: cells between two ends, and rows of whole multiples of cells between two ends."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.errors import DataError

OPEN = 2**63 - 1  # no end, told by nobody: as an upper end, or with a minus as the lower end of a row; never a number
LARGEST_COUNT = 10**15  # a count that is told may be this large: a sum of a thousand of them is a whole number of 64 bits
EXACT = 2**60  # whatever is added up in 64 bits stays below, with room to spare


@dataclass(frozen=True)
class LinearSystem:
    """
    What is known of some counts x, whole numbers: lo <= x <= hi of every cell, and least <= sum of weight times cell <= most
    of every row. Row r has the entries start[r] to start[r + 1] of `columns` (places of cells) and `weights`. An end that
    nobody told is OPEN (or -OPEN): null where it is written.
    """

    cells: tuple[str, ...]
    lo: Ints
    hi: Ints
    rows: tuple[str, ...]
    start: Ints
    columns: Ints
    weights: Ints
    least: Ints
    most: Ints

    @cached_property
    def place(self) -> Mapping[str, int]:
        return {cell: at for at, cell in enumerate(self.cells)}

    @cached_property
    def row_place(self) -> Mapping[str, int]:
        return {row: at for at, row in enumerate(self.rows)}

    @cached_property
    def row_of(self) -> Ints:
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @cached_property
    def largest(self) -> int:
        """The largest weight without its sign, at least 1."""
        return max(1, int(np.abs(self.weights).max(initial=0)))

    def activity(self, x: Ints) -> Ints:
        total, filled = np.zeros(len(self.start) - 1, dtype=np.int64), np.flatnonzero(np.diff(self.start))
        if len(filled):
            total[filled] = np.add.reduceat(self.weights * x[self.columns], self.start[filled])
        return total

    def countable(self, x: Ints) -> bool:
        """Whether 64 bits hold the sums of all rows."""
        size = np.abs(x.astype(np.float64))
        if self.largest * float(size.sum()) <= EXACT:  # whatever a row adds up: the usual case
            return True
        sizes = np.abs(self.weights).astype(np.float64) * size[self.columns]
        return float(np.bincount(self.row_of, sizes).max(initial=0)) <= EXACT

    def fits(self, x: Ints) -> bool:
        """Whether these counts lie between all ends, recounted in integers; counts too large for 64 bits do not."""
        if not ((x >= self.lo).all() and (x <= self.hi).all()):
            return False
        return self.countable(x) and bool(within(self.activity(x), self.least, self.most))

    def relaxed(self, ends: Mapping[int, tuple[int, int]], rows: Sequence[int]) -> "LinearSystem":
        """The system in which some cells have these ends, and some rows say nothing."""
        lo, hi, least, most = (own.copy() for own in (self.lo, self.hi, self.least, self.most))
        for cell, (low, high) in ends.items():
            lo[cell], hi[cell] = low, high
        least[rows], most[rows] = -OPEN, OPEN
        return replace(self, lo=lo, hi=hi, least=least, most=most)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that is known."""
        parts = ["\n".join(self.cells), "\n".join(self.rows)]
        parts += [" ".join("open" if end is None else str(end) for end in part) for part in self._lists.values()]
        return sha256("\n\n".join(parts).encode()).hexdigest()

    @property
    def _lists(self) -> dict[str, list[int | None]]:
        return {name: [None if abs(n) == OPEN else n for n in getattr(self, name).tolist()] for name in ARRAYS}

    def as_dict(self) -> dict[str, Any]:
        return {"cells": list(self.cells), "rows": list(self.rows), **self._lists}


ARRAYS = ("lo", "hi", "start", "columns", "weights", "least", "most")
Row = tuple[str, Mapping[str, int], int, int]


def within(total: Ints | Floats, least: Ints, most: Ints) -> Flags:
    """Whether rows that add up to so much are between their ends: of one point, or of several, a column for each."""
    if total.ndim > 1:
        least, most = least[:, None], most[:, None]
    return np.asarray(((total >= least) & (total <= most)).all(axis=0))


def is_open(ends: Ints) -> Flags:
    return np.asarray(np.abs(ends) == OPEN)


def as_floats(ends: Ints) -> Floats:
    """Ends as a solver takes them: none is infinite."""
    return np.where(is_open(ends), np.where(ends > 0, np.inf, -np.inf), ends.astype(np.float64))


def make_system(cells: Mapping[str, tuple[int, int]], rows: Iterable[Row]) -> LinearSystem:
    """What is known, from cells with their ends, and rows with a name, the weights of cells, and their ends."""
    index = {cell: at for at, cell in enumerate(cells)}
    listed = list(rows)
    if twice := [name for name, times in Counter(row[0] for row in listed).items() if times > 1]:
        raise DataError(f"two sums have one name: {twice[0]}")
    for row in listed:
        _refuse_wide(row, cells)
    entries = [(index[cell], weight) for _, weights, _, _ in listed for cell, weight in weights.items()]
    columns, weights = np.array(entries, dtype=np.int64).reshape(-1, 2).T
    start = np.cumsum([0, *(len(weights) for _, weights, _, _ in listed)])
    lo, hi = np.array(list(cells.values()), dtype=np.int64).reshape(-1, 2).T
    least, most = np.array([row[2:] for row in listed], dtype=np.int64).reshape(-1, 2).T
    return LinearSystem(
        tuple(cells), lo, hi, tuple(row[0] for row in listed), start.astype(np.int64), columns, weights, least, most
    )


def _refuse_wide(row: Row, cells: Mapping[str, tuple[int, int]]) -> None:
    """An error for a row whose sum 64 bits may not hold; a cell without an end counts as the largest told in the row."""
    name, weights, least, most = row
    given = {cell: max(abs(end) for end in cells[cell] if abs(end) != OPEN) for cell in weights}
    largest = max(given.values(), default=0)
    size = sum(abs(weight) * (largest if OPEN in cells[cell] else given[cell]) for cell, weight in weights.items())
    ends = [abs(end) for end in (least, most) if abs(end) != OPEN]
    if max(size, *map(abs, weights.values()), *ends, 0) > EXACT:
        problem = f"its counts, up to {largest}, are too large to be added up exactly, or its numbers have too many decimals"
        raise DataError(f"{name}: {problem}; give the counts in thousands, or write fewer decimals")


def system_of(text: Mapping[str, Any]) -> LinearSystem:
    """What was written by as_dict."""
    nothing = {"hi": OPEN, "least": -OPEN, "most": OPEN}
    lists = {name: [nothing.get(name) if end is None else end for end in text[name]] for name in ARRAYS}
    if any(None in part for part in lists.values()):
        raise ValueError("null where a number is needed: only hi, least and most may be null")
    arrays = {name: np.array(part, dtype=np.int64) for name, part in lists.items()}
    return LinearSystem(cells=tuple(text["cells"]), rows=tuple(text["rows"]), **arrays)


def with_row(system: LinearSystem, name: str, weights: Ints, least: int) -> LinearSystem:
    """The system with one more row: this sum of cells is at least so much."""
    used = np.flatnonzero(weights)
    return replace(
        system, rows=(*system.rows, name), start=np.append(system.start, system.start[-1] + len(used)),
        columns=np.append(system.columns, used), weights=np.append(system.weights, weights[used]),
        least=np.append(system.least, least), most=np.append(system.most, OPEN),
    )  # fmt: skip


def select(sums: LinearSystem, cells: Ints, rows: Ints) -> LinearSystem:
    """The part of some cells and some rows; every entry of these rows must lie in one of these cells."""
    new = np.full(len(sums.cells), -1, dtype=np.int64)
    new[cells] = np.arange(len(cells))
    taken = [np.arange(sums.start[row], sums.start[row + 1]) for row in rows.tolist()]
    indices = np.concatenate(taken) if taken else np.zeros(0, dtype=np.int64)
    start = np.cumsum([0, *map(len, taken)]).astype(np.int64)
    named: Sequence[str] = [sums.rows[row] for row in rows.tolist()]
    return LinearSystem(
        tuple(sums.cells[cell] for cell in cells.tolist()), sums.lo[cells], sums.hi[cells], tuple(named), start,
        new[sums.columns[indices]], sums.weights[indices], sums.least[rows], sums.most[rows],
    )  # fmt: skip
