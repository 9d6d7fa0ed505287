"""A solver that gives wrong values: a refutation is recounted in integers, and a search for the maximum ends."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

import brute_force as brute
from genverify.attack.verify import Verdict, Verifier
from genverify.model.claims import Claim
from genverify.model.release import Release
from genverify.solve.bounds import Bounder, Limits
from genverify.solve.program import WrongAnswer, build_program
from genverify.solve.solvers.base import Answer, Optimal, WorkLimits
from genverify.solve.solvers.highs import Highs

LIMITS = Limits(nodes=300, leaves=1000, seconds=60)
MOST_CALLS = 20_000


class Exaggerating(Highs):
    """HiGHS, except that some of the linear program's values are 1 too high."""

    def __init__(self, share: float, seed: int) -> None:
        super().__init__(WorkLimits(iterations=100_000, nodes=1000, seconds=60))
        self.share, self.random, self.calls = share, Random(seed), 0

    def linear_program(self, A: Any, lo: Any, hi: Any) -> Any:
        program = super().linear_program(A, lo, hi)
        honest = program.maximise

        def maximise(objective: Any) -> Answer:
            self.calls += 1
            assert self.calls < MOST_CALLS, "the search does not end"
            answer = honest(objective)
            if isinstance(answer, Optimal) and self.random.random() < self.share:
                return replace(answer, value=answer.value + 1)
            return answer

        program.maximise = maximise  # type: ignore[method-assign]
        return program


def bounder_of(release: Release, share: float, seed: int) -> Bounder:
    return Bounder(build_program(release, 10_000), Exaggerating(share, seed), LIMITS)


@pytest.mark.parametrize("seed", range(40))
def test_a_value_that_is_too_high_never_refutes_a_true_claim(seed: int) -> None:
    release = brute.some_release(Random(seed), slack=seed % 2 == 1, sums=seed % 3 == 0)
    truth = brute.Truth(release)
    for codes in brute.every_assignment(release.schema.domain)[:12]:
        counts = truth.counts(codes)
        for m in range(release.n + 1):
            try:
                decision = Verifier(bounder_of(release, 0.3, seed)).decide([Claim(codes, m)])[0]
            except WrongAnswer:
                continue
            assert decision.verdict is not (Verdict.REFUTED if counts == {m} else Verdict.VERIFIED)


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_a_search_for_the_maximum_ends_with_the_right_value_or_an_error(share: float) -> None:
    for seed in range(40):
        release = brute.some_release(Random(seed), slack=True)
        bounder = bounder_of(release, share, seed)
        for place in range(bounder.program.classes):
            chosen = np.zeros(bounder.program.classes, dtype=np.int64)
            chosen[place] = 1
            try:
                found, bound = bounder.maximum(chosen)
            except WrongAnswer:
                continue
            honest, _ = bounder_of(release, 0.0, seed).maximum(chosen)
            assert found == honest or bound.proof is None
            assert found <= honest


def test_a_wrong_value_names_the_block_and_both_numbers() -> None:
    release = brute.clique(4)
    bounder = bounder_of(release, 1.0, 0)
    total = np.ones(bounder.program.classes, dtype=np.int64)
    with pytest.raises(WrongAnswer, match=r"block tiny: .* 2 when recounted, not more than 2"):
        bounder.at_most(total, release.n)
