"""Upper ends that the multipliers of one cell's proof show of other cells too, for those that have no proof of their own."""

from typing import Any

import numpy as np

from genverify.core.sums import Sums, is_open
from genverify.solve.sums.leaf import Ends, small_enough, weighed


class Offers:
    """
    The best upper end of every cell by the multipliers met so far. y A x is at most `most` (or `least` where y < 0) of its
    rows, so a cell that y A weighs v > 0 is at most that, less the least of all other cells, over v.
    """

    def __init__(self, sums: Sums, ends: Ends) -> None:
        self.sums, self.ends, self.hi = sums, ends, ends.hi.copy()
        self.by = np.full(len(sums.cells), -1)
        self.over = np.ones(len(sums.cells), dtype=np.int64)
        self.leaves = list[dict[str, int]]()

    def add(self, leaf: dict[str, Any]) -> None:
        """Look at every cell with the multipliers of a leaf."""
        Y = np.zeros(len(self.sums.rows), dtype=np.int64)
        for name, y in leaf["y"].items():
            Y[self.sums.row_place[name]] = y
        if not small_enough(self.sums, Y):
            return
        v = weighed(self.sums, Y)
        reach = np.where(v < 0, self.ends.hi, np.where(v > 0, self.ends.lo, 0))
        sides = np.where(Y > 0, self.sums.most, np.where(Y < 0, self.sums.least, 0))
        if is_open(reach).any() or is_open(sides).any():
            return
        sizes = np.abs(v.astype(np.float64) * reach).sum(), np.abs(Y.astype(np.float64) * sides).sum()
        if float(sum(sizes)) > 2**60:
            return
        least = v * reach
        room = int((Y * sides).sum() - least.sum())
        hi = np.where(v > 0, (room + least) // np.maximum(v, 1), self.hi)
        better = hi < self.hi
        self.hi[better], self.over[better], self.by[better] = hi[better], v[better], len(self.leaves)
        self.leaves.append(leaf["y"])

    def proof(self, cell: int) -> dict[str, Any]:
        d = int(self.over[cell])
        leaf: dict[str, Any] = {"y": self.leaves[self.by[cell]]}
        return leaf if d == 1 else {**leaf, "d": d}
