"""Randomized response (appendix B): formulas, and surveys of simulated people beside them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import exp, expm1, inf, isfinite, log1p
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.arrays import Floats
from genverify.model.errors import GenverifyError
from genverify.model.work import derive_seed
from studies.mechanisms.settings import RandomizedResponse

# Parameters of a privacy mechanism, checked: what lies outside its range is refused with the range.


class PrivacyError(GenverifyError):
    """A mechanism is asked for something that it cannot give."""


def check_epsilon(epsilon: float) -> float:
    """A privacy loss, above 0 and finite."""
    if not (isfinite(epsilon) and epsilon > 0):
        raise PrivacyError(f"epsilon is {epsilon}: give a privacy loss above 0 (0 publishes nothing but noise)")
    return epsilon


def _check_open(value: float, name: str) -> float:
    if not 0 < value < 1:
        raise PrivacyError(f"{name} is {value}: give a probability above 0 and below 1")
    return value


def _check_share(value: float, name: str) -> float:
    if not 0 <= value <= 1:
        raise PrivacyError(f"{name} is {value}: give a probability from 0 to 1")
    return value


# Randomized response (appendix B): each person answers the sensitive question with probability rho, else an innocuous one.
#
# pi is the share of the population with the sensitive characteristic, mu the share that says yes to the innocuous question.
# The N people asked are drawn at random (B-7): of N people held fixed the variance would be smaller.

FAIR = 0.5  # a coin: the innocuous question of the paper's formulas B-4 and B-10


def one_sided_losses(rho: float, mu: float) -> tuple[float, float]:
    """
    The two guarantees that mu trades off (footnote 57): for people with the characteristic (B-2), for those without (B-3).

    A greater mu hides a sensitive yes better and a no worse; with mu = 1 an answer of no gives itself away.
    """
    _check_open(rho, "rho, the probability of the sensitive question,")
    _check_share(mu, "mu, the share of innocuous yes answers,")
    yes, no = (log1p(rho / ((1 - rho) * hidden)) if hidden > 0 else inf for hidden in (mu, 1 - mu))
    return yes, no


def asking_probability(epsilon: float, mu: float = FAIR) -> float:
    """rho(epsilon): the greater of `one_sided_losses` is then epsilon (B-4 and B-10 for mu = 1/2)."""
    odds = _rarer(mu) * _growth(check_epsilon(epsilon))
    return odds / (1 + odds)


def _rarer(mu: float) -> float:
    return min(_check_open(mu, "mu, the share of innocuous yes answers,"), 1 - mu)


def _growth(epsilon: float) -> float:
    """e^epsilon - 1; beyond what a number can hold there is no protection left to speak of."""
    if epsilon > 700:
        raise PrivacyError(f"epsilon is {epsilon}: no answer would be protected; give at most 700")
    return expm1(epsilon)


def asking_slope(epsilon: float, mu: float = FAIR) -> float:
    """rho'(epsilon) (B-12 for mu = 1/2)."""
    rarer, growth = _rarer(mu), _growth(check_epsilon(epsilon))
    return rarer * exp(epsilon) / (1 + rarer * growth) ** 2


@dataclass(frozen=True)
class Survey:
    """A population that is asked: its sensitive share pi, its size N, and mu."""

    pi: float
    n: int
    mu: float = FAIR

    def __post_init__(self) -> None:
        _check_share(self.pi, "pi, the share with the sensitive characteristic,")
        if self.n < 1:
            raise PrivacyError(f"the population is {self.n}: give one person at least")
        _check_open(self.mu, "mu, the share of innocuous yes answers,")

    def estimate(self, mean_answer: float | Floats, rho: float) -> float | Floats:
        """The estimate of pi from the mean of the answers (B-5)."""
        return (mean_answer - self.mu * (1 - _asked(rho))) / rho

    def mean_answer(self, rho: float) -> float:
        """The expected mean of the answers (B-6)."""
        return _asked(rho) * self.pi + (1 - rho) * self.mu

    def answer_variance(self, rho: float) -> float:
        """The variance of the mean of the answers (B-7)."""
        shift = _asked(rho) * (self.pi - self.mu)
        return (shift + self.mu) * (1 - shift - self.mu) / self.n

    def variance(self, rho: float) -> float:
        """The variance of the estimate of pi (B-8)."""
        return self.answer_variance(rho) / rho**2

    def accuracy(self, rho: float) -> float:
        """I, by how much the variance falls short of that without protection (B-9): 0 at best."""
        return self.variance(1) - self.variance(rho)

    def slope(self, rho: float) -> float:
        """
        I'(rho), the derivative of B-9, for any mu.

        I = Var(1) - Vb / rho^2 with Vb of B-7, whose derivative is (pi - mu)(1 - 2 E) / N, E of B-6. So
        I' = 2 Vb / rho^3 - (pi - mu)(1 - 2 E) / (N rho^2), and for mu = 1/2, where 1 - 2 E = rho (1 - 2 pi):
        I' = 2 Vb / rho^3 - (pi - 1/2)(1 - 2 pi) / (N rho) = 1 / (2 N rho^3), whatever pi is. B-11 prints another form.
        """
        bend = (self.pi - self.mu) * (1 - 2 * self.mean_answer(rho)) / self.n
        return 2 * self.answer_variance(rho) / rho**3 - bend / rho**2

    def accuracy_at(self, epsilon: float) -> float:
        return self.accuracy(asking_probability(epsilon, self.mu))

    def slope_at(self, epsilon: float) -> float:
        """dI/d epsilon, what a little more privacy loss buys."""
        return self.slope(asking_probability(epsilon, self.mu)) * asking_slope(epsilon, self.mu)


