"""
Leaves whose rows have many cells, by arrays. Many statements have the same multipliers, each for another cell: what these
add up to is kept until an end that it uses moves, and only the cells in question are looked at anew, in Python's integers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from genverify.core.arraytypes import Ints
from genverify.core.sums import OPEN, Sums

Sparse = dict[int, int]
Narrowed = Mapping[int, tuple[int, int]]
WIDE = 2**60  # sums beyond it are left to Python's integers


@dataclass
class Kept:
    """What multipliers leave of every cell (w = -y A) of `cells`, or of all; the part of their rows; the bound itself."""

    cells: Ints | None
    w: Ints
    rows: int
    total: int | None = None
    moves: tuple[int, int] = (-1, -1)

    def __post_init__(self) -> None:
        self.uses = bool((self.w < 0).any()), bool((self.w > 0).any())  # lower ends, upper ends

    def weight(self, cell: int) -> int:
        if self.cells is None:
            return int(self.w[cell])
        mine = np.flatnonzero(self.cells == cell)
        return int(self.w[mine[0]]) if len(mine) else 0


class LongRows:
    """The ends shown so far as arrays, and the bounds of long leaves."""

    def __init__(self, sums: Sums) -> None:
        self.sums = sums
        self.lo, self.hi = sums.lo.astype(np.int64), sums.hi.astype(np.int64)
        self.moves = [0, 0]  # how often a lower and an upper end moved
        self.largest = int(np.abs(sums.weights).max(initial=1))
        self.single = dict[tuple[int, int], Kept]()
        self.several = (Sparse(), Kept(None, np.zeros(0, dtype=np.int64), 0))

    def narrow(self, cell: int, upper: bool, value: int) -> None:
        """Another end of a cell, in effect from here on."""
        (self.hi if upper else self.lo)[cell] = value
        self.moves[int(upper)] += 1

    def most(self, y: Sparse, c: Sparse, ends: Narrowed) -> int | None:
        """The most that c x can be by these multipliers, where forks narrow ends; none where 64 bits might not hold it."""
        if max(map(abs, y.values()), default=0) * self.largest * len(y) > WIDE:
            return None
        if any(abs(self.end(row, own)) == OPEN for row, own in y.items()):
            return None  # an end that nobody told: the checker says which
        kept = self.kept(y)
        total = self.total(kept)
        if total is None:
            return None
        for cell in {*c, *ends}:
            lo, hi = int(self.lo[cell]), int(self.hi[cell])
            low, high = ends.get(cell, (lo, hi))
            before = kept.weight(cell)
            after = before + c.get(cell, 0)
            if after > 0 and min(hi, high) == OPEN:
                return None
            total += after * (min(hi, high) if after > 0 else max(lo, low)) - before * (hi if before > 0 else lo)
        return total

    def kept(self, y: Sparse) -> Kept:
        if len(y) == 1:
            ((row, own),) = y.items()
            if (row, own) not in self.single:
                self.single[row, own] = self.of_row(row, own)
            return self.single[row, own]
        if self.several[0] != y:
            self.several = (dict(y), Kept(None, self.weights(y), self.sides(y)))
        return self.several[1]

    def of_row(self, row: int, y: int) -> Kept:
        """One row: only its own cells, unless it names one twice."""
        part = slice(self.sums.start[row], self.sums.start[row + 1])
        cells = self.sums.columns[part]
        if len(np.unique(cells)) < len(cells):
            return Kept(None, self.weights({row: y}), self.sides({row: y}))
        return Kept(cells, -y * self.sums.weights[part], self.sides({row: y}))

    def weights(self, y: Sparse) -> Ints:
        w = np.zeros(len(self.sums.cells), dtype=np.int64)
        for row, own in y.items():
            part = slice(self.sums.start[row], self.sums.start[row + 1])
            np.subtract.at(w, self.sums.columns[part], own * self.sums.weights[part])
        return w

    def sides(self, y: Sparse) -> int:
        return sum(own * self.end(row, own) for row, own in y.items())

    def end(self, row: int, y: int) -> int:
        return int((self.sums.most if y > 0 else self.sums.least)[row])

    def total(self, kept: Kept) -> int | None:
        """The bound of no cell at all; counted again where an end moved that it uses."""
        moves = self.moves[0] * kept.uses[0], self.moves[1] * kept.uses[1]
        if kept.total is not None and kept.moves == moves:
            return kept.total
        lo, hi = (self.lo, self.hi) if kept.cells is None else (self.lo[kept.cells], self.hi[kept.cells])
        if ((kept.w > 0) & (hi == OPEN)).any():
            return None
        reach = np.where(kept.w > 0, hi, lo)
        if float((np.abs(kept.w).astype(np.float64) * np.abs(reach)).sum()) > WIDE:
            return None
        kept.total, kept.moves = int((kept.w * reach).sum()) + kept.rows, moves
        return kept.total
