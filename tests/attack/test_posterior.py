"""Exact draws as datasets of Problem 1, and estimates beside exact probabilities."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

import brute_force as brute
from genverify.attack.generate import generate_block
from genverify.attack.probability import Effort, count_release, estimate, interval
from genverify.attack.verify import verify_block
from genverify.model.release import Release, Schema
from genverify.model.tabulate import tabulate
from genverify.solve.counting.diagram import Budget
from genverify.solve.counting.prior import uniform
from genverify.solve.program import build_program
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.probabilities import _draw_block, _draw_exactly

EFFORT = Effort(chains=6, draws=25, records=3, between=2)


def some_block(schema: Schema, n: int, seed: int) -> Release:
    """The counts of random records of the toy."""
    rng = np.random.default_rng(seed)
    records = {c.name: rng.choice(c.codes, n).astype(np.int16) for c in schema.domain.columns}
    counts = tabulate(records, np.array([0]), schema.domain, schema.queries)[0]
    return Release(schema, f"toy{seed}", n, np.arange(len(counts)), counts.astype(np.int64), counts.astype(np.int64))


@pytest.mark.parametrize("seed", range(12))
def test_exact_draws_leave_the_verified_claims_unchanged(seed: int, program_settings: ProgramSettings) -> None:
    release = brute.some_release(Random(seed), slack=seed % 2 == 1, sums=seed % 3 == 1)
    found = [
        verify_block(release, generated(release, program_settings, 15, 1).records, program_settings, 1)
        for generated in (generate_block, _draw_block)
    ]
    assert set(found[0].claims) == set(found[1].claims)


@pytest.mark.parametrize("seed", range(12))
def test_exact_draws_are_distinct_and_all_where_there_are_few(seed: int) -> None:
    release = brute.some_release(Random(seed), slack=True)
    listed = {dataset.tobytes() for dataset in brute.Truth(release).datasets}
    program = build_program(release, 10_000)
    drawn = _draw_exactly(program, 20, 1)
    assert drawn is not None
    records, complete = drawn
    seen = {dataset.tobytes() for dataset in records.astype(np.int64)}
    assert len(seen) == len(records) <= 20
    assert seen <= listed
    assert complete == (len(listed) <= 20)
    assert not complete or seen == listed
    assert np.array_equal(records, _draw_exactly(program, 20, 1)[0])


def test_a_block_beyond_the_budget_is_left_to_the_walk(program_settings: ProgramSettings) -> None:
    program = build_program(brute.some_graph(Random(1)), 1000)
    assert _draw_exactly(program, 5, 1, Budget(2, 100, 10.0)) is None


def test_probability_1_and_verified_are_the_same(toy_schema: Schema, program_settings: ProgramSettings) -> None:
    """Every candidate of a few datasets: exactly those with probability 1 are verified."""
    verified = refuted = 0
    for seed in range(6):
        release = some_block(toy_schema, 5, seed)
        datasets = generate_block(release, program_settings, 2, 1).records
        found = verify_block(release, datasets, program_settings, 1)
        posterior = count_release(found.program).posterior(uniform(toy_schema.domain))
        codes, m = (np.array([getattr(c, name) for c in found.candidates]) for name in ("codes", "m"))
        chance = posterior.probabilities(codes.astype(np.int16), m)
        certain = {claim for claim, p in zip(found.candidates, chance, strict=True) if p == 1}
        assert certain == set(found.claims)
        verified, refuted = verified + len(certain), refuted + len(found.candidates) - len(certain)
    assert verified > 20
    assert refuted > 5


def test_estimates_agree_with_exact_probabilities(toy_schema: Schema, program_settings: ProgramSettings) -> None:
    inside = asked = 0
    for seed in range(2):
        release = some_block(replace(toy_schema, queries=toy_schema.queries[:-2]), 6, seed)
        program = build_program(release, 10_000)
        starts = generate_block(release, program_settings, 20, 1).records
        codes = np.array(brute.every_assignment(toy_schema.domain), dtype=np.int16)
        m = np.ones(len(codes), dtype=np.int64)
        exact = count_release(program).posterior(uniform(toy_schema.domain)).probabilities(codes, m)
        found, low, high = estimate(program, uniform(toy_schema.domain), starts, EFFORT, seed).probabilities(codes, m)
        open_ = (exact > 0) & (exact < 1)
        assert np.array_equal(found[~open_], exact[~open_])
        assert np.abs(found - exact).mean() < 0.05
        inside, asked = inside + int(((low <= exact) & (exact <= high))[open_].sum()), asked + int(open_.sum())
    assert asked > 20
    assert inside / asked > 0.85


def test_chains_that_agree_do_not_make_a_claim_certain() -> None:
    mean, low, high = interval(np.ones((8, 1)), 100)
    assert mean[0] == 1
    assert 0.6 < low[0] < 0.8
    assert high[0] == 1
