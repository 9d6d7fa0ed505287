"""
Discrete Gaussian noise on the counts of a release, what is then known of each count, and counts made consistent again.

Nothing here knows where the counts come from: a row per block, a column per query.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, sqrt

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Ints
from genverify.core.errors import ConfigError
from genverify.protect.discrete_gaussian import sample

LEAST_BETA = 1e-200
LARGEST_SIGMA2 = 10**12
MARGIN = 1e-8  # above the relative error of the sums below (about 1e-16 for each of at most 3e7 positive terms)


@dataclass(frozen=True)
class Noise:
    """The variance of the noise of each query (column)."""

    variances: tuple[Fraction, ...]

    def add(self, counts: Ints, rng: np.random.Generator) -> Ints:
        """The counts (blocks x queries) with independent noise: whole numbers, negative ones among them."""
        noisy = counts.astype(np.int64)
        for sigma2, columns in self._columns().items():
            drawn = sample(sigma2, len(counts) * len(columns), rng)
            noisy[:, columns] += drawn.reshape(len(counts), len(columns))
        return noisy

    def _columns(self) -> dict[Fraction, list[int]]:
        columns: dict[Fraction, list[int]] = {}
        for place, sigma2 in enumerate(self.variances):
            columns.setdefault(sigma2, []).append(place)
        return columns


def width(sigma2: Fraction, beta: float) -> int:
    """
    The least w for which P(|X| > w) <= beta is certain, X discrete Gaussian.

    Both sums, of the tail and of everything, are taken term by term; rounding errors can only make w larger.

    >>> [width(Fraction(1), beta) for beta in (0.5, 0.05, 0.001)]
    [1, 2, 3]
    """
    if not LEAST_BETA <= beta < 1:
        raise ConfigError(f"beta = {beta}: it is a chance; give a number from {LEAST_BETA} to below 1")
    if not 0 < sigma2 <= LARGEST_SIGMA2:
        raise ConfigError(f"sigma^2 = {sigma2}: give a variance above 0 and at most {LARGEST_SIGMA2}")
    tail = tails(sigma2, ceil(sqrt(sigma2) * sqrt(80 - 2 * log(beta))) + 2)
    return int(np.argmax(tail * (1 + MARGIN) <= beta))


def tails(sigma2: Fraction, reach: int) -> npt.NDArray[np.float64]:
    """P(|X| > w) for w = 0 to reach - 1; what lies beyond the reach is bounded from above by a geometric series."""
    values = np.arange(reach + 1, dtype=np.float64)
    weights = np.exp(-(values**2) / (2 * float(sigma2)))
    beyond = weights[-1] / np.expm1(min(reach / float(sigma2), 700.0))
    from_here = np.cumsum(weights[::-1])[::-1]
    everything = weights[0] + 2 * from_here[1]
    over: npt.NDArray[np.float64] = 2 * (from_here[1:] + beyond) / everything
    return over


def rescaled(counts: Ints, totals: Ints) -> Ints:
    """
    Each row in proportion, in whole numbers that add up to its total; counts and totals are not negative.

    Every count is rounded down; the units that are left go to the largest remainders (ties: to the first columns). A row of
    zeros says nothing, so its total is spread as evenly as it can be, the first columns first.

    >>> rescaled(np.array([[1, 1, 2], [0, 0, 0]]), np.array([7, 4])).tolist()
    [[2, 2, 3], [2, 1, 1]]
    """
    weights = np.where(counts.sum(axis=1, keepdims=True) == 0, 1, counts)
    down, rest = np.divmod(weights * totals[:, None], weights.sum(axis=1, keepdims=True))
    place = np.argsort(np.argsort(-rest, axis=1, kind="stable"), axis=1, kind="stable")
    left: Ints = totals - down.sum(axis=1)
    filled: Ints = down + (place < left[:, None])
    return filled


def capped(counts: Ints, totals: Ints) -> Ints:
    """Rows that add up to more than their total, rescaled to it; the others as they are."""
    over = counts.sum(axis=1) > totals
    return np.where(over[:, None], rescaled(counts, totals), counts)
