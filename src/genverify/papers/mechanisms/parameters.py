"""Parameters of a privacy mechanism, checked: what lies outside its range is refused with the range."""

from math import isfinite

from genverify.core.errors import GenverifyError


class PrivacyError(GenverifyError):
    """A mechanism is asked for something that it cannot give."""


def check_epsilon(epsilon: float) -> float:
    """
    A privacy loss, above 0 and finite.

    >>> check_epsilon(0.5)
    0.5
    >>> check_epsilon(0.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    genverify.papers.mechanisms.parameters.PrivacyError: epsilon is 0.0: give a privacy loss above 0 ...
    """
    if not (isfinite(epsilon) and epsilon > 0):
        raise PrivacyError(f"epsilon is {epsilon}: give a privacy loss above 0 (0 publishes nothing but noise)")
    return epsilon


def check_open(value: float, name: str) -> float:
    """A probability strictly between 0 and 1."""
    if not 0 < value < 1:
        raise PrivacyError(f"{name} is {value}: give a probability above 0 and below 1")
    return value


def check_share(value: float, name: str) -> float:
    """A probability, 0 and 1 included."""
    if not 0 <= value <= 1:
        raise PrivacyError(f"{name} is {value}: give a probability from 0 to 1")
    return value


def check_population(n: int) -> int:
    """A number of people, one at least."""
    if n < 1:
        raise PrivacyError(f"the population is {n}: give one person at least")
    return n
