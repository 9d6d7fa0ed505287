"""
Discrete Gaussian noise on the counts of a block, and what is published of them afterwards.

N is known, so two datasets are neighbours if one record of a block is replaced by another. That changes at most 2 d counts,
each by 1, where d is the most measured queries that a record lies in: the squared L2 sensitivity is at most 2 d. Independent
discrete Gaussian noise of parameter sigma^2 on every measured count is then 2 d / (2 sigma^2)-zCDP (Canonne, Kamath, Steinke
2020). So with sigma^2 = d / rho the noisy counts are rho-zCDP, and so is whatever is made of them; the counts of all blocks
together as well, because a record lies in one block. Queries that every record answers alike say nothing and get no noise.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from genverify.core.arraytypes import Flags, Ints
from genverify.core.errors import ConfigError
from genverify.core.release import Schema
from genverify.papers.gtv.protected.kinds import Kinds, build_kinds, queries_of
from genverify.papers.gtv.protected.search import Search, Wanted
from genverify.papers.gtv.protected.settings import ProtectedNoise, Protection
from genverify.protect.discrete_gaussian import sample
from genverify.protect.noise import width


def noise_variance(most: int, rho: float) -> Fraction:
    """
    sigma^2 with which noisy counts are rho-zCDP, where a record lies in at most that many of them.

    >>> noise_variance(25, 0.1)
    Fraction(250, 1)
    """
    if not 0 < rho < float("inf"):
        raise ConfigError(f"a budget rho of {rho}: give a number above 0 (the smaller, the more noise)")
    return Fraction(most) / Fraction(str(rho))


def half_width(sigma2: Fraction, queries: int, confidence: float) -> int:
    """
    w such that with this confidence no noise of a block exceeds it; the chance is shared evenly among its queries.

    >>> half_width(Fraction(1), 1, 0.95), half_width(Fraction(1), 600, 0.95)
    (2, 4)
    """
    if not 0 < confidence < 1:
        raise ConfigError(f"a confidence of {confidence}: give a number above 0 and below 1; at 1 intervals say nothing")
    return width(sigma2, (1 - confidence) / max(1, queries))


@dataclass(frozen=True)
class Noise:
    """
    Noise of parameter sigma^2 on some queries. With a half-width w, every noisy count is published as a range, plus or
    minus w; without one, the counts of a dataset near the noisy ones are published, as exact numbers.
    """

    kinds: Kinds
    noised: Flags
    sigma2: Fraction
    half_width: int | None

    @classmethod
    def of(cls, kinds: Kinds, measured: Flags, rho: float, confidence: float | None) -> "Noise":
        """The noise of a budget on the measured queries; with a confidence it is published as ranges."""
        noised = measured & kinds.varies
        sigma2 = noise_variance(kinds.most(noised), rho)
        off = None if confidence is None else half_width(sigma2, int(noised.sum()), confidence)
        return cls(kinds, noised, sigma2, off)

    @property
    def published(self) -> Flags:
        """The queries that the release speaks of: all of them, or those that have a range."""
        everything: Flags = np.ones(len(self.noised), dtype=bool)
        return everything if self.half_width is None else self.noised | ~self.kinds.varies

    def publish(self, counts: Ints, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """
        The least and the greatest number that is known for each count of a block afterwards, from the true counts.

        A count that is not measured lies between 0 and N. A noisy count below -w or above N + w leaves no number: lo > hi.
        """
        noisy = counts[self.noised] + sample(self.sigma2, int(self.noised.sum()), rng)
        lo = np.where(self.kinds.varies, 0, counts)
        hi = np.where(self.kinds.varies, n, counts)
        if self.half_width is None:
            lo[self.noised] = hi[self.noised] = noisy
            counts = self.kinds.counts(Search(self.kinds, Wanted(lo, hi), n, rng).nearest())
            return counts, counts
        lo[self.noised] = np.maximum(noisy - self.half_width, 0)
        hi[self.noised] = np.minimum(noisy + self.half_width, n)
        return lo, hi


def make_noise(possible: Schema, settings: ProtectedNoise | None, max_types: int) -> Noise | None:
    """The noise that the settings of a protection ask for, on counts of records that the schema allows."""
    if settings is None:
        return None
    measured = queries_of(possible, settings.tables)
    return Noise.of(build_kinds(possible, max_types), measured, settings.rho, settings.confidence)


def describe(protection: Protection, noise: Noise | None) -> dict[str, Any]:
    """A protection in numbers, for whoever reads the results: its settings, and the noise that follows from them."""
    own = dict(protection.noise or dict.fromkeys(ProtectedNoise.model_fields))
    tables = own["tables"] if isinstance(own["tables"], str | None) else " ".join(own["tables"])
    return {
        "swap": protection.swap,
        **own,
        "tables": tables,
        "noised_queries": int(noise.noised.sum()) if noise else 0,
        "noise_sd": round(float(noise.sigma2) ** 0.5, 6) if noise else 0.0,
        "half_width": noise.half_width if noise else None,
    }
