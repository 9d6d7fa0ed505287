"""Confidence sets and match rates, against examples worked by hand."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genverify.model.domain import Column, Domain
from genverify.model.errors import ConfigError, DataError
from genverify.model.tabulate import tabulate
from studies.raprank.areas import ConfidenceSet, match_curve, rank_rows, unique_rows
from studies.raprank.configuration import marginal_queries

A, B, C, D, E = [1, 1], [1, 2], [2, 1], [2, 2], [3, 1]
PRIVATE = np.array([A, A, C, D])
# A six times, B four times, C three times, E once: hits are A and C
RECONSTRUCTED = np.array([A] * 6 + [B] * 4 + [C] * 3 + [E])


def match_rates(ranked: ConfidenceSet, private: np.ndarray) -> list[float]:
    """MATCH-RATE at k = 1, 2, ... as equation 1 has it: the curve at k/u for as many u as there are ranked rows."""
    u = len(ranked.rows)
    return match_curve(ranked, private, u, np.arange(1, u + 1) / u).tolist()


def test_match_rates_by_hand() -> None:
    ranked = rank_rows(RECONSTRUCTED, seed=1)
    assert ranked.rows.tolist() == [A, B, C, E]
    assert ranked.frequency.tolist() == [6, 4, 3, 1]
    assert match_rates(ranked, PRIVATE) == [1, 1 / 2, 2 / 3, 2 / 4]


def test_a_curve_by_hand() -> None:
    ranked = rank_rows(RECONSTRUCTED, seed=1)
    assert unique_rows(PRIVATE) == 3
    # k = 1, 2, 3, and 6, where the two missing rows count as misses
    assert match_curve(ranked, PRIVATE, 3, [0.1, 0.5, 1.0, 2.0]).tolist() == [1, 1 / 2, 2 / 3, 2 / 6]
    assert match_curve(ranked, PRIVATE, 10, [0.1 * 3]).tolist() == [2 / 3]


def test_u_is_that_of_the_holdout_where_it_has_fewer_rows() -> None:
    assert unique_rows(PRIVATE, np.array([A, B])) == 2
    assert unique_rows(PRIVATE, np.array([A, B, C, E])) == 3


def test_ties_are_broken_by_the_seed_and_not_by_the_order_of_the_rows() -> None:
    rows = np.array([[code] for code in range(50)])
    orders = [rank_rows(rows[::-1], seed).rows.tobytes() for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] == rank_rows(rows, 1).rows.tobytes()
    assert rank_rows(rows, 1).rows.ravel().tolist() != list(range(50))


rows_of_two = st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 1)), min_size=1, max_size=12)


@given(rows_of_two, rows_of_two, st.booleans())
def test_ranking_and_rates_against_counting(rows: list[tuple[int, int]], private: list[tuple[int, int]], wide: bool) -> None:
    far = np.array([1, 2**62 if wide else 1])  # so wide that rows do not fit into one integer
    ranked = rank_rows(np.array(rows) * far, seed=3)
    found = [tuple((row // far).tolist()) for row in ranked.rows]
    assert sorted(found) == sorted(set(rows))
    assert ranked.frequency.tolist() == sorted((rows.count(row) for row in set(rows)), reverse=True)
    assert [rows.count(row) for row in found] == ranked.frequency.tolist()
    hits = np.cumsum([row in private for row in found])
    assert match_rates(ranked, np.array(private) * far) == (hits / np.arange(1, len(found) + 1)).tolist()


def test_nothing_reconstructed_matches_nothing() -> None:
    ranked = rank_rows(np.zeros((0, 2), np.int64), seed=1)
    assert match_curve(ranked, PRIVATE, 3, [0.5, 1.0]).tolist() == [0, 0]


def test_rows_of_other_columns_and_no_private_rows_are_errors() -> None:
    ranked = rank_rows(RECONSTRUCTED, seed=1)
    with pytest.raises(DataError, match="2 and 3 columns"):
        match_rates(ranked, np.zeros((1, 3), np.int64))
    with pytest.raises(DataError, match="u = 0"):
        match_curve(ranked, PRIVATE, 0, [1.0])


def test_marginals_of_three_columns() -> None:
    domain = Domain(tuple(Column(name, name, codes, tuple(map(str, codes))) for name, codes in
                          (("X", (1, 2)), ("Y", (0, 1, 2)), ("Z", (5, 6)))))  # fmt: skip
    for ways, number in ((1, 2 + 3 + 2), (2, 6 + 4 + 6), (3, 12)):
        queries = marginal_queries(domain, ways)
        assert len(queries) == len({query.predicate for query in queries}) == len({query.id for query in queries}) == number
        assert all(len(query.predicate.clauses) == ways for query in queries)
        rng = np.random.default_rng(ways)
        records = {column.name: rng.choice(column.codes, 40) for column in domain.columns}
        tables = {query.table for query in queries}
        assert tabulate(records, np.array([0]), domain, queries).sum() == 40 * len(tables) == 40 * comb(3, ways)
    with pytest.raises(ConfigError, match="1 to 3 ways"):
        marginal_queries(domain, 4)
