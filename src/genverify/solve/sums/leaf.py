"""Whole multipliers of rows out of a solver's floating-point ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.core.sums import Sums
from genverify.solve.sums.matrix import matrix_of

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 60, 120, 840)
MORE = np.arange(1, 3_000)  # looked through where none of these fits
LAST = (10**6, 10**8)  # whatever the multipliers are, their rounding then costs next to nothing
LARGEST = 10**10
CLOSE = 1e-5


@dataclass(frozen=True)
class Ends:
    """The ends of every cell at one place of a search."""

    lo: Ints
    hi: Ints

    def held(self, cell: int, sign: int, value: int, fixed: bool = False) -> "Ends":
        """The same with sign x[cell] at least the value, or at it."""
        lo, hi = self.lo.copy(), self.hi.copy()
        if sign > 0 or fixed:
            lo[cell] = sign * value
        if sign < 0 or fixed:
            hi[cell] = sign * value
        return Ends(lo, hi)


def exact_leaf(sums: Sums, ends: Ends, y: Floats | None, c: dict[int, int], b: int) -> dict[str, Any] | None:
    """
    A leaf that shows c x <= b between these ends: the multipliers y rounded over a small denominator. Whatever rounding
    leaves over is taken at the ends of the cells, so every rounding is valid, and only the bound is to be tested.
    """
    if y is None:
        return None
    for d in _denominators(y):
        Y = np.rint(y * d)
        if not np.abs(Y).max(initial=0) <= LARGEST:
            return None
        Y = Y.astype(np.int64)
        if bound(sums, ends, Y, {cell: d * own for cell, own in c.items()}) < d * (b + 1):
            used = np.flatnonzero(Y).tolist()
            leaf: dict[str, Any] = {"y": {sums.rows[row]: int(Y[row]) for row in used}}
            return leaf if d == 1 else {**leaf, "d": d}
    return None


def _denominators(y: Floats) -> Iterator[int]:
    """Denominators to try: the smallest that makes all multipliers whole, the usual ones, large ones."""
    left = MORE
    for own in np.unique(np.round(np.abs(y), 9)).tolist():
        left = left[np.abs(own * left - np.rint(own * left)) < CLOSE]
    yield from left[:1].tolist()
    yield from DENOMINATORS
    yield from LAST


def farkas_leaf(sums: Sums, ends: Ends, y: Floats | None) -> dict[str, Any] | None:
    """A leaf that shows that no counts fit, from multipliers without a scale."""
    if y is None:
        return None
    sizes = np.abs(y)[np.abs(y) > 1e-9]
    for scale in (1.0, *(1.0 / size for size in np.unique(np.round(sizes, 9))[:5].tolist())) if len(sizes) else ():
        leaf = exact_leaf(sums, ends, y * scale, {}, -1)
        if leaf is not None:
            return leaf
    return None


def bound(sums: Sums, ends: Ends, Y: Ints, c: dict[int, int]) -> float:
    """The most that c x can be by the multipliers Y, in whole numbers (as a float only where it is far out of reach)."""
    w = -weighed(sums, Y)
    for cell, own in c.items():
        w[cell] += own
    reach = np.where(w > 0, ends.hi, ends.lo)
    sides = np.where(Y > 0, sums.most, sums.least)
    size = float((np.abs(w) * np.abs(reach).astype(np.float64)).sum() + (np.abs(Y) * np.abs(sides).astype(np.float64)).sum())
    return int((w * reach).sum() + (Y * sides).sum()) if size < 2**62 else inf


def weighed(sums: Sums, Y: Ints) -> Ints:
    """Y A: what multipliers of rows make of every cell."""
    used = np.flatnonzero(Y)
    total: Ints = matrix_of(sums)[used].T @ Y[used]
    return total
