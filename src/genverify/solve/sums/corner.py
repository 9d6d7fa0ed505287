"""
Whole counts near a fractional vertex, without another program (Gomory's relaxation at a corner).

A vertex is x_B = B^-1 b for its basis B; every other cell is at an end. Raise some of the others by one each: x_B falls by
their columns of W = B^-1 N, and becomes whole where the columns add up to x_B modulo 1. These remainders form a finite group
of as many elements as det B, so few cells are enough: pairs that take little of the small counts are drawn on two sides,
and two pairs that add up to the remainder of x_B are looked up by a key that adds up as they do. What is found counts only
after a recount.
"""

from dataclasses import dataclass

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.solve.recount import INTEGRAL
from genverify.solve.sums.leaf import Ends
from genverify.solve.sums.lp import CellProgram

MOST_ROWS = 300
SAMPLE = 4_000  # cells that may be raised
USED = 1_500  # ... of which those that take the least are paired
FEWEST = 60
LARGEST_GROUP = 2.0**44
PAIRS = 2_000, 150_000
OVER = 12  # pairs of one side, as a multiple of the square root of the group
LOOKED = 2_000  # pairs of pairs that are tried
WHOLE = 1e-5


@dataclass
class Corner:
    """Whole counts near vertices of one program, all of whose rows are equations that say different things."""

    lp: CellProgram
    rng: np.random.Generator

    def near(self, z: Floats, ends: Ends) -> Ints | None:
        """Whole counts between these ends, from the vertex z that the program found last; none if luck fails."""
        basis = self.lp.basis() if len(self.lp.rows) <= MOST_ROWS else None
        if basis is None:
            return None
        inverse, order = _inverse(self.lp.A[:, basis].toarray())
        if inverse is None:
            return None
        others = self.others(z, ends, basis)
        W = inverse @ self.lp.A[:, others].toarray()
        x = z[basis]
        chosen = _cheapest(x - ends.lo[basis], W)
        sides = self.sides(len(chosen), order)
        raised = _lookup(np.rint(W[:, chosen] * order), np.rint(x * order), order, sides, self.rng)
        own = np.hstack([W[:, chosen], np.zeros((len(x), 1))])  # the last: nothing is raised
        low, high = ends.lo[basis] - INTEGRAL, ends.hi[basis] + INTEGRAL
        for four in np.array_split(raised, max(1, len(raised) // 200)) if len(raised) else []:
            left = x[:, None] - own[:, four].sum(axis=2)
            good = (left > low[:, None]) & (left < high[:, None]) & (np.abs(left - np.rint(left)) < WHOLE)
            for at in np.flatnonzero(good.all(axis=0))[:1].tolist():
                found = np.rint(z).astype(np.int64)
                found[basis] = np.rint(left[:, at])
                np.add.at(found, others[chosen[four[at][four[at] < len(chosen)]]], 1)
                return found
        return None

    def others(self, z: Floats, ends: Ends, basis: Ints) -> Ints:
        """Cells outside the basis that may be raised by two."""
        free = z + 1.5 < ends.hi
        free[basis] = False
        cells = np.flatnonzero(free)
        return self.rng.choice(cells, SAMPLE, replace=False) if len(cells) > SAMPLE else cells

    def sides(self, cells: int, order: int) -> tuple[Ints, Ints]:
        """Pairs of cells for both sides; in a third of them the second is none, and one pair is none at all."""
        size = int(np.clip(OVER * np.sqrt(float(order)), *PAIRS))
        first, second = self.rng.integers(0, cells + 1, (2, size, 2))
        first[::3, 1] = second[::3, 1] = cells
        second[0] = cells
        return first, second


def _inverse(B: Floats) -> tuple[Floats | None, int]:
    """B^-1 and the least whole number that makes all of it whole; none where the group is too large to be certain of it."""
    sign, size = np.linalg.slogdet(B)
    if sign == 0 or size > np.log(LARGEST_GROUP):
        return None, 0
    inverse, order = np.linalg.inv(B), int(np.rint(np.exp(size)))
    whole = np.rint(inverse * order)
    if np.abs(inverse * order - whole).max() > 0.01:
        return None, 0
    return inverse, order // int(np.gcd.reduce(np.append(np.abs(whole).astype(np.int64).ravel(), order)))


def _cheapest(room: Floats, W: Floats) -> Ints:
    """The cells that can be raised furthest before a count of the basis is used up."""
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(W > INTEGRAL, np.maximum(room, 0.0)[:, None] / W, np.inf).min(axis=0, initial=np.inf)
    furthest = np.argsort(-steps, kind="stable")
    return np.asarray(furthest[: max(FEWEST, min(USED, int((steps >= 1).sum())))])


def _lookup(W: Floats, x: Floats, order: int, sides: tuple[Ints, Ints], rng: np.random.Generator) -> Ints:
    """Pairs of pairs, as four places each, whose remainders probably add up to that of x."""
    reach = max(2, 2**62 // (order * len(x)))
    draws = rng.integers(0, min(reach, 2**20), (2 if order < 2**31 else 1, len(x)))
    columns = np.hstack([np.mod(W, order), np.zeros((len(x), 1))]).astype(np.int64)
    keys, goal = np.mod(draws @ columns, order), np.mod(draws @ np.mod(x, order).astype(np.int64), order)
    ones = _packed(np.mod(keys[:, sides[0]].sum(axis=2), order), order)
    others = _packed(np.mod(goal[:, None] - keys[:, sides[1]].sum(axis=2), order), order)
    sorting = np.argsort(ones, kind="stable")
    at = np.minimum(np.searchsorted(ones[sorting], others), len(ones) - 1)
    met = np.flatnonzero(ones[sorting][at] == others)[:LOOKED]
    return np.hstack([sides[0][sorting[at[met]]], sides[1][met]])


def _packed(keys: Ints, order: int) -> Ints:
    """One number for one or two keys below the order."""
    return keys[0] if len(keys) == 1 else keys[0] * order + keys[1]
