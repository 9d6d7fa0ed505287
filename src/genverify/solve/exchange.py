"""Exchanges: two records are replaced by two others that lie, together, in the same cells."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from genverify.core.arrays import positions, row_weights
from genverify.core.arraytypes import Floats, Ints
from genverify.solve.program import Program

LOOKUPS_AT_ONCE = 200_000
TRIED = 4000
SLOTS = 64  # per class, so that one in 64 of the sums that no class has is looked up in vain
LONGEST_LIST = 2**20
MOST_ATOMS = 2**15 - 1
EXACT = 2**53
HASH_BITS = 44  # with up to 2**8 cells per record, sums of hashes are exact in floating-point numbers


def _weighted(table: npt.NDArray[np.int16]) -> Floats:
    """
    The atoms of each type in the columns where types differ, weighted so that their sum tells types apart; exact in
    floating-point numbers. Without such weights few swaps are found, and those that are found are right all the same.
    """
    low, high = table.min(axis=0, initial=MOST_ATOMS).astype(np.int64), table.max(axis=0, initial=0)
    vary = np.flatnonzero(high > low)
    sizes = (high - low + 1)[vary]
    weights = row_weights(sizes) if len(vary) else np.zeros(0, dtype=np.int64)
    if weights is None or (len(vary) and weights[-1] * sizes[-1] >= EXACT):
        return np.zeros((len(table), len(vary)))
    least: Floats = (table[:, vary] - low[vary]) * weights.astype(np.float64)
    return least


class _Known:
    """The class of the type with each key: looked up in a list of all keys where that is short, else by a search."""

    def __init__(self, keys: Ints, class_of: Ints) -> None:
        self.most = int(keys.max(initial=0))
        self.listed: npt.NDArray[np.int32] | None = None
        if self.most < LONGEST_LIST:
            self.listed = np.full(self.most + 1, -1, dtype=np.int32)
            self.listed[keys] = class_of
            return
        in_order = np.argsort(keys, kind="stable")
        self.keys, self.class_of_key = keys[in_order], np.append(class_of[in_order], -1)

    def classes(self, keys: Ints) -> Ints:
        """The class of the type with each key, from 0 on; -1 where no type has it."""
        if self.listed is None:
            return self.class_of_key[positions(self.keys, keys)]
        found = self.listed[np.minimum(keys, self.most)].astype(np.int64)
        found[keys > self.most] = -1
        return found


class Exchange:
    """Finds exchanges by hashed columns: pairs of classes whose hashes have the same sum, then compared in integers."""

    def __init__(self, program: Program, rng: np.random.Generator) -> None:
        self.rng, self.program = rng, program
        # A random weighted sum stands for a whole column: two pairs in the same cells have equal sums, so that a partner is
        # looked up instead of compared cell by cell. Equal sums by chance are found out in _same_cells.
        random = rng.integers(1, 2**HASH_BITS, size=len(program.rows)).astype(np.float64)
        self.hashed: Ints = (program.columns @ random).astype(np.int64)
        order = np.argsort(self.hashed, kind="stable")
        self.sorted, self.order = self.hashed[order], np.append(order, -1)
        self.weighted = _weighted(program.types.table)
        self.key: Ints = self.weighted.sum(axis=1).astype(np.int64)
        self.known = _Known(self.key, program.class_of)
        # The last bits of a hash come first: most sums belong to no class, and a short table of bits says so.
        self.mask = (1 << min(30, (SLOTS * program.classes).bit_length())) - 1
        self.low = (self.hashed & self.mask).astype(np.int32)
        self.taken = np.zeros(self.mask + 1, dtype=bool)
        self.taken[self.low] = True

    def swap(self, points: Ints) -> Ints:
        """
        Exchanges in several datasets at once (rows of classes): records are paired at random, in all datasets alike, and the
        two of a pair swap their codes in random columns where that leaves every cell as it was.
        """
        half, order = points.shape[1] // 2, self.rng.permutation(points.shape[1])
        one_places, other_places = order[:half], order[half : 2 * half]
        ones, others = points[:, one_places], points[:, other_places]
        news, partners = self._swapped(self._some_type(ones), self._some_type(others))
        # -1, no such type, looks up the last hash: the sum may be equal by chance, so it is asked for by itself
        same = self.hashed[news] + self.hashed[partners] == self.hashed[ones] + self.hashed[others]
        same &= (news >= 0) & (partners >= 0) & (news != ones) & (news != others)
        which, pair = np.nonzero(same)
        news, partners = news[which, pair], partners[which, pair]
        right = self._same_cells(ones[which, pair], others[which, pair], news, partners)
        which, pair, moved = which[right], pair[right], points.copy()
        moved[which, one_places[pair]], moved[which, other_places[pair]] = news[right], partners[right]
        return moved

    def _swapped(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        """The classes of two types after they swapped their codes in random columns; -1 where no type has the codes."""
        chance = self.rng.integers(0, 256, (*first.shape, 1), dtype=np.uint8)
        chosen = self.rng.integers(0, 256, (*first.shape, self.weighted.shape[1]), dtype=np.uint8) < chance
        change = np.einsum("wpc,wpc->wp", self.weighted[second] - self.weighted[first], chosen).astype(np.int64)
        return self.known.classes(self.key[first] + change), self.known.classes(self.key[second] - change)

    def _some_type(self, classes: Ints) -> Ints:
        """A random type of each class."""
        order, starts, sizes = self.program.grouped
        if len(order) == len(sizes):  # every class is one type
            return classes
        types: Ints = order[starts[classes] + self.rng.integers(0, sizes[classes])]
        return types

    def step(self, points: Ints) -> Ints:
        """
        One random exchange in each of several datasets, given as the classes of their records, one row each; the same
        records where the drawn pair has no exchange.
        """
        if points.shape[1] < 2:
            return points
        walkers = np.arange(len(points))
        places = self.rng.random(points.shape).argpartition(1, axis=1)[:, :2].T
        ones, others = points[walkers, places[0]], points[walkers, places[1]]
        which, new = self._partners(self.hashed[ones] + self.hashed[others], self._some())
        partner = self._class_of(self.hashed[ones[which]] + self.hashed[others[which]] - self.hashed[new])
        fresh = (partner >= 0) & (new != ones[which]) & (new != others[which])
        which, new, partner = which[fresh], new[fresh], partner[fresh]
        choices = np.bincount(which, minlength=len(points))
        pick = (np.cumsum(choices) - choices + self.rng.random(len(points)) * choices).astype(np.int64)
        moving = np.flatnonzero(choices)
        pick = pick[moving]
        right = self._same_cells(ones[moving], others[moving], new[pick], partner[pick])
        moving, pick = moving[right], pick[right]
        moved = points.copy()
        moved[moving, places[0][moving]], moved[moving, places[1][moving]] = new[pick], partner[pick]
        return moved

    def _some(self) -> Ints:
        """The classes that a step tries: all, or a random part of many, because most pairs have many exchanges."""
        if self.program.classes <= TRIED:
            return np.arange(self.program.classes)
        return np.unique(self.rng.integers(0, self.program.classes, size=TRIED))

    def improve(self, z: Ints, c: Ints) -> Ints | None:
        """A point with a larger c z, one exchange away; None where there is none."""
        best = np.flatnonzero(c == c.max(initial=0))
        for ones, others in self._pairs(z, c, max(1, LOOKUPS_AT_ONCE // max(1, len(best)))):
            pair, new = self._partners(self.hashed[ones] + self.hashed[others], best)
            partner = self._class_of(self.hashed[ones[pair]] + self.hashed[others[pair]] - self.hashed[new])
            useful = np.flatnonzero((partner >= 0) & (c[new] + c[partner] > c[ones[pair]] + c[others[pair]]))[:10]
            pair, new, partner = pair[useful], new[useful], partner[useful]
            right = np.flatnonzero(self._same_cells(ones[pair], others[pair], new, partner))
            if len(right):
                first, moved = right[0], z.copy()
                changed = [ones[pair[first]], others[pair[first]], new[first], partner[first]]
                np.add.at(moved, changed, [-1, -1, 1, 1])
                return moved
        return None

    def _pairs(self, z: Ints, c: Ints, step: int) -> Iterator[tuple[Ints, Ints]]:
        """The pairs of records that an exchange could improve, each pair of classes once."""
        used = np.flatnonzero(z)
        ones, others = (used[side] for side in np.triu_indices(len(used)))
        useful = np.flatnonzero((c[ones] + c[others] < 2 * c.max(initial=0)) & ((ones != others) | (z[ones] > 1)))
        for at in range(0, len(useful), step):
            yield ones[useful[at : at + step]], others[useful[at : at + step]]

    def _partners(self, sums: Ints, among: Ints) -> tuple[Ints, Ints]:
        """For each sum of two hashes, the classes (of some) that may be one of two with this sum: a quick look only."""
        low, wanted = self.low[among], (sums & self.mask).astype(np.int32)
        step = max(1, LOOKUPS_AT_ONCE // max(1, len(low)))
        parts = []
        for at in range(0, len(sums), step):
            slots = wanted[at : at + step, None] - low
            slots &= np.int32(self.mask)
            which, new = np.divmod(np.flatnonzero(self.taken.take(slots)), len(low))
            parts.append((which + at, among[new]))
        if not parts:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return np.concatenate([which for which, _ in parts]), np.concatenate([new for _, new in parts])

    def _class_of(self, wanted: Ints) -> Ints:
        """The class with each wanted hash, or -1."""
        return self.order[positions(self.sorted, wanted)]

    def _same_cells(self, ones: Ints, others: Ints, new: Ints, partners: Ints) -> npt.NDArray[np.bool_]:
        """Whether two pairs of classes lie in exactly the same cells."""
        if self.cells is None:
            A = self.program.A
            return np.asarray((A[:, ones] + A[:, others] == A[:, new] + A[:, partners]).all(axis=0))
        # one of the two lies in the same cells, and so do both
        a, b, c, d = (self.cells[classes] for classes in (ones, others, new, partners))
        return np.asarray((((a ^ b) == (c ^ d)) & ((a & b) == (c & d))).all(axis=1))

    @cached_property
    def cells(self) -> npt.NDArray[np.uint64] | None:
        """The cells of each class, one bit each; None where records add other numbers than 0 and 1 to some cell."""
        if self.program.largest > 1:
            return None
        packed = np.packbits(self.program.A.astype(bool, copy=False), axis=0)
        bytes_ = np.zeros((self.program.classes, -(-len(packed) // 8) * 8), dtype=np.uint8)
        bytes_[:, : len(packed)] = packed.T
        return bytes_.view(np.uint64)
