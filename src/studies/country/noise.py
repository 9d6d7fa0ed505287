"""Discrete Gaussian noise on the counts of a release, drawn exactly, and its privacy budget."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt, log, sqrt

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Flags, Ints
from genverify.model.errors import ConfigError

# Privacy budgets (zero-concentrated differential privacy). Equation 6 of subsidized housing: a query with the share c of rho
# gets discrete Gaussian noise of variance 1 / (c rho). That is c rho of zCDP where a change of one record moves two cells of
# a table by one (a squared sensitivity of 2, as in the 2020 system).


def as_written(value: float | str | Fraction, what: str) -> Fraction:
    """A number as it is written, not as the float behind it; zero and less are refused."""
    try:
        number = Fraction(str(value))
    except ValueError:
        raise ConfigError(f"{what} = {value}: give a number above 0") from None
    if number <= 0:
        raise ConfigError(f"{what} = {value}: a budget of 0 or less buys no answer at all; give a number above 0")
    return number


def variance(rho: Fraction, share: Fraction) -> Fraction:
    """The variance of the noise of a query that has a share of rho (equation 6)."""
    share = as_written(share, "share of the budget")
    if share > 1:
        raise ConfigError(f"share of the budget = {share}: a query cannot have more than the whole; give at most 1")
    return 1 / (share * as_written(rho, "rho"))


def uniform_variance(rho: Fraction, queries: int) -> Fraction:
    """The variance of each query where that many queries share rho evenly."""
    return variance(rho, Fraction(1, queries))


# The discrete Gaussian, drawn exactly (Canonne, Kamath, Steinke 2020, algorithms 1 to 3).
#
# P(X = x) is proportional to exp(-x^2 / (2 sigma^2)), x a whole number. Every decision compares a uniform random integer
# with an integer: no float, whose gaps would show in the noise, takes part. Open draws go through each round together.

Numbers = npt.NDArray[np.int64] | npt.NDArray[np.object_]
LARGEST = 2**63 - 1  # of a 64-bit integer: beyond, Python's integers take over
LARGEST_SIGMA2 = 2**100  # so that draws stay far below 2^63
WORD = 32  # random bits at a time; any width below 64 gives the same distribution


def sample(sigma2: Fraction, size: int, rng: np.random.Generator) -> Ints:
    """Independent draws; sigma2 is a fraction, so that the distribution is exactly the one that is named."""
    if not isinstance(sigma2, Fraction | int) or not 0 < sigma2 <= LARGEST_SIGMA2:
        raise ConfigError(f"sigma^2 = {sigma2!r}: give a Fraction above 0 and at most 2^100, such as Fraction('0.1')")
    drawn, open_, scale = np.zeros(size, dtype=np.int64), np.arange(size), isqrt(int(sigma2)) + 1  # floor(sigma) + 1
    while open_.size:
        proposed = discrete_laplace(scale, open_.size, rng)
        rest = _accepted(proposed, Fraction(sigma2), scale, rng)
        drawn[open_[rest]] = proposed[rest]
        open_ = open_[~rest]
    return drawn


def discrete_laplace(scale: int, size: int, rng: np.random.Generator) -> Ints:
    """Draws with P(X = x) proportional to exp(-|x| / scale), scale a whole number (algorithm 2)."""
    drawn, open_ = np.zeros(size, dtype=np.int64), np.arange(size)
    while open_.size:
        part = rng.integers(0, scale, open_.size)
        rest = bernoulli_exp(part, scale, rng)
        open_kept = open_[rest]
        value = part[rest] + scale * _geometric(open_kept.size, rng)
        negative = rng.integers(0, 2, open_kept.size) == 1
        kept_twice = ~(negative & (value == 0))  # zero has one sign only
        drawn[open_kept[kept_twice]] = np.where(negative, -value, value)[kept_twice]
        open_ = np.concatenate([open_[~rest], open_kept[~kept_twice]])
    return drawn


def bernoulli_exp(above: Numbers, below: int, rng: np.random.Generator) -> Flags:
    """True with probability exp(-above / below), for each of the numbers above (not negative; algorithm 1)."""
    whole, rest = above // below, above % below  # exp(-(w + r)) = exp(-r) exp(-1) ... exp(-1)
    holds, done = _bernoulli_exp_part(rest, below, rng), 0
    open_ = np.flatnonzero(holds & (whole > 0))
    while open_.size:
        done += 1
        selected = _bernoulli_exp_part(np.ones(open_.size, dtype=np.int64), 1, rng)
        holds[open_[~selected]] = False
        open_ = open_[selected & (whole[open_] > done)]
    return holds


def _bernoulli_exp_part(above: Numbers, below: int, rng: np.random.Generator) -> Flags:
    """The same for fractions of at most 1: the round that first fails is odd with probability exp(-above / below)."""
    holds, open_, turn = np.zeros(len(above), dtype=bool), np.arange(len(above)), 0
    while open_.size:
        turn += 1
        goes_on = (uniform(below * turn, open_.size, rng) < above[open_]).astype(bool)
        holds[open_[~goes_on]] = turn % 2 == 1
        open_ = open_[goes_on]
    return holds


def uniform(bound: int, size: int, rng: np.random.Generator) -> Numbers:
    """Random integers from 0 to below the bound, each equally likely; Python's own integers where 63 bits are too few."""
    if bound <= LARGEST:
        return rng.integers(0, bound, size)
    bits, numbers, open_ = (bound - 1).bit_length(), np.zeros(size, dtype=object), np.arange(size)
    while open_.size:
        words = rng.integers(0, 2**WORD, (-(-bits // WORD), open_.size)).astype(object)
        tried = sum(word << (WORD * index) for index, word in enumerate(words)) & ((1 << bits) - 1)
        numbers[open_] = tried
        open_ = open_[(tried >= bound).astype(bool)]
    return numbers


def _accepted(proposed: Ints, sigma2: Fraction, scale: int, rng: np.random.Generator) -> Flags:
    """Keep a proposal y of scale t with probability exp(-(|y| - sigma^2 / t)^2 / (2 sigma^2)) (algorithm 3)."""
    top, bottom = sigma2.as_integer_ratio()
    step, size = bottom * scale, np.abs(proposed)
    below = 2 * top * step * scale
    if max((int(size.max()) * step + top) ** 2, below) > LARGEST:
        return bernoulli_exp((size.astype(object) * step - top) ** 2, below, rng)
    return bernoulli_exp((size * step - top) ** 2, below, rng)


def _geometric(size: int, rng: np.random.Generator) -> Ints:
    """How often an event of probability exp(-1) happens before it first does not."""
    counts, open_ = np.zeros(size, dtype=np.int64), np.arange(size)
    while open_.size:
        open_ = open_[_bernoulli_exp_part(np.ones(open_.size, dtype=np.int64), 1, rng)]
        counts[open_] += 1
    return counts


# Discrete Gaussian noise on the counts of a release, what is then known of each count, and counts made consistent again.

LEAST_BETA = 1e-200  # the least term of the sums is then above 1e-218, far from where floating-point numbers end
LARGEST_NOISE = 10**12  # the sums then have 3e7 terms at most, as MARGIN assumes
MARGIN = 1e-8  # above the relative error of the sums below (about 1e-16 for each of at most 3e7 positive terms)


@dataclass(frozen=True)
class Noise:
    """The variance of the noise of each query (column)."""

    variances: tuple[Fraction, ...]

    def add(self, counts: Ints, rng: np.random.Generator) -> Ints:
        """The counts (blocks x queries) with independent noise: whole numbers, negative ones among them."""
        noisy = counts.astype(np.int64)
        for sigma2 in dict.fromkeys(self.variances):
            columns = [index for index, own in enumerate(self.variances) if own == sigma2]
            drawn = sample(sigma2, len(counts) * len(columns), rng)
            noisy[:, columns] += drawn.reshape(len(counts), len(columns))
        return noisy


def width(sigma2: Fraction, beta: float) -> int:
    """
    The least w for which P(|X| > w) <= beta is certain, X discrete Gaussian.

    Both sums, of the tail and of everything, are taken term by term; rounding errors can only make w larger.
    """
    if not LEAST_BETA <= beta < 1:
        raise ConfigError(f"beta = {beta}: it is a chance; give a number from {LEAST_BETA} to below 1")
    if not 0 < sigma2 <= LARGEST_NOISE:
        raise ConfigError(f"sigma^2 = {sigma2}: give a variance above 0 and at most {LARGEST_NOISE}")
    tail = _tails(sigma2, ceil(sqrt(sigma2) * sqrt(80 - 2 * log(beta))) + 2)
    return int(np.argmax(tail * (1 + MARGIN) <= beta))


def _tails(sigma2: Fraction, reach: int) -> npt.NDArray[np.float64]:
    """P(|X| > w) for w = 0 to reach - 1; what lies beyond the reach is bounded from above by a geometric series."""
    weights = np.exp(-(np.arange(reach + 1, dtype=np.float64) ** 2) / (2 * float(sigma2)))
    beyond = weights[-1] / np.expm1(min(reach / float(sigma2), 700.0))
    from_here = np.cumsum(weights[::-1])[::-1]
    everything = weights[0] + 2 * from_here[1]
    over: npt.NDArray[np.float64] = 2 * (from_here[1:] + beyond) / everything
    return over


def rescaled(counts: Ints, totals: Ints) -> Ints:
    """
    Each row in proportion, in whole numbers that add up to its total; counts and totals are not negative. The units that are
    left after rounding down go to the largest remainders (ties: the first columns); a row of zeros is spread evenly.
    """
    weights = np.where(counts.sum(axis=1, keepdims=True) == 0, 1, counts)
    down, rest = np.divmod(weights * totals[:, None], weights.sum(axis=1, keepdims=True))
    index = np.argsort(np.argsort(-rest, axis=1, kind="stable"), axis=1, kind="stable")
    filled: Ints = down + (index < (totals - down.sum(axis=1))[:, None])
    return filled


def capped(counts: Ints, totals: Ints) -> Ints:
    """Rows that add up to more than their total, rescaled to it; the others as they are."""
    over = counts.sum(axis=1) > totals
    return np.where(over[:, None], rescaled(counts, totals), counts)
