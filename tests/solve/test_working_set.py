"""Linear programs over a working set answer as the whole ones do; exchanges lead from fitting datasets to fitting ones."""

from random import Random

import numpy as np
import pytest

import brute_force as brute
from genverify.solve import bounds as workingset
from genverify.solve.bounds import Bounder, Limits, WorkingSet
from genverify.solve.datasets import Exchange
from genverify.solve.program import build_program
from genverify.solve.solvers.base import Infeasible, Optimal, WorkLimits
from genverify.solve.solvers.highs import Highs

SOLVER = Highs(WorkLimits(iterations=100_000, nodes=1000, seconds=60))
LIMITS = Limits(nodes=500, leaves=1000, seconds=60)


@pytest.mark.parametrize("seed", range(30))
def test_a_working_set_of_one_class_at_a_time_gives_the_same_answers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workingset, "FIRST", 1)
    monkeypatch.setattr(workingset, "AT_ONCE", 1)
    program = build_program(brute.some_release(Random(seed), slack=seed % 2 == 1, sums=seed % 3 == 0), 10_000)
    few, whole = WorkingSet(program, SOLVER), SOLVER.linear_program(program.A, program.lo, program.hi)
    rng = np.random.default_rng(seed)
    for _ in range(6):
        objective = rng.integers(-2, 3, size=program.classes)
        row = rng.integers(0, 2, size=program.classes)
        least = int(rng.integers(0, program.n + 2))
        for branch in (False, True):
            if branch:
                few.push_row(row, least, np.inf)
                whole.push_row(row, least, np.inf)
            one, other = few.maximise(objective), whole.maximise(objective)
            assert type(one) is type(other)
            assert isinstance(one, Optimal | Infeasible)
            if isinstance(one, Optimal) and isinstance(other, Optimal):
                assert one.value == pytest.approx(other.value, abs=1e-6)
                assert one.z.shape == (program.classes,)
        few.pop_row()
        whole.pop_row()


@pytest.mark.parametrize("seed", range(20))
def test_exchanges_and_swaps_keep_every_count(seed: int) -> None:
    program = build_program(brute.some_release(Random(seed), slack=seed % 2 == 1, sums=seed % 3 == 0), 10_000)
    start = Bounder(program, SOLVER, LIMITS).at_most(np.zeros(program.classes, dtype=np.int64), -1).counterexample
    assert start is not None
    exchange = Exchange(program, np.random.default_rng(seed))
    points = np.array([np.repeat(np.arange(program.classes), start)] * 5)
    for _ in range(10):
        points = exchange.step(exchange.swap(points))
        counts = np.array([np.bincount(point, minlength=program.classes) for point in points]).T
        assert all(program.fits(z) for z in counts.T)
