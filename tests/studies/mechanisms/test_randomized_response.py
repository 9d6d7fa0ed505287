"""Randomized response: B-2 to B-12 against exact enumeration, derivatives and people who are asked one by one."""

from fractions import Fraction
from itertools import product
from math import cosh, exp, isclose, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from studies.mechanisms.randomized_response import (
    PrivacyError,
    Survey,
    asking_probability,
    asking_slope,
    compare,
    one_sided_losses,
    simulate,
    simulated_frontier,
)
from studies.mechanisms.settings import RandomizedResponse

SHARES = [Fraction(part, 8) for part in range(9)]
MUS = [0.05, 0.2, 0.5, 0.7, 0.95]
EPSILONS = [0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0]
SURVEYS = [Survey(pi, n, mu) for pi in (0.0, 0.1, 0.3, 0.5, 0.8, 1.0) for n in (1, 50) for mu in MUS]


def outcomes(pi: Fraction, rho: Fraction, mu: Fraction) -> list[tuple[Fraction, int, int]]:
    """All that can happen to one person (B-1): its probability, the true characteristic and the answer."""
    found = []
    for y, z, asked in product((0, 1), repeat=3):
        chance = (pi if y else 1 - pi) * (mu if z else 1 - mu) * (rho if asked else 1 - rho)
        found.append((chance, y, y if asked else z))
    return found


