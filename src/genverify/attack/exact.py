"""Problem 1 by exact draws: datasets that fit a release, each as likely as the uniform prior makes it."""

import logging

import numpy as np

from genverify.attack.generate import generate
from genverify.attack.generated import Generated
from genverify.attack.posterior import Counted, count_release
from genverify.core.claims import Codes
from genverify.core.release import Release
from genverify.solve.counting.diagram import BUDGET, Budget, TooManyStates
from genverify.solve.counting.draw import all_vectors
from genverify.solve.counting.prior import uniform
from genverify.solve.datasets import class_vectors, list_records
from genverify.solve.program import Program
from genverify.solve.settings import ProgramSettings

log = logging.getLogger(__name__)
PATIENCE = 50


def draw_block(release: Release, settings: ProgramSettings, K: int, seed: int) -> Generated:
    """K distinct datasets that fit the release of a block, drawn exactly; found by walking where counting takes too much."""
    bounder = settings.proving("drawing exactly (generate.method: exact)").bounder(release)
    drawn = draw_exactly(bounder.program, K, seed)
    if drawn is None:
        return generate(bounder, K, seed)
    return Generated(drawn[0], len(class_vectors(bounder.program, drawn[0])), drawn[1])


def draw_exactly(program: Program, K: int, seed: int, budget: Budget = BUDGET) -> tuple[Codes, bool] | None:
    """
    K distinct datasets in the order in which independent draws bring them, or every one where fewer than K exist, and
    whether these are all. None where counting takes more than the budget.
    """
    try:
        counted = count_release(program, budget)
    except TooManyStates as error:
        log.warning("block %s: %s Its datasets are found by walking.", program.release.block, error)
        return None
    if counted.datasets <= K:
        listed = [records for z in all_vectors(counted.diagram) for records in list_records(program, z)]
        return np.array(listed), True
    return _distinct(counted, K, np.random.default_rng(seed)), False


def _distinct(counted: Counted, K: int, rng: np.random.Generator) -> Codes:
    """Draws until K are distinct; where a few datasets take nearly all draws, those that were met."""
    posterior = counted.posterior(uniform(counted.program.types.domain))
    found: dict[bytes, Codes] = {}
    for _ in range(PATIENCE):
        for records in posterior.draw(K, rng):
            if len(found) < K:
                found.setdefault(records.tobytes(), records)
        if len(found) == K:
            break
    return np.array(list(found.values()))
