"""
The discrete Gaussian, drawn exactly (Canonne, Kamath, Steinke 2020, algorithms 1 to 3).

P(X = x) is proportional to exp(-x^2 / (2 sigma^2)), x a whole number. Every decision compares a uniform random
integer with an integer: no float takes part. Draws that are still open go through each round together, over one denominator.
"""

from fractions import Fraction
from math import isqrt

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Flags, Ints
from genverify.core.errors import ConfigError

Numbers = npt.NDArray[np.int64] | npt.NDArray[np.object_]
LARGEST = 2**63 - 1
LARGEST_SIGMA2 = 2**100  # so that draws stay far below 2^63
WORD = 32


def sample(sigma2: Fraction, size: int, rng: np.random.Generator) -> Ints:
    """
    Independent draws; sigma2 is a fraction, so that the distribution is exactly the one that is named.

    >>> sample(Fraction(1, 3), 8, np.random.default_rng(1)).tolist()
    [0, 0, 0, 0, 0, 0, 0, 1]
    """
    if not isinstance(sigma2, Fraction | int) or not 0 < sigma2 <= LARGEST_SIGMA2:
        raise ConfigError(f"sigma^2 = {sigma2!r}: give a Fraction above 0 and at most 2^100, such as Fraction('0.1')")
    drawn = np.zeros(size, dtype=np.int64)
    open_ = np.arange(size)
    while open_.size:
        proposed = discrete_laplace(_scale(sigma2), open_.size, rng)
        kept = _accepted(proposed, Fraction(sigma2), rng)
        drawn[open_[kept]] = proposed[kept]
        open_ = open_[~kept]
    return drawn


def discrete_laplace(scale: int, size: int, rng: np.random.Generator) -> Ints:
    """Draws with P(X = x) proportional to exp(-|x| / scale), scale a whole number (algorithm 2)."""
    drawn = np.zeros(size, dtype=np.int64)
    open_ = np.arange(size)
    while open_.size:
        part = rng.integers(0, scale, open_.size)
        kept = bernoulli_exp(part, scale, rng)
        open_kept = open_[kept]
        value = part[kept] + scale * _geometric(open_kept.size, rng)
        negative = rng.integers(0, 2, open_kept.size) == 1
        kept_twice = ~(negative & (value == 0))  # zero has one sign only
        drawn[open_kept[kept_twice]] = np.where(negative, -value, value)[kept_twice]
        open_ = np.concatenate([open_[~kept], open_kept[~kept_twice]])
    return drawn


def bernoulli_exp(above: Numbers, below: int, rng: np.random.Generator) -> Flags:
    """True with probability exp(-above / below), for each of the numbers above (not negative; algorithm 1)."""
    # exp(-(w + r)) = exp(-r) exp(-1) ... exp(-1): the algorithm for fractions is exact, and needs integers only, so that no
    # floating-point number, whose gaps would show in the noise, is ever used
    whole, rest = above // below, above % below
    holds = _bernoulli_exp_part(rest, below, rng)
    open_ = np.flatnonzero(holds & (whole > 0))
    done = 0
    while open_.size:
        done += 1
        kept = _bernoulli_exp_part(np.ones(open_.size, dtype=np.int64), 1, rng)
        holds[open_[~kept]] = False
        open_ = open_[kept]
        open_ = open_[whole[open_] > done]
    return holds


def _bernoulli_exp_part(above: Numbers, below: int, rng: np.random.Generator) -> Flags:
    """The same for fractions of at most 1: the round that first fails is odd with probability exp(-above / below)."""
    holds = np.zeros(len(above), dtype=bool)
    open_ = np.arange(len(above))
    turn = 0
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
    bits = (bound - 1).bit_length()
    numbers = np.zeros(size, dtype=object)
    open_ = np.arange(size)
    while open_.size:
        words = rng.integers(0, 2**WORD, (-(-bits // WORD), open_.size)).astype(object)
        tried = sum(word << (WORD * place) for place, word in enumerate(words)) & ((1 << bits) - 1)
        numbers[open_] = tried
        open_ = open_[(tried >= bound).astype(bool)]
    return numbers


def _scale(sigma2: Fraction) -> int:
    """floor(sigma) + 1, in integers."""
    top, bottom = sigma2.as_integer_ratio()
    return isqrt(top // bottom) + 1


def _accepted(proposed: Ints, sigma2: Fraction, rng: np.random.Generator) -> Flags:
    """Keep a proposal y of scale t with probability exp(-(|y| - sigma^2 / t)^2 / (2 sigma^2)) (algorithm 3)."""
    top, bottom = sigma2.as_integer_ratio()
    step = bottom * _scale(sigma2)
    below = 2 * top * step * _scale(sigma2)
    size: Numbers = np.abs(proposed)
    if max((int(size.max()) * step + top) ** 2, below) > LARGEST:
        size = size.astype(object)
    return bernoulli_exp((size * step - top) ** 2, below, rng)


def _geometric(size: int, rng: np.random.Generator) -> Ints:
    """How often an event of probability exp(-1) happens before it first does not."""
    counts = np.zeros(size, dtype=np.int64)
    open_ = np.arange(size)
    while open_.size:
        open_ = open_[_bernoulli_exp_part(np.ones(open_.size, dtype=np.int64), 1, rng)]
        counts[open_] += 1
    return counts
