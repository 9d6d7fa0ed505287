"""Equation 8 against enumeration on small programs whose counts no dataset fits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genverify.solve.program import WrongAnswer
from genverify.solve.solvers.base import WorkLimits
from genverify.solve.solvers.highs import Highs
from housing_cases import NAMES, SOLVER, all_datasets, small_program
from studies.housing import reconstruct as module
from studies.housing.joint_program import NATS, TypeProgram
from studies.housing.reconstruct import closest


def squared(program: TypeProgram, z: np.ndarray) -> int:
    """The squared error, row by row."""
    counts = (program.A @ z).tolist()
    off = [max(0, low - c) + max(0, c - high) for c, low, high in zip(counts, program.lo, program.hi, strict=True)]
    return sum(int(miss) ** 2 for miss in off)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 9), st.booleans())
def test_the_least_of_cost_and_error_is_that_of_enumeration(seed: int, noise: int, likelihood: bool) -> None:
    program = small_program(seed, noise)
    found = closest(program, SOLVER, likelihood)
    assert found.gap == 0
    assert found.error == squared(program, found.z)
    weight = int(likelihood)
    least = min(weight * int(program.cost @ z) + NATS * squared(program, z) for z in all_datasets(program))
    assert weight * int(program.cost @ found.z) + NATS * found.error == least
    assert found.program(program).fits(found.z)
    assert (found.error == 0) == program.fits(found.z)


def one_type(count: int) -> TypeProgram:
    """Two types of household, ten households, and a count of the one that no dataset meets."""
    codes, A = np.array([(0, 1, 0), (0, 2, 0)]), np.array([[1, 1], [1, 0]])
    return TypeProgram(NAMES, codes, ("N", "SIZE_1"), A, np.array([10, count]), np.array([10, count]), np.array([0, 0]))


@pytest.mark.parametrize(("count", "error"), [(4, 0), (10, 0), (11, 1), (60, 2500), (1_000, 990**2)])
def test_large_errors_are_exact(count: int, error: int) -> None:
    """Far beyond the first steps: they are laid around the error that was met."""
    assert closest(one_type(count), SOLVER).error == error


def test_a_cost_is_weighed_against_an_error() -> None:
    """A dear household is taken while it saves more error than it costs."""
    for cost, taken in ((0.5, 10), (4.0, 8), (8.5, 6), (99.0, 0)):
        program = one_type(10)
        dear = TypeProgram(
            NAMES, program.codes, program.rows, program.A, program.lo, program.hi, np.array([round(cost * NATS), 0])
        )
        assert closest(dear, SOLVER).z[0] == taken


def test_a_limit_shows_as_a_gap_or_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WrongAnswer, match=r"no dataset near the counts was found \(time limit\)"):
        closest(one_type(60), Highs(WorkLimits(1000, 1000, 0.0)))
    monkeypatch.setattr(module, "TRIES", 1)
    assert closest(one_type(1000), SOLVER).gap == np.inf
