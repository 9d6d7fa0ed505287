"""Linear programs over a working set answer as the whole ones do; exchanges lead from fitting datasets to fitting ones."""

from itertools import combinations, product
from random import Random

import numpy as np
import pytest

import brute_force as brute
from genverify.model.arrays import Ints
from genverify.solve import bounds as workingset
from genverify.solve import datasets
from genverify.solve.bounds import Bounder, Limits, WorkingSet
from genverify.solve.datasets import Exchange
from genverify.solve.program import Program, build_program
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


def program_and_point(seed: int) -> tuple[Program, Ints]:
    """A small random program, and class counts that fit it."""
    program = build_program(brute.some_release(Random(seed), slack=seed % 2 == 1, sums=seed % 3 == 0), 10_000)
    point = Bounder(program, SOLVER, LIMITS).at_most(np.zeros(program.classes, dtype=np.int64), -1).counterexample
    assert point is not None
    return program, point


@pytest.mark.parametrize("seed", range(20))
def test_exchanges_and_swaps_keep_every_count(seed: int) -> None:
    program, start = program_and_point(seed)
    exchange = Exchange(program, np.random.default_rng(seed))
    points = np.array([np.repeat(np.arange(program.classes), start)] * 5)
    for _ in range(10):
        points = exchange.step(exchange.swap(points))
        counts = np.array([np.bincount(point, minlength=program.classes) for point in points]).T
        assert all(program.fits(z) for z in counts.T)


@pytest.mark.parametrize("at_once", [1, 200_000])
@pytest.mark.parametrize("seed", range(30))
def test_an_exchange_improves_where_trying_all_pairs_says_that_one_does(
    seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With sums among the cells too, where no bits of cells tell classes apart, and one pair of records at a time."""
    monkeypatch.setattr(datasets, "LOOKUPS_AT_ONCE", at_once)
    program, start = program_and_point(seed)
    exchange, rng = Exchange(program, np.random.default_rng(seed)), np.random.default_rng(seed)
    assert (exchange.cells is None) == (program.system.largest > 1)
    A = np.asarray(program.A)
    for c in (
        rng.integers(0, 2, program.classes),
        -rng.integers(0, 2, program.classes),
        np.zeros(program.classes, np.int64),
    ):
        records = np.repeat(np.arange(program.classes), start)
        moves = product(combinations(records, 2), np.flatnonzero(c == c.max(initial=0)), range(program.classes))
        better = any(
            c[new] + c[partner] > c[one] + c[other] and (A[:, one] + A[:, other] == A[:, new] + A[:, partner]).all()
            for (one, other), new, partner in moves
        )
        moved = exchange.improve(start, c)
        assert (moved is not None) == better
        if moved is not None:
            assert program.fits(moved)
            assert c @ moved > c @ start


@pytest.mark.parametrize("share", [0.25, 1.0])
@pytest.mark.parametrize("seed", range(20))
def test_a_dive_finds_what_fits_and_leaves_the_program_as_it_was(
    seed: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All fractional classes at once are often too many; then fewer are fixed, and in the end one."""
    monkeypatch.setattr(workingset, "FIXED_AT_ONCE", share)
    release = brute.some_graph(Random(seed)) if seed % 2 else brute.some_release(Random(seed), slack=seed % 4 == 0)
    program = build_program(release, 10_000)
    bounder, rng = Bounder(program, SOLVER, LIMITS), np.random.default_rng(seed)
    for _ in range(4):
        objective = rng.integers(-2, 3, size=program.classes)
        before = bounder.lp.maximise(objective)
        assert isinstance(before, Optimal)
        for least in (None, int(np.floor(before.value)), int(np.floor(before.value)) + 1):
            found = bounder.dive(objective, least)
            assert found is None or (program.fits(found) and (least is None or objective @ found >= least))
            assert found is None or objective @ found <= before.value + 1e-6
        again = bounder.lp.maximise(objective)
        assert isinstance(again, Optimal)
        assert again.value == pytest.approx(before.value, abs=1e-6)
    assert seed % 2 or any(bounder.dive(rng.normal(size=program.classes)) is not None for _ in range(3))
