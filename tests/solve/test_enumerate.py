"""Complete and unique are reported only where it is proved: a solver that stops or lies costs work, never a false answer."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

import brute_force as brute
from genverify.attack.generate import MOST_PROGRAMS, _all_class_counts, generate
from genverify.model.errors import NoDatasetError
from genverify.model.release import Release
from genverify.solve.bounds import Bounder, Limits, record_leaf
from genverify.solve.program import WrongAnswer, build_program
from genverify.solve.solvers.base import Answer, Infeasible, Limit, Optimal, Stopped, WorkLimits
from genverify.solve.solvers.highs import Highs

WORK = WorkLimits(iterations=100_000, nodes=1000, seconds=60)
LIMITS = Limits(nodes=5000, leaves=1000, seconds=60)


class Unreliable(Highs):
    """HiGHS, except that some answers of its linear programs are replaced by another."""

    def __init__(self, other: Any, share: float, seed: int) -> None:
        super().__init__(WORK)
        self.other, self.share, self.random = other, share, Random(seed)

    def linear_program(self, A: Any, lo: Any, hi: Any) -> Any:
        program = super().linear_program(A, lo, hi)
        honest = program.maximise

        def maximise(objective: Any) -> Answer:
            answer = honest(objective)
            return self.other(answer) if self.random.random() < self.share else answer

        program.maximise = maximise  # type: ignore[method-assign]
        return program


def bounder_of(release: Release, solver: Highs) -> Bounder:
    return Bounder(build_program(release, 10_000), solver, LIMITS)


OTHERS = {
    "a limit": lambda answer: Stopped(Limit.WORK),
    "falsely infeasible": lambda answer: Infeasible(answer.y),
    "a value of 0": lambda answer: replace(answer, value=0.0) if isinstance(answer, Optimal) else answer,
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_complete_and_unique_are_never_false(kind: str, share: float) -> None:
    for seed in range(60):
        release = brute.some_release(Random(seed), slack=seed % 3 == 0, sums=seed % 2 == 0)
        truth = {dataset.tobytes() for dataset in brute.Truth(release).datasets}
        try:
            found = generate(bounder_of(release, Unreliable(OTHERS[kind], share, seed)), 200, seed)
        except (NoDatasetError, WrongAnswer):
            continue
        drawn = {dataset.astype(np.int64).tobytes() for dataset in found.records}
        assert drawn <= truth
        assert drawn == truth or not found.complete
        assert len(truth) == 1 or not found.unique


@pytest.mark.parametrize("kind", OTHERS)
def test_an_enumeration_that_no_linear_program_cuts_is_still_complete(kind: str) -> None:
    """The rows of the program bound every count, so a search whose solver never helps still ends with all of them."""
    for seed in range(20):
        release = brute.some_release(Random(seed), slack=True)
        program = build_program(release, 10_000)
        honest = Bounder(program, Highs(WORK), LIMITS)
        every, complete = _all_class_counts(honest, [], 500)
        bounder = Bounder(program, Unreliable(OTHERS[kind], 1.0, seed), LIMITS)
        bounder.lp = honest.lp  # only the enumeration itself is answered wrongly
        vectors, is_complete = _all_class_counts(bounder, list(every), 500)
        assert is_complete == complete
        assert [z.tolist() for z in vectors] == [z.tolist() for z in every]


def test_a_search_that_runs_out_of_work_is_not_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    release = brute.some_release(Random(3))
    assert _all_class_counts(bounder_of(release, Highs(WORK)), [], 500)[1]
    monkeypatch.setattr("genverify.attack.generate.MOST_PROGRAMS", 0)
    assert MOST_PROGRAMS > 0
    assert not _all_class_counts(bounder_of(release, Highs(WORK)), [], 500)[1]


def test_a_contradiction_without_proof_is_not_called_proved() -> None:
    """The solver says that nothing fits, and its multipliers do not show it."""
    bounder = bounder_of(brute.some_release(Random(3)), Unreliable(OTHERS["falsely infeasible"], 1.0, 0))
    with pytest.raises(NoDatasetError, match="no dataset that fits the counts was found") as caught:
        generate(bounder, 10, 1)
    assert caught.value.certificate is None


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e18, -1e18])
def test_multipliers_that_integers_cannot_hold_prove_nothing(wrong: float) -> None:
    program = build_program(brute.clique(4), 1000)
    y = np.full(len(program.rows), wrong)
    for kind, b in (("bound", 0), ("empty", -1)):
        assert record_leaf(program, [], y, np.zeros(program.classes, dtype=np.int64), b - 1, kind) is None
