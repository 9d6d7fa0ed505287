"""An integer search that ends at a number of the solver's own checks, and at no time of a clock."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from genverify.solve.solvers.base import Answer, IntegerProgram, Limit, Optimal, Stopped, WorkLimits
from genverify.solve.solvers.highs import Highs


@pytest.fixture(scope="module")
def knapsacks() -> IntegerProgram:
    """Twelve knapsacks at once, which presolve does not settle."""
    rng = np.random.default_rng(0)
    A = csr_array(rng.integers(0, 30, (12, 60)).astype(float))
    return IntegerProgram(A, np.zeros(12), np.full(12, 700.0), np.ones(60), np.arange(5.0, 65.0))


def solved(program: IntegerProgram, checks: int | None, seconds: float) -> Answer:
    return Highs(WorkLimits(iterations=10_000, nodes=1_000, seconds=seconds, checks=checks)).solve(program)


def test_a_search_ends_at_its_number_of_checks_and_the_same_way_each_time(knapsacks: IntegerProgram) -> None:
    first, again = (solved(knapsacks, checks=40, seconds=60.0) for _ in range(2))
    assert isinstance(first, Stopped)
    assert isinstance(again, Stopped)
    assert first.limit is Limit.WORK
    assert first.bound == again.bound
    assert np.array_equal(first.incumbent, again.incumbent)  # type: ignore[arg-type]


def test_no_clock_ends_a_search_that_counts_checks(knapsacks: IntegerProgram) -> None:
    clocked, counted = solved(knapsacks, None, seconds=60.0), solved(knapsacks, 100_000, seconds=1e-9)
    assert isinstance(clocked, Optimal)
    assert isinstance(counted, Optimal)
    assert counted.value == clocked.value
    assert isinstance(solved(knapsacks, None, seconds=1e-9), Stopped)
