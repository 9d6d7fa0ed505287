"""Whole multipliers of rows out of a solver's floating-point ones."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm
from typing import Any

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.core.sums import Sums, is_open
from genverify.solve.sums.matrix import matrix_of

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 60, 120, 840)
MORE = np.arange(1, 3_000)  # looked through where none of these fits
LAST = (10**6, 10**8)  # whatever the multipliers are, their rounding then costs next to nothing
FRACTION = 20_000  # the largest denominator of one multiplier
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
    left, sizes = MORE, np.unique(np.round(np.abs(y), 9)).tolist()
    for own in sizes:
        left = left[np.abs(own * left - np.rint(own * left)) < CLOSE]
    yield from left[:1].tolist()
    yield from DENOMINATORS
    common = _common(sizes)  # where a cell has no end, only exact multipliers show anything
    yield from (common,) if common is not None else ()
    yield from LAST


def _common(sizes: Iterable[float]) -> int | None:
    """The common denominator of numbers as fractions; none where it is large."""
    common = 1
    for own in sizes:
        common = lcm(common, Fraction(own).limit_denominator(FRACTION).denominator)
        if common > LAST[1]:
            return None
    return common


def whole_multiple(z: Floats) -> Ints | None:
    """The least multiple of numbers that is whole; none where it is large."""
    common = _common(np.unique(np.round(z, 9)).tolist())
    if common is None or np.abs(z).max(initial=0) * common > LARGEST:
        return None
    found: Ints = np.rint(z * common).astype(np.int64)
    return found


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
    """The most that c x can be by the multipliers Y, in whole numbers (inf where that is out of reach or an end is open)."""
    if not small_enough(sums, Y):
        return inf
    w = -weighed(sums, Y)
    for cell, own in c.items():
        w[cell] += own
    reach = np.where(w > 0, ends.hi, np.where(w < 0, ends.lo, 0))
    sides = np.where(Y > 0, sums.most, np.where(Y < 0, sums.least, 0))
    if is_open(reach).any() or is_open(sides).any():
        return inf
    size = float((np.abs(w) * np.abs(reach).astype(np.float64)).sum() + (np.abs(Y) * np.abs(sides).astype(np.float64)).sum())
    return int((w * reach).sum() + (Y * sides).sum()) if size < 2**62 else inf


def small_enough(sums: Sums, Y: Ints) -> bool:
    """Whether 64 bits hold what multipliers make of every cell."""
    return float(np.abs(Y).astype(np.float64).sum()) * float(np.abs(sums.weights).max(initial=1)) < 2**62


def weighed(sums: Sums, Y: Ints) -> Ints:
    """Y A: what multipliers of rows make of every cell."""
    used = np.flatnonzero(Y)
    total: Ints = matrix_of(sums)[used].T @ Y[used]
    return total