def _asked(rho: float) -> float:
    """A probability of the sensitive question that leaves something to estimate; 1 is no protection."""
    if not 0 < rho <= 1:
        raise PrivacyError(f"rho is {rho}: ask the sensitive question with a probability above 0 and at most 1")
    return rho


# Randomized response played out: surveys of simulated people beside the formulas B-6 to B-9.

EQUATIONS = {"mean answer": "B-6", "variance of answer": "B-7", "estimate": "B-5", "variance": "B-8", "accuracy": "B-9"}


@dataclass(frozen=True)
class Trials:
    """The mean answer of each simulated survey, and the share that the same people would have given without protection."""

    answers: Floats
    unprotected: Floats


def simulate(survey: Survey, rho: float, times: int, rng: np.random.Generator) -> Trials:
    """Surveys as in B-1: holders, who is asked, what the others say; people are exchangeable, so numbers are drawn."""
    if times < 2:
        raise PrivacyError(f"{times} simulated surveys show no variance: simulate two at least")
    holders = rng.binomial(survey.n, survey.pi, times)
    asked_holders = rng.binomial(holders, rho)
    asked_others = rng.binomial(survey.n - holders, rho)
    innocuous = rng.binomial(survey.n - asked_holders - asked_others, survey.mu)
    return Trials((asked_holders + innocuous) / survey.n, holders / survey.n)


def compare(survey: Survey, rho: float, trials: Trials) -> Iterator[dict[str, Any]]:
    """
    Each quantity by its formula, as simulated, and the standard error of what was simulated.

    I is simulated as minus the mean square of what protection adds to an estimate. As a difference of two variances
    it would be the same, because what is added does not depend on the share among those asked; but far less sharp.
    """
    estimates = np.asarray(survey.estimate(trials.answers, rho))
    yield _row("mean answer", survey.mean_answer(rho), trials.answers)
    yield _row("variance of answer", survey.answer_variance(rho), (trials.answers - survey.mean_answer(rho)) ** 2)
    yield _row("estimate", survey.pi, estimates)
    yield _row("variance", survey.variance(rho), (estimates - survey.pi) ** 2)
    yield _row("accuracy", survey.accuracy(rho), -((estimates - trials.unprotected) ** 2))


def _row(quantity: str, formula: float, values: Floats) -> dict[str, Any]:
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    simulated = float(values.mean())
    return {"quantity": quantity, "equation": EQUATIONS[quantity], "formula": formula, "simulated": simulated,
            "standard_error": error, "difference_in_errors": (simulated - formula) / error if error else None}  # fmt: skip


def simulated_frontier(settings: RandomizedResponse, seed: int) -> pd.DataFrame:
    """One row per share, population, privacy loss and quantity: the formula beside the simulation."""
    rows = []
    for pi, n, epsilon in product(settings.proportions, settings.populations, settings.epsilons):
        survey, rho = Survey(pi, n, settings.mu), asking_probability(epsilon, settings.mu)
        rng = np.random.default_rng(derive_seed(seed, "randomized response", str(pi), str(n), str(epsilon)))
        case = {"pi": pi, "population": n, "mu": survey.mu, "epsilon": epsilon, "rho": rho}
        trials = simulate(survey, rho, settings.simulations, rng)
        slope = survey.slope_at(epsilon)
        rows += [{**case, **row, "slope": slope if row["quantity"] == "accuracy" else None}
                 for row in compare(survey, rho, trials)]  # fmt: skip
    return pd.DataFrame(rows)
