"""Blocks of an area whose sizes are published: each gets its number of rows, and a start is put into that order."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Ints
from genverify.core.predicates import Predicate

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BlockCounts:
    """What is published about each block of an area: the number of its rows (B,), and the counts of queries (B, queries)."""

    sizes: Ints
    predicates: tuple[Predicate, ...]
    counts: Ints

    @property
    def places(self) -> npt.NDArray[np.int32]:
        """The block of each row of the area: as many rows in each as it has."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.sizes)


def place_rows(rows: Codes, sizes: Ints, seed: int) -> Codes:
    """
    As many of the given rows in every block as it has; their last column is a block, which they keep where there is room.

    Rows are chosen at random; those for which their own block has no room go, in random order, where rows are missing.

    >>> place_rows(np.array([[7, 0], [7, 0], [8, 1], [9, 1]]), np.array([1, 2]), seed=1).tolist()
    [[7, 0], [8, 1], [9, 1]]
    """
    rows = rows[np.random.default_rng(seed).permutation(len(rows))]
    rows = rows[np.argsort(rows[:, -1], kind="stable")]
    first = np.searchsorted(rows[:, -1], rows[:, -1])
    stays = np.arange(len(rows)) - first < sizes[rows[:, -1]]
    missing = sizes - np.bincount(rows[stays, -1], minlength=len(sizes))
    moved = np.random.default_rng(seed).permutation(rows[~stays])[: missing.sum()]
    moved[:, -1] = np.repeat(np.arange(len(sizes)), missing)
    placed = np.concatenate([rows[stays], moved])
    return placed[np.argsort(placed[:, -1], kind="stable")]
