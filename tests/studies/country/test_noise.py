"""Noise on any counts: budgets, intervals against tail sums in many digits, and rescaling to whole numbers."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genverify.model.errors import ConfigError
from studies.country.noise import Noise, as_written, capped, rescaled, uniform_variance, variance, width

quick = settings(max_examples=100, deadline=None, derandomize=True)
ROWS = st.lists(st.lists(st.integers(0, 3000), min_size=3, max_size=3), min_size=1, max_size=6)


def tail(sigma2: Fraction, w: int) -> mpmath.mpf:
    """P(|X| > w), summed in fifty digits until nothing is added."""
    with mpmath.workdps(50):
        reach = w + 2 + math.ceil(20 * math.sqrt(sigma2))
        weights = [mpmath.exp(-mpmath.mpf(x * x * sigma2.denominator) / (2 * sigma2.numerator)) for x in range(reach)]
        return 2 * mpmath.fsum(weights[w + 1 :]) / (2 * mpmath.fsum(weights) - 1)


def test_the_variance_of_a_share_is_an_exact_fraction() -> None:
    share = as_written(0.0002, "share") / 3360
    assert variance(as_written(7.70, "rho"), share) == Fraction(24_000_000, 11)
    assert uniform_variance(as_written("0.1", "rho"), 22) == 220
    # all shares together cost the whole: the zCDP of a query is 1 / variance
    assert 22 / uniform_variance(Fraction(1, 10), 22) == Fraction(1, 10)


@pytest.mark.parametrize("rho", [0, 0.0, -1.5, Fraction(0)])
def test_a_budget_of_nothing_is_refused(rho: float) -> None:
    with pytest.raises(ConfigError, match=rf"rho = {rho}: a budget of 0 or less buys no answer"):
        variance(as_written(rho, "rho"), Fraction(1))
    with pytest.raises(ConfigError, match="rho = "):
        uniform_variance(Fraction(rho), 5)


def test_budgets_that_are_no_numbers_and_shares_above_one_are_refused() -> None:
    for value in ("much", float("nan"), float("inf")):
        with pytest.raises(ConfigError, match=rf"rho = {value}: give a number above 0"):
            as_written(value, "rho")
    with pytest.raises(ConfigError, match="more than the whole"):
        variance(Fraction(1), Fraction(3, 2))


@pytest.mark.parametrize("sigma2", [Fraction(1, 20), Fraction(1, 3), Fraction(1), Fraction(220), Fraction(100_000, 77)])
@pytest.mark.parametrize("beta", [0.9, 0.1, 0.01, 1e-6])
def test_widths_are_the_least_that_keep_the_chance(sigma2: Fraction, beta: float) -> None:
    w = width(sigma2, beta)
    assert tail(sigma2, w) <= beta
    assert w == 0 or tail(sigma2, w - 1) > beta


def test_noise_has_its_variance_column_by_column_and_repeats() -> None:
    noise = Noise((Fraction(10), Fraction(1000), Fraction(10)))
    counts = np.full((20_000, 3), 50)
    drawn = noise.add(counts, np.random.default_rng(2)) - counts
    assert drawn.var(axis=0) == pytest.approx([10, 1000, 10], rel=0.05)
    assert np.abs(np.corrcoef(drawn.T) - np.eye(3)).max() < 0.03
    assert (noise.add(counts, np.random.default_rng(2)) == counts + drawn).all()
    assert (counts == 50).all()


@pytest.mark.parametrize("beta", [0.0, 1.0, -0.1, float("nan"), 1e-300])
def test_a_chance_that_is_none_is_refused(beta: float) -> None:
    with pytest.raises(ConfigError, match=rf"beta = {beta}: it is a chance"):
        width(Fraction(1), beta)


def test_a_variance_too_large_to_sum_is_refused() -> None:
    with pytest.raises(ConfigError, match="give a variance above 0 and at most"):
        width(Fraction(10**13), 0.1)


@quick
@given(ROWS, st.integers(0, 500))
def test_rescaled_rows_add_up_and_are_less_than_one_from_their_proportion(rows: list[list[int]], total: int) -> None:
    counts, totals = np.array(rows), np.full(len(rows), total)
    spread = rescaled(counts, totals)
    assert (spread.sum(axis=1) == totals).all()
    assert (spread >= 0).all()
    for before, after in zip(rows, spread.tolist(), strict=True):
        weights = before if any(before) else [1] * 3
        assert all(abs(Fraction(w * total, sum(weights)) - a) < 1 for w, a in zip(weights, after, strict=True))
    assert (capped(counts, totals).sum(axis=1) == np.minimum(counts.sum(axis=1), totals)).all()
    assert (rescaled(counts, counts.sum(axis=1)) == counts).all()
