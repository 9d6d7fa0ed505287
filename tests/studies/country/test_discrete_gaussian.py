"""The sampler against the exact probabilities and against another implementation."""

import math
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.stats import chi2, chi2_contingency

from genverify.model.arrays import Floats, Ints
from genverify.model.errors import ConfigError
from studies.country.noise import bernoulli_exp, discrete_laplace, sample, uniform

SIGMA2 = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(10),
    Fraction(10**6),
    Fraction(1, 20),
    Fraction(3**40, 2**61),
    Fraction(24 * 10**6, 11),
]


def exact(sigma2: Fraction) -> tuple[Ints, Floats]:
    """The values out to 12 sigma and their probabilities."""
    reach = math.ceil(12 * math.sqrt(sigma2)) + 2
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-(values**2) / (2 * float(sigma2)))
    return values, weights / math.fsum(weights)


def binned(drawn: Ints, values: Ints, chance: Floats) -> tuple[Floats, Floats]:
    """Observed and expected numbers in bins of neighbouring values, each with at least about 50 expected."""
    place = np.minimum((np.cumsum(chance) * len(drawn) / 50).astype(int), len(drawn) // 50 - 1)
    expected = np.bincount(place, weights=chance) * len(drawn)
    assert set(drawn.tolist()) <= set(values.tolist())
    observed = np.bincount(place[drawn - values[0]], minlength=len(expected))
    full = expected >= 5
    return (
        np.append(observed[full], observed[~full].sum()).astype(float),
        np.append(expected[full], max(expected[~full].sum(), 1e-9)),
    )


def p_value(drawn: Ints, values: Ints, chance: Floats) -> float:
    observed, expected = binned(drawn, values, chance)
    statistic = float(((observed - expected) ** 2 / expected)[expected >= 1].sum())
    return float(chi2.sf(statistic, (expected >= 1).sum() - 1))


@pytest.mark.parametrize("sigma2", SIGMA2, ids=str)
def test_draws_follow_the_exact_distribution(sigma2: Fraction) -> None:
    n = 50_000
    drawn = sample(sigma2, n, np.random.default_rng(20))
    values, chance = exact(sigma2)
    assert p_value(drawn, values, chance) > 0.001
    variance = float((chance * values**2).sum())
    fourth = float((chance * values.astype(float) ** 4).sum())
    assert abs(drawn.mean()) < 4 * math.sqrt(variance / n)
    assert abs((drawn.astype(float) ** 2).mean() - variance) < 4 * math.sqrt((fourth - variance**2) / n)


def test_the_goodness_of_fit_test_can_fail() -> None:
    drawn = sample(Fraction(10), 50_000, np.random.default_rng(20))
    assert p_value(drawn, *exact(Fraction(21, 2))) < 1e-6
    rounded = np.rint(np.random.default_rng(1).normal(0, math.sqrt(1 / 3), 50_000)).astype(np.int64)
    assert p_value(rounded, *exact(Fraction(1, 3))) < 1e-6


@pytest.mark.parametrize("sigma2", [Fraction(1, 3), Fraction(10)], ids=str)
def test_draws_follow_the_same_distribution_as_those_of_opendp(sigma2: Fraction) -> None:
    n = 20_000
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    theirs = np.array(dp.m.make_gaussian(*space, scale=math.sqrt(sigma2))([0] * n))
    ours = sample(sigma2, n, np.random.default_rng(21))
    ends = int(2.5 * math.sqrt(sigma2)) + 1
    table = [np.bincount(one.clip(-ends, ends) + ends, minlength=2 * ends + 1) for one in (ours, theirs)]
    full = np.sum(table, axis=0) > 0
    # theirs cannot be seeded: a limit that chance alone crosses once in a million runs
    assert chi2_contingency(np.array(table)[:, full]).pvalue > 1e-6


def test_laplace_draws_follow_their_distribution() -> None:
    drawn = discrete_laplace(3, 50_000, np.random.default_rng(3))
    values = np.arange(-120, 121)
    weights = np.exp(-np.abs(values) / 3)
    assert p_value(drawn, values, weights / weights.sum()) > 0.001


@pytest.mark.parametrize(("above", "below"), [(0, 1), (1, 3), (1, 1), (7, 2), (10**30, 3 * 10**30), (5 * 10**20, 10**20)])
def test_events_have_probability_exp(above: int, below: int) -> None:
    n = 40_000
    share = bernoulli_exp(
        np.array([above] * n, dtype=object if below > 2**62 else np.int64), below, np.random.default_rng(4)
    ).mean()
    chance = math.exp(-above / below)
    assert abs(share - chance) <= 4 * math.sqrt(chance * (1 - chance) / n)


def test_uniform_integers_beyond_63_bits_reach_every_part_of_their_range() -> None:
    bound = 3 * 2**70 + 1
    numbers = uniform(bound, 30_000, np.random.default_rng(5))
    assert all(0 <= number < bound for number in numbers)
    assert np.bincount([int(number * 6 // bound) for number in numbers]) == pytest.approx([5000] * 6, rel=0.06)
    assert abs(np.mean([int(number) % 2 for number in numbers]) - 0.5) < 0.02


def test_the_same_seed_repeats_and_another_does_not() -> None:
    first, again, other = (sample(Fraction(10), 500, np.random.default_rng(seed)).tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert sample(Fraction(10), 0, np.random.default_rng(1)).tolist() == []


@pytest.mark.parametrize("sigma2", [Fraction(0), Fraction(-1), 0.5, float("inf"), Fraction(2**101)])
def test_a_variance_that_is_no_fraction_above_zero_is_refused(sigma2: Fraction) -> None:
    with pytest.raises(ConfigError, match="give a Fraction above 0"):
        sample(sigma2, 3, np.random.default_rng(1))
