"""Counts, distributions and draws against brute force, on tiny domains where every dataset can be listed."""

import itertools
import tracemalloc
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import factorial
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import brute_force as brute
from brute_force import count_by_dictionary
from genverify.attack.probability import Posterior, count_release
from genverify.model.claims import ANY
from genverify.model.errors import DataError, GenverifyError, ReleaseError
from genverify.model.release import Release
from genverify.solve.counting import diagram
from genverify.solve.counting.diagram import (
    BUDGET,
    BYTES_PER_MOVE,
    BYTES_PER_STATE,
    Budget,
    System,
    TooManyStates,
    UnlikelyRelease,
    _Drawing,
    draw_diagram,
    total_weight,
)
from genverify.solve.counting.prior import Prior, uniform
from genverify.solve.datasets import class_vectors, classes_of_records
from genverify.solve.program import build_program

tiny = settings(max_examples=70, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
randoms = st.randoms(use_true_random=False)
kinds = st.sampled_from([(False, False), (True, False), (False, True), (True, True)])


def some_prior(random: Random, release: Release) -> Prior:
    """A prior with a table of some records, and a floor for those that it lacks, or for all."""
    records = random.sample(brute.records_of(release.schema), k=1)
    records += [r for r in brute.records_of(release.schema) if random.random() < 0.6 and r not in records]
    weights = np.array([random.choice([0.05, 0.25, 1.0, 3.0]) for _ in records])
    floor = random.choice([0.1, 1.0])
    return Prior("some", release.schema.domain, np.array(records, dtype=np.int16), weights, floor)


def weight_of(prior: Prior, record: tuple[int, ...]) -> float:
    """The weight of a record, as it is documented."""
    table = {tuple(r): w for r, w in zip(prior.records.tolist(), prior.weights.tolist(), strict=True)}
    return table.get(record, prior.floor)


def weights_of(release: Release, prior: Prior) -> np.ndarray:
    """The probability of every listed dataset: N records drawn one by one from the prior, given that they fit."""
    found = []
    for dataset in brute.Truth(release).datasets.tolist():
        records = Counter(map(tuple, dataset))
        weight = 1.0
        for record, times in records.items():
            weight *= weight_of(prior, record) ** times / factorial(times)
        found.append(weight)
    return np.array(found) / sum(found)


def counts_of(datasets: np.ndarray, codes: tuple[int, ...]) -> np.ndarray:
    wanted = np.array(codes)
    return ((wanted == ANY) | (datasets == wanted)).all(axis=2).sum(axis=1)


def posterior_of(release: Release, prior: Prior) -> Posterior:
    return count_release(build_program(release, 10_000)).posterior(prior)


def weighed(random: Random, kind: tuple[bool, bool]) -> tuple[Release, Posterior, np.ndarray, np.ndarray]:
    """A release and its posterior under some prior; every dataset that fits, listed, and the probability of each."""
    release = brute.some_release(random, slack=kind[0], sums=kind[1])
    prior = some_prior(random, release)
    return release, posterior_of(release, prior), brute.Truth(release).datasets, weights_of(release, prior)


@tiny
@given(randoms, kinds)
def test_class_vectors_and_datasets_are_counted_as_by_hand(random: Random, kind: tuple[bool, bool]) -> None:
    release = brute.some_release(random, slack=kind[0], sums=kind[1])
    datasets = brute.Truth(release).datasets
    program = build_program(release, 10_000)
    counted = count_release(program)
    assert counted.datasets == len(datasets)
    assert counted.vectors == len(class_vectors(program, datasets.astype(np.int16)))
    assert counted.vectors == count_by_dictionary(program)[0]


@tiny
@given(randoms, kinds)
def test_every_claim_has_its_probability_and_only_certain_ones_have_1(random: Random, kind: tuple[bool, bool]) -> None:
    release, found, datasets, shares = weighed(random, kind)
    assignments = brute.every_assignment(release.schema.domain)
    asked = np.array(assignments, dtype=np.int16)
    said, present = found.distribution(asked, release.n), found.present(asked)
    alone = [found.probabilities(asked, np.full(len(asked), m)) for m in range(3)]
    for place, (codes, row) in enumerate(zip(assignments, said, strict=True)):
        counts = counts_of(datasets, codes)
        for m, single in enumerate(alone):
            expected = row[m] if m <= release.n else 0.0
            assert single[place] == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert (single[place] == 1, single[place] > 0) == (set(counts) == {m}, m in counts)
        assert present[place] == pytest.approx(1 - row[0], rel=1e-9, abs=1e-12)
        assert (present[place] == 1) == (0 not in counts)
        assert row == pytest.approx(np.bincount(counts, shares, minlength=release.n + 2), rel=1e-9, abs=1e-12)
        assert {m for m in range(release.n + 1) if row[m] == 1} == (set(counts) if len(set(counts)) == 1 else set())
        assert {m for m in range(release.n + 1) if row[m] > 0} == set(counts)


@tiny
@given(randoms, kinds)
def test_class_counts_and_rows_are_distributed_as_by_hand(random: Random, kind: tuple[bool, bool]) -> None:
    release, found, datasets, shares = weighed(random, kind)
    rows, chance = found.rows(10_000)
    present = [float(shares[(datasets == np.array(row)).all(axis=2).any(axis=1)].sum()) for row in rows[:12].tolist()]
    assert chance[:12] == pytest.approx(np.array(present), rel=1e-9, abs=1e-12)
    assert set(map(tuple, rows.tolist())) >= set(map(tuple, datasets.reshape(-1, datasets.shape[2]).tolist()))
    assert (np.diff(chance) <= 1e-12).all()
    assert found.class_counts.sum(axis=1) == pytest.approx(1.0)
    assert found.class_counts @ np.arange(found.class_counts.shape[1]) == pytest.approx(
        np.bincount(
            classes_of_records(found.program, datasets.astype(np.int16)).ravel(),
            np.repeat(shares, release.n),
            minlength=found.program.classes,
        ),
        abs=1e-12,
    )


@pytest.mark.parametrize("seed", range(8))
def test_draws_are_independent_draws_from_the_posterior(seed: int) -> None:
    random = Random(seed)
    release = brute.some_release(random, slack=seed % 2 == 1, sums=seed % 4 > 1)
    while len(brute.Truth(release).datasets) not in range(3, 60):
        release = brute.some_release(random, slack=seed % 2 == 1, sums=seed % 4 > 1)
    prior = some_prior(random, release)
    drawn = posterior_of(release, prior).draw(1500, np.random.default_rng(seed))
    seen = Counter(dataset.tobytes() for dataset in drawn.astype(np.int64))
    listed = [dataset.tobytes() for dataset in brute.Truth(release).datasets]
    assert set(seen) <= set(listed)
    expected = weights_of(release, prior) * 1500
    often = expected >= 5
    observed = np.array([seen[key] for key in listed])
    pooled = [np.append(x[often], x[~often].sum() + 1e-9) for x in (observed, expected)]
    assert chisquare(pooled[0] * pooled[1].sum() / pooled[0].sum(), pooled[1]).pvalue > 1e-4
    consecutive = Counter((a.tobytes(), b.tobytes()) for a, b in itertools.pairwise(drawn))
    likeliest = max(seen, key=lambda key: seen[key])
    again = next(d for d in drawn if d.astype(np.int64).tobytes() == likeliest).tobytes()
    assert consecutive[again, again] / 1499 == pytest.approx((seen[likeliest] / 1500) ** 2, abs=0.04)


@tiny
@given(randoms, kinds)
def test_sums_in_floats_stay_within_the_stated_error(random: Random, kind: tuple[bool, bool]) -> None:
    release = brute.some_release(random, slack=kind[0], sums=kind[1])
    found = posterior_of(release, some_prior(random, release))
    exact = []
    masses = [Fraction(float(mass)) for mass in found.masses.of_classes]
    largest = (
        max(mass for mass, most in zip(masses, found.diagram.most, strict=True) if most) if found.diagram.most.any() else 1
    )
    for mass, most in zip(masses, found.diagram.most.tolist(), strict=True):
        exact.append(np.array([(mass / largest) ** j / factorial(j) for j in range(most + 1)], dtype=object))
    total = Fraction(total_weight(found.diagram, exact))
    assert abs(Fraction(float(found.forward.total)) - total) <= total * Fraction(1e-12)


def test_states_wider_than_a_word_are_counted_too() -> None:
    rng = np.random.default_rng(5)
    z = np.zeros(14, dtype=np.int64)
    z[:4] = [2, 1, 1, 1]
    A = (rng.random((30, 14)) < 0.4).astype(np.int32)
    A[0] = 1
    counts = A @ z
    program = replace(build_program(brute.clique(3), 100), A=A, lo=counts - 1, hi=counts + 1)
    diagram = draw_diagram(program)
    assert sum(int(hi).bit_length() + 1 for hi in program.hi) > 64
    ones = [np.array([1] * (most + 1), dtype=object) for most in diagram.most.tolist()]
    assert total_weight(diagram, ones) == count_by_dictionary(program)[0] > 1


def test_contradictory_counts_have_no_dataset() -> None:
    program = build_program(brute.clique(3), 100)
    twice = replace(
        program, A=np.concatenate([program.A, program.A[:1]]), lo=np.append(program.lo, 1), hi=np.append(program.hi, 1)
    )
    with pytest.raises(ReleaseError, match="no dataset fits"):
        count_release(twice)


def test_a_budget_that_is_too_small_is_said() -> None:
    program = build_program(brute.some_graph(Random(1)), 1000)
    with pytest.raises(TooManyStates, match="more than 2 states"):
        draw_diagram(program, Budget(2, 100, 10.0))
    for wrong in [(0, 10, 1.0), (10, 0, 1.0), (10, 10, 0.0)]:
        with pytest.raises(GenverifyError, match="counts nothing"):
            Budget(*wrong)


@pytest.mark.parametrize("limit", [500, 5_000, 50_000])
def test_memory_is_bounded_by_the_budget(limit: int) -> None:
    """Rows that each count many classes: the diagram grows until the budget stops it; the memory stays below its bound."""
    rng = np.random.default_rng(3)
    A = (rng.random((14, 90)) < 0.3).astype(np.int32)
    A[0] = 1
    z = np.bincount(rng.integers(0, 90, 12), minlength=90)
    program = replace(build_program(brute.clique(3), 100), A=A, lo=A @ z, hi=A @ z)
    budget = Budget(limit, 20 * limit, 60.0)
    tracemalloc.start()
    with pytest.raises(TooManyStates):
        draw_diagram(program, budget)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    least = 2**20  # what does not grow with the budget
    assert limit * 20 < peak < least + budget.states * BYTES_PER_STATE + budget.moves * BYTES_PER_MOVE


def test_a_prior_without_a_record_that_must_exist_is_refused() -> None:
    release = brute.clique(3)
    counted = count_release(build_program(release, 100))
    nobody = Prior("empty", release.schema.domain, np.array([[1, 1]], dtype=np.int16), np.ones(1), 0.0)
    with pytest.raises(UnlikelyRelease, match="prior empty gives probability 0 to the release"):
        counted.posterior(nobody)


def test_priors_about_something_else_are_refused() -> None:
    release, other = brute.clique(3), brute.some_release(Random(3))
    domain, counted = release.schema.domain, count_release(build_program(release, 100))
    for wrong in (other.schema.domain, domain.restrict({"A": [0, 1]})):
        with pytest.raises(DataError, match="a prior needs the columns and codes of the release"):
            counted.posterior(uniform(wrong))
    with pytest.raises(DataError, match="column B has no code 7"):
        Prior("wrong", domain, np.array([[1, 7]], dtype=np.int16), np.ones(1), 0.0)
    with pytest.raises(DataError, match="from 0 on"):
        Prior("wrong", domain, np.array([[1, 1]], dtype=np.int16), -np.ones(1), 1.0)
    with pytest.raises(DataError, match="no record has a weight above 0"):
        Prior("wrong", domain, np.array([[1, 1]], dtype=np.int16), np.zeros(1), 0.0)


def test_states_that_differ_in_high_bits_only_have_keys_of_their_own() -> None:
    """A release of suppressed counts was refused: the top bits of two words cancelled in the key of a state."""
    drawing: Any = object.__new__(diagram._Drawing)
    drawing.fields = SimpleNamespace(words=3)
    drawing.weights = np.random.default_rng(3).integers(1, 2**63, size=3, dtype=np.uint64) | np.uint64(1)
    low = np.random.default_rng(1).integers(0, 2**40, size=3, dtype=np.uint64)
    top = [low + np.array(bits, dtype=np.uint64) * np.uint64(2**60) for bits in itertools.product(range(16), repeat=3)]
    assert len(np.unique(drawing._keys(np.stack(top)))) == 16**3


def test_states_that_differ_in_the_last_bits_of_two_words_have_different_keys() -> None:
    """As with all two-way tables of thirty people and six columns of three values: the multiples of these two cancelled."""
    system = System(np.ones((68, 1), dtype=np.int64), *(np.full(68, ends, dtype=np.int64) for ends in (0, 3)))
    drawing = _Drawing(system, 10, BUDGET, 0.0)
    words = np.zeros((2, drawing.fields.words), dtype=np.uint64)
    words[1, :2] = 2**61
    drawing.weights[:2] = 789974133212406141, 2184191404571879931
    assert len(set(drawing._keys(words).tolist())) == 2
