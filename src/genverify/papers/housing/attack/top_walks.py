"""Seeded walks among the datasets that fit: households trade columns, many datasets at a time."""

import numpy as np
import numpy.typing as npt

from genverify.core.arrays import positions, row_weights
from genverify.core.arraytypes import Ints
from genverify.core.errors import DataError
from genverify.papers.housing.attack.types_program import TypeProgram

TRADED = 4  # households that one step may touch: two pairs
FREE, ALONE, SINGLE = 0.7, 0.25, 0.5


class Walks:
    """
    Datasets that all begin as one dataset that fits, and walk on independently.

    A step lets one or two pairs of households trade some of their columns, or one household take them from a type drawn
    at random; it counts where every row stays within its range and the cost within a limit. Often just the free columns
    are traded, which costs nothing.
    """

    def __init__(self, program: TypeProgram, start: Ints, walks: int, rng: np.random.Generator) -> None:
        self.program, self.rng = program, rng
        self.households = np.tile(np.repeat(np.arange(program.types), start), (walks, 1))
        self.counts = np.tile(program.counted(start), (walks, 1))
        self.cost = np.full(walks, int(program.cost @ start), dtype=np.int64)
        weights = row_weights(program.codes.max(axis=0, initial=0) + 1)
        if weights is None:
            raise DataError("the columns of the households have too many codes for walks among datasets; merge some codes")
        self._parts = program.codes * weights
        self._keys = self._parts.sum(axis=1)
        order = np.argsort(self._keys)
        self._sorted, self._order = self._keys[order], np.append(order, -1)
        self._free = np.isin(program.names, program.free)

    def step(self, limit: int) -> None:
        """One step of every walk, to datasets that cost no more than the limit."""
        walks, n = self.households.shape
        places = self.rng.integers(n, size=(walks, TRADED))
        old = np.take_along_axis(self.households, places, axis=1)
        new = self._traded(old.reshape(-1, 2)).reshape(walks, TRADED)
        single = self.rng.random(walks) < SINGLE
        new[single, 2:] = old[single, 2:]
        counts = self.counts + (self.program.columns[new] - self.program.columns[old]).sum(axis=1)
        cost = self.cost + (self.program.cost[new] - self.program.cost[old]).sum(axis=1)
        within = ((counts >= self.program.lo) & (counts <= self.program.hi)).all(axis=1)
        good = within & (cost <= limit) & (new >= 0).all(axis=1) & ~_clash(places, new != old)
        rows, sides = np.nonzero((new != old) & good[:, None])
        self.households[rows, places[rows, sides]] = new[rows, sides]
        self.counts[good], self.cost[good] = counts[good], cost[good]

    def _traded(self, pair: Ints) -> Ints:
        """What becomes of the two households of each pair: types, or -1 where there is no such type."""
        pairs = len(pair)
        chosen = self.rng.random((pairs, len(self._free))) < 0.5
        chosen[self.rng.random(pairs) < FREE] = self._free
        alone = self.rng.random(pairs) < ALONE
        source = np.where(alone, self.rng.integers(self.program.types, size=pairs), pair[:, 1])
        gained = ((self._parts[source] - self._parts[pair[:, 0]]) * chosen).sum(axis=1)
        first = self._find(self._keys[pair[:, 0]] + gained)
        second = np.where(alone, pair[:, 1], self._find(self._keys[pair[:, 1]] - gained))
        return np.column_stack([first, second])

    def _find(self, keys: Ints) -> Ints:
        return self._order[positions(self._sorted, keys)]


def _clash(places: Ints, changed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Walks in which two changes meet in one household."""
    clash = np.zeros(len(places), dtype=bool)
    for one in range(TRADED):
        for other in range(one + 1, TRADED):
            clash |= (places[:, one] == places[:, other]) & changed[:, one] & changed[:, other]
    return clash
