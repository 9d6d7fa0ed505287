"""
Privacy budgets (zero-concentrated differential privacy): rho, its shares, the variance of the noise they buy, and epsilon.

Equation 6 of subsidized housing: a query with the share c of rho gets discrete Gaussian noise of variance 1 / (c rho). That
is c rho of zCDP where a change of one record moves two cells of a table by one (a squared sensitivity of 2, as in the 2020
system).
"""

from fractions import Fraction
from math import exp, log, log1p

from scipy.optimize import minimize_scalar

from genverify.core.errors import ConfigError


def as_written(value: float | str | Fraction, what: str) -> Fraction:
    """
    A number as it is written, not as the float behind it; zero and less are refused.

    >>> as_written(4.96, "rho")
    Fraction(124, 25)
    """
    try:
        number = Fraction(str(value))
    except ValueError:
        raise ConfigError(f"{what} = {value}: give a number above 0") from None
    if number <= 0:
        raise ConfigError(f"{what} = {value}: a budget of 0 or less buys no answer at all; give a number above 0")
    return number


def variance(rho: Fraction, share: Fraction) -> Fraction:
    """
    The variance of the noise of a query that has a share of rho (equation 6).

    >>> variance(Fraction(1, 10), Fraction(1, 22))
    Fraction(220, 1)
    """
    share = as_written(share, "share of the budget")
    if share > 1:
        raise ConfigError(f"share of the budget = {share}: a query cannot have more than the whole; give at most 1")
    return 1 / (share * as_written(rho, "rho"))


def uniform_variance(rho: Fraction, queries: int) -> Fraction:
    """The variance of each query where that many queries share rho evenly."""
    return variance(rho, Fraction(1, queries))


def epsilon(rho: float | Fraction, delta: float) -> float:
    """
    The least epsilon for a delta that follows from rho-zCDP by Renyi divergences (Canonne, Kamath, Steinke, corollary 13).

    Any order alpha gives a valid epsilon, so a search that misses the best one errs on the safe side.

    >>> round(epsilon(2.56, 1e-10), 2)
    17.16
    """
    rho = float(as_written(rho, "rho"))
    if not 0 < delta < 1:
        raise ConfigError(f"delta = {delta}: give a number above 0 and below 1")

    def of_order(log_excess: float) -> float:
        alpha = 1 + exp(log_excess)
        return alpha * rho - log(alpha * delta) / (alpha - 1) + log1p(-1 / alpha)

    found = minimize_scalar(of_order, bounds=(-15, 30), method="bounded")
    return max(0.0, of_order(float(found.x)))
