"""Confidence sets: rows ranked by how often they were reconstructed, and how many of them are private rows (equation 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genverify.core.errors import DataError

Codes = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
    (keys,) = pack_rows([rows])
    _, first, frequency = np.unique(keys, return_index=True, return_counts=True)
    return rank_counts(rows[first], frequency, seed)


def rank_counts(rows: Codes, frequency: Ints, seed: int, most: int | None = None) -> ConfidenceSet:
    """R(X) where the distinct rows of X, in an order of their own, and their frequencies are known; at most so many."""
    ties = np.random.default_rng(seed).permutation(len(rows))
    order = np.lexsort((ties, -frequency))[:most]
    return ConfidenceSet(rows[order], frequency[order].astype(np.int64))


def count_holders(rows: Codes, datasets: Codes) -> Ints:
    """How many of the datasets (K, rows, columns) hold each row; a dataset with several copies counts once."""
    ours, theirs = pack_rows([rows, datasets.reshape(-1, datasets.shape[-1])])
    held = np.sort(theirs.reshape(datasets.shape[:2]), axis=1)
    first = np.concatenate([np.ones((len(held), 1), dtype=bool), held[:, 1:] != held[:, :-1]], axis=1)
    known, times = np.unique(held[first], return_counts=True)
    place = np.minimum(np.searchsorted(known, ours), len(known) - 1)
    holders: Ints = np.where(known[place] == ours, times[place], 0)
    return holders


def match_rates(ranked: ConfidenceSet, private_rows: Codes) -> Floats:
    """MATCH-RATE_{D,k}(R) for k = 1..R: the fraction of the first k rows that appear in D (equation 1)."""
    return np.cumsum(_hits(ranked, private_rows)) / np.arange(1, len(ranked.rows) + 1)


def unique_rows(private_rows: Codes, holdout: Codes | None = None) -> int:
    """u: the number of distinct rows of D, or of the holdout where that has fewer."""
    sizes = [len(np.unique(pack_rows([rows])[0])) for rows in (private_rows, holdout) if rows is not None]
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
    ours, theirs = pack_rows([ranked.rows, private_rows])
    return np.isin(ours, theirs)


def pack_rows(parts: Sequence[npt.NDArray[np.integer]]) -> list[npt.NDArray[np.generic]]:
    """Rows as single keys that sort as the rows do: integers where the codes leave room for them, else records of codes."""
    widths = {part.shape[1] for part in parts}
    if len(widths) != 1:
        raise DataError(f"rows of {' and '.join(map(str, sorted(widths)))} columns cannot match: give the same columns")
    full = [part for part in parts if len(part)]
    if not full:
        return [np.zeros(0, np.int64) for _ in parts]
    low = np.min([part.min(axis=0) for part in full], axis=0)
    span = np.max([part.max(axis=0) for part in full], axis=0) - low + 1
    if np.prod(span.astype(float)) < 2**62:
        weights = np.append(np.cumprod(span[:0:-1])[::-1], 1).astype(np.int64)
        return [(part - low).astype(np.int64) @ weights for part in parts]
    records = np.dtype([(f"c{column}", np.int64) for column in range(len(low))])
    return [np.ascontiguousarray(part, np.int64).view(records).ravel() for part in parts]
