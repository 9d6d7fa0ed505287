"""Randomized response played out: surveys of simulated people beside the formulas B-6 to B-9."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Floats
from genverify.core.seeds import derive_seed
from genverify.papers.mechanisms.parameters import PrivacyError
from genverify.papers.mechanisms.randomized_response import Survey, asking_probability
from genverify.papers.mechanisms.settings import RandomizedResponse

EQUATIONS = {"mean answer": "B-6", "variance of answer": "B-7", "estimate": "B-5", "variance": "B-8", "accuracy": "B-9"}


@dataclass(frozen=True)
class Trials:
    """The mean answer of each simulated survey, and the share that the same people would have given without protection."""

    answers: Floats
    unprotected: Floats


def simulate(survey: Survey, rho: float, times: int, rng: np.random.Generator) -> Trials:
    """
    Surveys as in B-1: who has the characteristic, who is asked about it, and what the others say.

    People are exchangeable, so they are drawn by their number in each group and not one by one.
    """
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