@pytest.mark.parametrize("mu", [Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("rho", [Fraction(1, 10), Fraction(1, 2), Fraction(7, 8)])
def test_the_privacy_loss_is_the_largest_bayes_factor(rho: Fraction, mu: Fraction) -> None:
    chance = {(y, d): sum(p for p, own, said in outcomes(Fraction(1, 2), rho, mu) if (own, said) == (y, d)) for y in (0, 1)
              for d in (0, 1)}  # fmt: skip
    given_y = {(y, d): chance[y, d] / (chance[y, 0] + chance[y, 1]) for y, d in chance}
    factors = [given_y[y, d] / given_y[1 - y, d] for y, d in product((0, 1), repeat=2)]
    assert isclose(exp(max(one_sided_losses(float(rho), float(mu)))), max(factors), rel_tol=1e-12)


def test_a_fair_coin_loses_least_privacy() -> None:
    for rho in (0.1, 0.5, 0.9):
        losses = [max(one_sided_losses(rho, mu)) for mu in np.linspace(0.01, 0.99, 99)]
        assert min(losses) == max(one_sided_losses(rho, 0.5)) == pytest.approx(log((1 + rho) / (1 - rho)))


@settings(deadline=None, derandomize=True)
@given(rho=st.floats(0.001, 0.999), mu=st.floats(0.01, 0.99))
def test_the_probability_of_asking_is_the_inverse(rho: float, mu: float) -> None:
    assert asking_probability(max(one_sided_losses(rho, mu)), mu) == pytest.approx(rho, rel=1e-9)


@pytest.mark.parametrize("pi", SHARES)
@pytest.mark.parametrize("mu", [Fraction(1, 2), Fraction(1, 5)])
def test_mean_and_variances_are_those_of_every_outcome(pi: Fraction, mu: Fraction) -> None:
    """One person in exact fractions; N people divide the variances by N. Here stands also why -I is a mean square."""
    rho, n = Fraction(3, 8), 7
    survey = Survey(float(pi), n, float(mu))
    people = outcomes(pi, rho, mu)
    mean = sum(p * d for p, _, d in people)
    variance = sum(p * (d - mean) ** 2 for p, _, d in people)
    assert survey.mean_answer(float(rho)) == pytest.approx(float(mean))
    assert survey.answer_variance(float(rho)) == pytest.approx(float(variance / n))
    assert survey.variance(float(rho)) == pytest.approx(float(variance / rho**2 / n))
    assert survey.estimate(float(mean), float(rho)) == pytest.approx(float(pi), abs=1e-12)
    estimate = [(p, y, (d - mu * (1 - rho)) / rho) for p, y, d in people]
    added = sum(p * (e - y) ** 2 for p, y, e in estimate)
    assert sum(p * (e - y) * (y - pi) for p, y, e in estimate) == 0
    assert survey.accuracy(float(rho)) == pytest.approx(-float(added / n))


def test_people_asked_one_by_one_agree_with_the_formulas() -> None:
    survey, rho, times = Survey(0.3, 40, 0.4), 0.35, 20_000
    rng = np.random.default_rng(3)
    true = rng.random((times, survey.n)) < survey.pi
    innocuous = rng.random((times, survey.n)) < survey.mu
    asked = rng.random((times, survey.n)) < rho
    answers = np.where(asked, true, innocuous).mean(axis=1)
    estimates = np.asarray(survey.estimate(answers, rho))
    plain = np.asarray(survey.estimate(true.mean(axis=1), 1))
    within(answers, survey.mean_answer(rho))
    within((answers - survey.mean_answer(rho)) ** 2, survey.answer_variance(rho))
    within(estimates, survey.pi)
    within((estimates - survey.pi) ** 2, survey.variance(rho))
    within((plain - survey.pi) ** 2 - (estimates - survey.pi) ** 2, survey.accuracy(rho))


def within(values: Any, expected: float, errors: float = 4) -> None:
    """The mean of the values lies within that many standard errors of what is expected."""
    assert abs(values.mean() - expected) < errors * values.std(ddof=1) / np.sqrt(len(values))


def test_the_short_cut_by_groups_draws_from_the_right_distribution() -> None:
    survey, rho, times = Survey(0.2, 6, 0.7), 0.6, 50_000
    trials = simulate(survey, rho, times, np.random.default_rng(5))
    counts = np.bincount(np.rint(trials.answers * survey.n).astype(int), minlength=survey.n + 1)
    chances = binom.pmf(range(survey.n + 1), survey.n, survey.mean_answer(rho))
    assert (np.abs(counts - times * chances) < 4 * np.sqrt(times * chances)).all()
    joint = np.cov(trials.answers, trials.unprotected)
    assert joint[0, 1] == pytest.approx(rho * survey.pi * (1 - survey.pi) / survey.n, rel=0.05)


def test_a_simulation_tells_each_formula_and_its_distance() -> None:
    settings = RandomizedResponse(proportions=[0.1, 0.6], populations=[80], epsilons=[0.5, 3.0], mu=0.5, simulations=3000)
    rows = simulated_frontier(settings, 1)
    assert rows.equals(simulated_frontier(settings, 1))
    assert not rows["simulated"].equals(simulated_frontier(settings, 2)["simulated"])
    assert len(rows) == 2 * 2 * 5
    assert set(rows["equation"]) == {"B-5", "B-6", "B-7", "B-8", "B-9"}
    assert rows["difference_in_errors"].abs().max() < 4
    wrong = list(compare(Survey(0.1, 80), 0.3, simulate(Survey(0.2, 80), 0.3, 3000, np.random.default_rng(1))))
    assert abs(wrong[0]["difference_in_errors"]) > 4


def slope_of(function: Any, at: float, step: float = 1e-6) -> float:
    return float((function(at + step) - function(at - step)) / (2 * step))


@pytest.mark.parametrize("survey", SURVEYS, ids=str)
def test_slopes_are_derivatives(survey: Survey) -> None:
    for rho in (0.1, 0.4, 0.9):
        assert survey.slope(rho) == pytest.approx(slope_of(survey.accuracy, rho), rel=1e-5)
    for epsilon in EPSILONS[1:-1]:
        assert survey.slope_at(epsilon) == pytest.approx(slope_of(survey.accuracy_at, epsilon), rel=1e-5)


@pytest.mark.parametrize("survey", SURVEYS, ids=str)
def test_accuracy_rises_with_privacy_loss_and_ever_less(survey: Survey) -> None:
    """dI/d epsilon > 0 and d2I/d epsilon2 < 0, for every pi and mu tried: the claims of the paper fail nowhere."""
    for epsilon in EPSILONS:
        assert survey.slope_at(epsilon) > 0 > slope_of(survey.slope_at, epsilon)


def test_with_a_fair_coin_accuracy_does_not_depend_on_the_share() -> None:
    for rho, n in product((0.1, 0.5, 0.9), (1, 20)):
        for pi in (0.0, 0.2, 0.5, 1.0):
            assert Survey(pi, n).accuracy(rho) == pytest.approx((1 - rho**-2) / (4 * n), abs=1e-12)
            assert Survey(pi, n).slope(rho) == pytest.approx(1 / (2 * n * rho**3))


def printed_slope(survey: Survey, rho: float) -> float:
    """B-11 as it is printed, for mu = 1/2."""
    return 2 * survey.answer_variance(rho) / rho - (survey.pi - 0.5) * (1 - 2 * survey.pi) / (survey.n**2 * rho)


def test_the_printed_slope_is_too_small_but_at_one_place() -> None:
    for rho, n, pi in product((0.2, 0.6, 1.0), (1, 2, 100), (0.0, 0.3, 0.5, 1.0)):
        survey = Survey(pi, n)
        if rho == 1 and (n == 1 or pi == 0.5):
            assert printed_slope(survey, rho) == pytest.approx(survey.slope(rho))
        else:
            assert printed_slope(survey, rho) < survey.slope(rho) * (1 - 1e-9)
        assert printed_slope(survey, rho) >= 0


def held(equation: str) -> bool:
    """Whether an equation, typed in as it is printed, agrees with ours (checked above in other ways)."""
    rho, epsilon, survey = 0.4, 0.9, Survey(0.3, 50)
    growth = exp(epsilon)
    printed = {
        "B-4": (log((1 + rho) / (1 - rho)), max(one_sided_losses(rho, 0.5))),
        "B-5": ((0.45 - 0.5 * (1 - rho)) / rho, survey.estimate(0.45, rho)),
        "B-6": (rho * 0.3 + (1 - rho) * 0.5, survey.mean_answer(rho)),
        "B-7": ((rho * -0.2 + 0.5) * (1 - rho * -0.2 - 0.5) / 50, survey.answer_variance(rho)),
        "B-8": (0.42 * 0.58 / 50 / 0.4**2, survey.variance(rho)),
        "B-9": (0.3 * 0.7 / 50 - 0.42 * 0.58 / 50 / 0.4**2, survey.accuracy(rho)),
        "B-10": ((growth - 1) / (1 + growth), asking_probability(epsilon)),
        "B-11": (2 * (0.42 * 0.58 / 50) / rho - (0.3 - 0.5) * (1 - 0.6) / (50**2 * rho), survey.slope(rho)),
        "B-12": (1 / (1 + cosh(epsilon)), asking_slope(epsilon)),
    }
    return isclose(*map(float, printed[equation]), rel_tol=1e-12)  # type: ignore[arg-type]


def test_the_paper_file_says_which_equations_hold(root: Path) -> None:
    paper = yaml.safe_load((root / "data" / "papers" / "randomized_response.yaml").read_text())
    told = {name: entry["holds"] for name, entry in paper["equations"].items() if name.startswith("B-")}
    assert told == {name: held(name) for name in told}
    assert [name for name, holds in told.items() if not holds] == ["B-11"]
    assert all("meant" in entry for entry in paper["equations"].values() if not entry["holds"])


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: asking_probability(0.0), "epsilon is 0.0: give a privacy loss above 0"),
        (lambda: asking_probability(-1.0), "epsilon is -1.0"),
        (lambda: asking_probability(float("nan")), "epsilon is nan"),
        (lambda: asking_slope(1000.0), "no answer would be protected"),
        (lambda: one_sided_losses(0.0, 0.5), "rho, the probability of the sensitive question, is 0.0"),
        (lambda: one_sided_losses(1.0, 0.5), "is 1.0: give a probability above 0 and below 1"),
        (lambda: one_sided_losses(0.5, 1.5), "mu, the share of innocuous yes answers, is 1.5"),
        (lambda: asking_probability(0.5, 1.0), "mu, the share of innocuous yes answers, is 1.0"),
        (lambda: Survey(1.2, 10), "pi, the share with the sensitive characteristic, is 1.2"),
        (lambda: Survey(0.2, 0), "the population is 0"),
        (lambda: Survey(0.2, 5).variance(0.0), "rho is 0.0: ask the sensitive question with a probability above 0"),
        (lambda: Survey(0.2, 5).slope(1.5), "rho is 1.5"),
        (lambda: simulate(Survey(0.2, 5), 0.5, 1, np.random.default_rng(1)), "1 simulated surveys show no variance"),
    ],
)
def test_bad_parameters_are_named(attempt: Any, words: str) -> None:
    with pytest.raises(PrivacyError) as error:
        attempt()
    assert words in str(error.value)
