"""A solver's point as integers: what it says counts only after a recount."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Floats, Ints
from genverify.core.errors import GenverifyError

INTEGRAL = 1e-6


class WrongAnswer(GenverifyError):
    """A solver's answer did not survive the recount in integers."""


class Fitting(Protocol):
    """The datasets that fit: z >= 0 with lo <= A z <= hi, and n records."""

    @property
    def A(self) -> npt.NDArray[Any]: ...

    @property
    def lo(self) -> Ints: ...

    @property
    def hi(self) -> Ints: ...

    @property
    def n(self) -> int: ...

    def fits(self, z: Ints) -> bool: ...


def integer_point(point: Floats) -> Ints | None:
    """
    The point in integers; None where it is not integral.

    >>> integer_point(np.array([1.0000001, 0.0])), integer_point(np.array([0.5]))
    (array([1, 0]), None)
    """
    if not (np.abs(point) < 2.0**62).all():  # infinite, not a number, or beyond 64 bits: whatever the solver says
        return None
    z = np.rint(point).astype(np.int64)
    return None if np.abs(point - z).max(initial=0) > INTEGRAL else z


def rounded_fit(program: Fitting, point: Floats) -> Ints | None:
    """The integers nearest to the point; None where they do not fit."""
    z = np.rint(point).astype(np.int64)
    return z if program.fits(z) else None


def recounted(program: Fitting, point: Floats, problem: str) -> Ints:
    """The point as a dataset that fits; an error with these words where it is not integral, or does not fit."""
    z = integer_point(point)
    if z is None or not program.fits(z):
        raise WrongAnswer(problem)
    return z
