"""One linear system for classes, blocks, types and cells: what fits by brute force, best integers, multipliers."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from genverify.model.linear import EXACT, OPEN, LinearSystem, make_system, with_row, within
from genverify.solve.bounds import Ends, bound, exact_multipliers, rationalise, weighed
from genverify.solve.program import RecordSystem, matrix_of
from genverify.solve.solvers.base import Infeasible, Limit, Optimal, Stopped, WorkLimits, make_solver, maximise_integers

SOLVER = make_solver("highs", WorkLimits(iterations=10_000, nodes=10_000, seconds=60.0))
LARGEST = 3


def some_system(seed: int) -> tuple[LinearSystem, np.ndarray]:
    """A small random system, sometimes with an empty row or an open end, and its matrix."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (3, 4)) * (rng.random((3, 4)) < 0.7)
    A[1] *= seed % 5 > 0
    x = rng.integers(0, LARGEST + 1, 4)
    lo, hi = np.minimum(x, rng.integers(0, 2, 4)), np.full(4, LARGEST)
    sides = A @ x
    cells = {str(at): (int(lo[at]), int(hi[at])) for at in range(4)}
    rows = [
        (f"row {r}", {str(at): int(w) for at, w in enumerate(A[r]) if w}, -OPEN if rng.random() < 0.2 else int(sides[r]),
         OPEN if rng.random() < 0.2 else int(sides[r]) + int(rng.integers(0, 2)))
        for r in range(3)
    ]  # fmt: skip
    return make_system(cells, rows), A


def fitting(system: LinearSystem, A: np.ndarray) -> list[np.ndarray]:
    """Every point that fits, counted without the system's own arithmetic."""
    every = (np.array(x) for x in product(range(LARGEST + 1), repeat=4))
    return [
        x for x in every
        if all(lo <= n <= hi for lo, n, hi in zip(system.lo, x, system.hi, strict=True))
        and all(lo <= sum(w * n for w, n in zip(row, x, strict=True)) <= hi
                for lo, row, hi in zip(system.least.tolist(), A.tolist(), system.most.tolist(), strict=True))
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_what_fits_is_what_brute_force_says(seed: int) -> None:
    system, A = some_system(seed)
    listed = {tuple(x) for x in fitting(system, A)}
    for x in product(range(LARGEST + 1), repeat=4):
        point = np.array(x)
        assert system.fits(point) == (x in listed)
    assert (matrix_of(system).toarray() == A).all()
    points = np.array(list(product(range(LARGEST + 1), repeat=4))).T
    assert within(A @ points, system.least, system.most).sum() >= len(listed)


@dataclass(frozen=True)
class Counts(RecordSystem):
    """Datasets of some classes, by a dense or a sparse matrix."""

    A: Any
    lo: np.ndarray
    hi: np.ndarray
    rows: tuple[str, ...] = ()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, csr_array])
def test_the_system_of_records_is_its_matrix(seed: int, form: Callable[[np.ndarray], Any]) -> None:
    """Negative and large coefficients included; the dense and the sparse matrix say the same."""
    rng = np.random.default_rng(seed)
    A = np.vstack([np.ones(4, dtype=np.int64), rng.integers(-3, 4, (3, 4)) * rng.integers(0, 2, (3, 4))])
    z = rng.integers(0, LARGEST + 1, 4)
    lo, hi = A @ z - rng.integers(0, 2, 4), A @ z + rng.integers(0, 2, 4)
    program = Counts(form(A), lo, hi)
    assert (program.columns.toarray() == A.T).all()
    assert program.system.largest == max(1, np.abs(A).max())
    assert (matrix_of(program.system).toarray() == A).all()
    for x in product(range(-1, LARGEST + 1), repeat=4):
        point = np.array(x)
        inside = ((point >= 0) & (point <= program.upper)).all() and ((A @ point >= lo) & (A @ point <= hi)).all()
        assert program.fits(point) == inside


@pytest.mark.parametrize("seed", range(40))
def test_the_best_integers_are_those_of_brute_force(seed: int) -> None:
    """Lower ends above 0 and open rows included; with one more row fewer points are left, or none."""
    system, A = some_system(seed)
    c = np.random.default_rng(seed).integers(-2, 3, 4)
    listed = fitting(system, A)
    best = max(int(c @ x) for x in listed)
    answer = maximise_integers(SOLVER, system, c)
    assert isinstance(answer, Optimal)
    assert round(answer.value) == best
    assert system.fits(np.rint(answer.z).astype(np.int64))
    beyond = with_row(system, "beyond", c, best + 1)
    assert not any(beyond.fits(x) for x in listed)
    assert isinstance(maximise_integers(SOLVER, beyond, c), Infeasible)
    reached = maximise_integers(SOLVER, with_row(system, "reached", c, best), -c)
    assert isinstance(reached, Optimal)
    assert round(reached.value) == -best


def test_lower_ends_that_64_bits_cannot_add_up_are_not_searched() -> None:
    huge = np.array([EXACT, EXACT])
    system = LinearSystem(("a", "b"), huge, huge, ("r",), *map(np.array, ([0, 2], [0, 1], [7, 7], [0], [OPEN])))
    assert not system.countable(huge)
    assert not system.fits(huge)
    assert maximise_integers(SOLVER, system, np.zeros(2)) == Stopped(Limit.WORK)


@pytest.mark.parametrize("seed", range(40))
def test_every_rounding_of_multipliers_is_a_bound_that_holds(seed: int) -> None:
    """Whatever the floating-point multipliers are: what is said of c x is true of all points that fit."""
    system, A = some_system(seed)
    rng = np.random.default_rng(seed)
    y, c, ends = rng.normal(size=3), rng.integers(-2, 3, 4), Ends(system.lo, system.hi)
    best = max(int(c @ x) for x in fitting(system, A))
    for d, Y in list(rationalise(y))[:6]:
        assert bound(system, Y, ends, d * c - weighed(system, Y)) >= d * best
    assert exact_multipliers(system, ends, y, c, best - 1) is None


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan, 1e300])
def test_multipliers_that_are_no_numbers_are_not_rounded(wrong: float) -> None:
    assert list(rationalise(np.array([1.0, wrong]))) == []
