"""Swapping: what it keeps, whom it moves, and how far; against a plain search for the five nearest."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genverify.model.arrays import Ints
from genverify.model.errors import ConfigError, DataError
from studies.country.swapping import (
    FOOTNOTE_6,
    Records,
    Stratum,
    _Neighbours,
    chances,
    combined,
    rarity,
    risk_order,
    swap,
    swap_areas,
)

quick = settings(max_examples=60, deadline=None, derandomize=True)


def country(n: int, seed: int, per_block: int = 20) -> Records:
    """Households of skewed sizes in blocks of differing population; blocks are numbered with gaps, as ids are."""
    rng = np.random.default_rng(seed)
    block = np.sort((n // per_block * rng.random(n) ** 1.5).astype(np.int64)) * 7 + 10**14
    size = np.minimum(rng.geometric(0.4, n), 9)
    children = rng.integers(0, size)
    race = np.minimum(rng.geometric(0.5, n), 14)
    return Records(block, block // 70, np.c_[size, size - children], np.c_[size, children, race], size)


def moved(source: Ints) -> Ints:
    return np.flatnonzero(source != np.arange(len(source)))


@quick
@given(st.integers(2, 300), st.floats(0, 1), st.integers(0, 10**6))
def test_swapping_keeps_keys_per_block_and_every_record(n: int, rate: float, seed: int) -> None:
    records = country(n, seed, per_block=5)
    source = swap(records, rate, np.random.default_rng(seed))
    assert (source[source] == np.arange(n)).all()
    assert (records.key[source] == records.key).all()
    assert (records.block[source] != records.block)[moved(source)].all()
    assert len(moved(source)) <= rate * n + 2
    for column in (records.key, records.attributes):
        assert Counter(map(tuple, column[source])) == Counter(map(tuple, column))


def test_per_block_the_multiset_of_keys_stays_but_other_attributes_move() -> None:
    records = country(4000, 1)
    source = swap(records, 0.3, np.random.default_rng(2))

    def per_block(columns: Ints) -> Counter[tuple[int, ...]]:
        return Counter((int(block), *map(int, row)) for block, row in zip(records.block, columns, strict=True))

    assert per_block(records.key) == per_block(records.key[source])
    assert per_block(records.attributes) != per_block(records.attributes[source])


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5])
def test_the_share_that_moved_is_the_rate(rate: float) -> None:
    source = swap(country(20_000, 3), rate, np.random.default_rng(4))
    assert abs(len(moved(source)) - rate * 20_000) <= 2


def test_a_fraction_of_a_pair_is_met_in_expectation() -> None:
    records = country(30, 5, per_block=3)
    shares = [len(moved(swap(records, 0.1, np.random.default_rng(seed)))) / 30 for seed in range(1000)]
    assert set(shares) == {2 / 30, 4 / 30}
    assert abs(np.mean(shares) - 0.1) < 0.005


def test_rate_zero_moves_nobody_and_rate_one_nearly_all() -> None:
    records = country(5000, 6)
    assert not len(moved(swap(records, 0.0, np.random.default_rng(1))))
    assert len(moved(swap(records, 1.0, np.random.default_rng(1)))) > 0.95 * 5000


@pytest.mark.parametrize("rate", [1.5, -0.1, float("nan")])
def test_a_rate_that_is_no_share_is_refused(rate: float) -> None:
    with pytest.raises(ConfigError, match=rf"swap rate {rate}: .* give a number from 0 to 1"):
        swap(country(10, 1), rate, np.random.default_rng(1))
    with pytest.raises(ConfigError, match="swap rate"):
        swap_areas(np.ones(10, dtype=np.int64), country(10, 1), rate, 1)


def test_the_same_seed_repeats_and_another_does_not() -> None:
    records = country(2000, 7)
    first, again, other = (swap(records, 0.1, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_strata_are_swapped_in_the_stated_proportions() -> None:
    """Each stratum has a key of its own, so that partners come from it as well, and its own population of blocks."""
    sizes = np.array([50, 1950, 3000, 5000])
    n = int(sizes.sum())
    stratum = np.repeat(range(4), sizes)
    same = np.zeros(n, dtype=np.int64)
    records = Records(np.arange(n) // 10, same, stratum, same, 1 + stratum)
    counts = np.zeros(4)
    for seed in range(150):
        counts += np.bincount(stratum[moved(swap(records, 0.02, np.random.default_rng(seed)))], minlength=4)
    assert counts.sum() == 150 * 0.02 * n
    assert counts / sizes / counts.sum() * n * 0.262 == pytest.approx([1, 0.6, 0.3, 0.1], rel=0.07)


def test_chances_follow_the_order_of_risk() -> None:
    records = country(2000, 8)
    order = risk_order(records, np.random.default_rng(0))
    assert chances(order)[order].tolist() == [1.0] * 10 + [0.6] * 390 + [0.3] * 600 + [0.1] * 1000


def test_rare_records_of_small_blocks_come_first() -> None:
    tract = np.zeros(7, dtype=np.int64)
    block = np.array([0, 1, 1, 1, 2, 2, 2])
    attributes = np.array([1, 2, 2, 3, 3, 3, 4])
    records = Records(block, tract, tract, attributes, np.array([1, 1, 1, 1, 5, 5, 5]))
    assert rarity(tract, attributes).tolist() == [1, 2, 2, 3, 3, 3, 1]
    order = risk_order(records, np.random.default_rng(0)).tolist()
    assert order[0] == 0
    assert set(order[-2:]) == {4, 5}


def test_rarity_looks_at_the_tract_only() -> None:
    assert rarity(np.array([1, 2, 2]), np.array([[4, 4], [4, 4], [4, 4]])).tolist() == [1, 2, 2]
    assert rarity(np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)).tolist() == []


@quick
@given(st.integers(2, 80), st.integers(0, 10**6))
def test_the_five_nearest_are_those_of_a_plain_search(n: int, seed: int) -> None:
    records = country(n, seed, per_block=4)
    rng = np.random.default_rng(seed)
    open_ = _Neighbours(records, rng)
    rank, key = combined(records.block), combined(records.key)
    gone = set(rng.permutation(n)[: n // 3].tolist())
    for record in gone:
        open_.remove(open_.place[record])
    for record in set(range(n)) - gone:
        found = [int(open_.order[place]) for place in open_.nearest(open_.place[record], seed % 2 == 0)]
        fit = [o for o in range(n) if o not in gone and key[o] == key[record] and rank[o] != rank[record]]
        gaps = sorted(abs(int(rank[o] - rank[record])) for o in fit)[:5]
        assert set(found) <= set(fit)
        assert len(set(found)) == len(found)
        assert sorted(abs(int(rank[o] - rank[record])) for o in found) == gaps


def test_each_of_the_five_nearest_is_as_likely_as_the_others() -> None:
    n = 41
    same = np.zeros(n, dtype=np.int64)
    # the record in the middle is the only rare one of a small block, so it is chosen first whenever u allows
    strata = (Stratum(24, 100), Stratum(976, 1))
    records = Records(np.arange(n), same, same, np.eye(n, dtype=np.int64)[20], 10 - 9 * np.eye(n, dtype=np.int64)[20])
    partners = Counter(int(swap(records, 0.05, np.random.default_rng(seed), strata)[20]) for seed in range(2000))
    near = [partners[place] for place in (18, 19, 21, 22)]
    far = [partners[place] for place in (17, 23)]
    assert max(near) < 1.3 * min(near)
    assert sum(far) == pytest.approx(np.mean(near), rel=0.2)  # equally near: each stands in for the fifth half of the time


def test_areas_are_swapped_on_their_own() -> None:
    first, second = country(500, 9), country(300, 10)
    both = Records(*(np.concatenate(pair) for pair in zip(vars(first).values(), vars(second).values(), strict=True)))
    area = np.repeat([1, 2], [500, 300])
    source = swap_areas(area, both, 0.2, seed=5)
    alone = swap_areas(area[500:], second, 0.2, seed=5)
    assert (source[:500] < 500).all()
    assert (source[500:] - 500 == alone).all()
    shuffled = np.random.default_rng(1).permutation(800)
    mixed = swap_areas(area[shuffled], both.of(shuffled), 0.2, seed=5)
    assert (mixed[mixed] == np.arange(800)).all()
    assert ((shuffled < 500) == (shuffled[mixed] < 500)).all()
    assert swap_areas(area[:0], both.of(area[:0]), 0.2, seed=5).tolist() == []


def test_no_partner_means_no_swap() -> None:
    alone = np.arange(6)
    same = np.zeros(6, dtype=np.int64)
    assert swap(Records(alone, same, alone, alone, alone), 1.0, np.random.default_rng(1)).tolist() == list(range(6))
    assert swap(Records(same, same, same, same, same), 1.0, np.random.default_rng(1)).tolist() == list(range(6))


def test_columns_of_differing_length_and_wrong_strata_are_refused() -> None:
    column = np.arange(3)
    with pytest.raises(DataError, match=r"one entry per record .*'tract': 2"):
        Records(column, column[:2], column, column, column)
    with pytest.raises(ConfigError, match="must add up to 1000 thousandths"):
        chances(column, (Stratum(500, 100),))
    assert sum(one.thousandths for one in FOOTNOTE_6) == 1000
