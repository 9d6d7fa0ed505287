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
from genverify.solve.recount import INTEGRAL, integer_point
from genverify.solve.solvers.base import Optimal
from genverify.solve.sums.leaf import Ends
from genverify.solve.sums.lp import CellProgram

MOST_ROWS = 300
SAMPLE = 4_000  # cells that may be raised
USED = 1_500  # ... of which those that take the least are paired
FEWEST = 60
LARGEST_GROUP = 2.0**35
PAIRS = 2_000, 150_000
OVER = 12  # pairs of one side, as a multiple of the square root of the group
LOOKED, CHUNK = 2_000, 200  # pairs of pairs that are tried, and how many at a time
KEY_BITS, PLACE_BITS = 22, 19  # two keys below 2**22, or one below LARGEST_GROUP, and the place of a pair
VERTICES, PULLED = 15, 0.2  # vertices that are tried; the share of the cells that pull to the next
WHOLE = 1e-5


@dataclass
class Corner:
    """Whole counts near vertices of a program of its own, all of whose rows are equations that say different things."""

    lp: CellProgram
    rng: np.random.Generator

    def attain(self, relaxed: CellProgram, ends: Ends, cell: int, sign: int) -> Ints | None:
        """Whole counts between ends that hold the cell, from where its linear program came out; none if luck fails."""
        self.lp.set_ends(ends.lo, ends.hi)
        self.lp.start_at(relaxed)
        objective = np.zeros(len(ends.lo))
        objective[cell] = sign
        for _ in range(VERTICES):
            answer = self.lp.maximise(objective)
            if not isinstance(answer, Optimal):
                return None
            whole = integer_point(answer.z)
            whole = self.near(answer.z, ends) if whole is None else whole
            if whole is not None:
                return whole
            objective = np.where(self.rng.random(len(objective)) < PULLED, self.rng.uniform(-1, 0, len(objective)), 0.0)
        return None

    def near(self, z: Floats, ends: Ends) -> Ints | None:
        """Whole counts between these ends, from the vertex z that the program found last."""
        basis = self.lp.basis()
        inverse, order = (None, 0) if basis is None else _inverse(self.lp.A[:, basis].toarray())
        if basis is None or inverse is None:
            return None
        others = self.others(z, ends, basis)
        W = (self.lp.A[:, others].T @ inverse.T).T  # sparse: no library starts threads for it
        x = z[basis]
        chosen = _cheapest(x - ends.lo[basis], W)
        own = np.hstack([W[:, chosen], np.zeros((len(x), 1))])  # the last: nothing is raised
        raised = _lookup(np.rint(own * order), np.rint(x * order), order, self.sides(len(chosen), order), self.rng)
        low, high = ends.lo[basis] - INTEGRAL, ends.hi[basis] + INTEGRAL
        for four in np.array_split(raised, len(raised) // CHUNK + 1):
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
    inverse: Floats = np.linalg.inv(B).astype(np.float64)
    order = int(np.rint(np.exp(size)))
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
    reach = min(2**20, max(2, 2**62 // (order * len(x))))
    draws = rng.integers(0, reach, (1 if order > 2**KEY_BITS else 2, len(x)))
    columns, goal = np.mod(W, order).astype(np.int64), draws @ np.mod(x, order).astype(np.int64)
    keys = np.mod(draws @ columns, order)
    ones = np.mod(keys[:, sides[0][:, 0]] + keys[:, sides[0][:, 1]], order)
    others = np.mod(goal[:, None] - keys[:, sides[1][:, 0]] - keys[:, sides[1][:, 1]], order)
    size = len(sides[0])
    packed = np.concatenate([_packed(ones, order), _packed(others, order)]) * 2**PLACE_BITS + np.arange(2 * size)
    packed.sort()
    place = packed % 2**PLACE_BITS
    met = np.flatnonzero((np.diff(packed // 2**PLACE_BITS) == 0) & (place[:-1] < size) & (place[1:] >= size))[:LOOKED]
    return np.hstack([sides[0][place[met]], sides[1][place[met + 1] - size]])


def _packed(keys: Ints, order: int) -> Ints:
    """One number of at most 44 bits for one or two keys below the order."""
    packed: Ints = keys[0] if len(keys) == 1 else keys[0] * order + keys[1]
    return packed
