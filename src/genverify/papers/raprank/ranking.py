"""Confidence sets: rows ranked by how often they were reconstructed, and how many of them are private rows (equation 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genverify.core.arrays import positions, row_keys
from genverify.core.arraytypes import Floats, Ints
from genverify.core.errors import DataError

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ConfidenceSet:
    """The ordered set R: distinct rows (R, columns), the most confident first, and how often each one appeared."""

    rows: Codes
    frequency: Ints


def rank_rows(rows: Codes, seed: int) -> ConfidenceSet:
    """
    R(X): the distinct rows of a multiset by frequency; ties in an order drawn from the seed, whatever the order of the rows.

    >>> ranked = rank_rows(np.array([[1, 2], [3, 4], [3, 4]]), seed=1)
    >>> ranked.rows.tolist(), ranked.frequency.tolist()
    ([[3, 4], [1, 2]], [2, 1])
    """
    (keys,) = row_keys([rows])
    _, first, frequency = np.unique(keys, return_index=True, return_counts=True)
    return rank_counts(rows[first], frequency, seed)


def rank_counts(rows: Codes, frequency: Ints, seed: int, most: int | None = None) -> ConfidenceSet:
    """R(X) where the distinct rows of X, in an order of their own, and their frequencies are known; at most `most` rows."""
    ties = np.random.default_rng(seed).permutation(len(rows))
    order = np.lexsort((ties, -frequency))[:most]
    return ConfidenceSet(rows[order], frequency[order].astype(np.int64))


def count_holders(rows: Codes, datasets: Codes) -> Ints:
    """How many of the datasets (K, rows, columns) hold each row; a dataset with several copies counts once."""
    ours, theirs = row_keys([rows, datasets.reshape(-1, datasets.shape[-1])])
    held = np.sort(theirs.reshape(datasets.shape[:2]), axis=1)
    first = np.concatenate([np.ones((len(held), 1), dtype=bool), held[:, 1:] != held[:, :-1]], axis=1)
    known, times = np.unique(held[first], return_counts=True)
    return np.append(times, 0)[positions(known, ours)]


def match_rates(ranked: ConfidenceSet, private_rows: Codes) -> Floats:
    """MATCH-RATE_{D,k}(R) for k = 1..R: the fraction of the first k rows that appear in D (equation 1)."""
    return np.cumsum(_hits(ranked, private_rows)) / np.arange(1, len(ranked.rows) + 1)


def unique_rows(private_rows: Codes, holdout: Codes | None = None) -> int:
    """u: the number of distinct rows of D, or of the holdout where that has fewer."""
    sizes = [len(np.unique(row_keys([rows])[0])) for rows in (private_rows, holdout) if rows is not None]
    return min(sizes)


def match_curve(ranked: ConfidenceSet, private_rows: Codes, u: int, grid: Sequence[float] | Floats) -> Floats:
    """
    The match rate at k = ceil(x u) for every x of the grid, so that blocks of different sizes can be averaged.

    A list of fewer than k rows counts its missing rows as misses: its hits are divided by k all the same.
    """
    if u < 1:
        raise DataError(f"u = {u}: the private dataset, or the holdout, has no rows; leave this block out")
    # The small number keeps x u = 3.0000000000000004, meant as 3, from becoming 4.
    k = np.maximum(np.ceil(np.asarray(grid, float) * u - 1e-9).astype(np.int64), 1)
    hits = np.concatenate([[0], np.cumsum(_hits(ranked, private_rows))])
    rates: Floats = hits[np.minimum(k, len(ranked.rows))] / k
    return rates


def _hits(ranked: ConfidenceSet, private_rows: Codes) -> npt.NDArray[np.bool_]:
    ours, theirs = row_keys([ranked.rows, private_rows])
    return np.isin(ours, theirs)
