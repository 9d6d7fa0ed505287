"""Sensitivity and the matrix mechanism: small domains against matrices written out and noise drawn, then the 621 queries."""

from functools import reduce
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from genverify.model.domain import Column, Domain, DomainFile, Predicate
from genverify.model.query import Query
from genverify.model.release import Schema, build_schema
from genverify.model.settings import ReleaseSettings
from genverify.solve.admissible import live_types
from query_matrix import query_matrix
from studies.mechanisms.matrix_mechanism import (
    NOTHING,
    Strategy,
    Workload,
    _most_named,
    _possible_records,
    _table_strategy,
    _workload_strategies,
    chain,
    compare_strategies,
    exact_rank,
    finest,
    memberships,
    noise_variance,
    query_errors,
    query_sensitivity,
    strategies,
)
from studies.mechanisms.randomized_response import PrivacyError

tiny = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def domain_of(*sizes: int) -> Domain:
    return Domain(tuple(Column(f"C{place}", "", tuple(range(size)), ("",) * size) for place, size in enumerate(sizes)))


@st.composite
def workloads(draw: Any) -> Workload:
    """Random queries on a small domain; some of them empty, some about every record, some the same."""
    domain = domain_of(*draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    query = st.fixed_dictionaries({}, optional={c.name: st.sets(st.sampled_from(c.codes)) for c in domain.columns})
    return Workload(domain, tuple(Predicate.of(where) for where in draw(st.lists(query, min_size=1, max_size=7))))


@pytest.fixture(scope="module")
def study(census: DomainFile, census_tables: dict[str, Any], release_settings: ReleaseSettings) -> Schema:
    return build_schema(census, census_tables, release_settings)


@pytest.fixture(scope="module")
def households(study: Schema) -> Workload:
    """The 621 queries on the occupied households."""
    return Workload(study.domain.restrict({"VACS": [0]}), tuple(query.predicate for query in study.queries))


@tiny
@given(workloads())
def test_sensitivity_is_the_worst_case_over_neighbours(work: Workload) -> None:
    """Every dataset of up to two records, and every record that may join it."""
    matrix = query_matrix(work.domain, work.queries)
    found = query_sensitivity(work.domain, work.queries)
    cells = range(work.domain.size)
    worst = 0.0
    for held in [(), *((k,) for k in cells), *combinations_with_replacement(cells, 2)][:80]:
        x = np.bincount(np.array(held, dtype=int), minlength=len(cells))[:, None]
        joined = x + np.eye(len(cells), dtype=int)  # a column for every record that joins
        change = (matrix @ joined - matrix @ x).astype(float)
        worst = max(worst, float(np.abs(change).sum(axis=0).max()))
    assert found.l1 == worst == np.abs(matrix).sum(axis=0).max()
    record = {name: np.array([code]) for name, code in found.record.items()}
    assert sum(bool(query.matches(record)[0]) for query in work.queries) == found.l1


@tiny
@given(workloads())
def test_sizes_overlaps_and_memberships_are_those_of_the_matrix(work: Workload) -> None:
    matrix = query_matrix(work.domain, work.queries)
    assert (memberships(work.domain, work.queries).ravel() == matrix.sum(axis=0)).all()
    assert work.sizes == matrix.sum(axis=1).tolist()
    assert (work.gram == matrix @ matrix.T).all()
    assert exact_rank(work.gram) == np.linalg.matrix_rank(matrix)


def dense(strategy: Strategy, work: Workload) -> Any:
    """The matrix A of a strategy, by what its name says and not by the code under test."""
    every = frozenset(work.codes)
    families = [frozenset(n for n, codes in query.clauses if 0 < len(codes) < len(work.domain[n].codes))
                for query in work.queries if all(codes for _, codes in query.clauses)]  # fmt: skip
    tables = {
        "identity": [every],
        "hierarchical": [frozenset(_most_named(work)[:k]) for k in range(len(every) + 1)],
        "tables": [frozenset(), *families],
        "finest": [f for f in families if not any(f < other for other in families)] or [frozenset()],
    }
    if strategy.name not in tables:
        return query_matrix(work.domain, work.queries)
    return np.vstack([marginal(work.domain, columns) for columns in dict.fromkeys(tables[strategy.name])])


def marginal(domain: Domain, columns: frozenset[str]) -> Any:
    """A full table as a matrix: one row per combination of codes of its columns."""
    rows = np.ones((1, 1))
    for column in domain.columns:
        size = len(column.codes)
        rows = np.kron(rows, np.eye(size) if column.name in columns else np.ones((1, size)))
    return rows


@tiny
@given(workloads())
def test_factors_are_those_of_the_pseudo_inverse(work: Workload) -> None:
    Q = query_matrix(work.domain, work.queries).astype(float)
    for strategy in strategies(work):
        if strategy.name == "unprojected":
            continue
        A = dense(strategy, work)
        inverse = np.linalg.pinv(A)
        assert Q @ inverse @ A == pytest.approx(Q, abs=1e-9)
        assert strategy.sensitivity == np.abs(A).sum(axis=0).max()
        rows = (Q @ inverse) ** 2
        assert strategy.factors == pytest.approx(np.abs(A).sum(axis=0).max() ** 2 * rows.sum(axis=1), abs=1e-8)
        frobenius = np.linalg.norm(Q @ inverse, "fro") ** 2
        assert strategy.accuracy(0.5) == pytest.approx(-8 * np.abs(A).sum(axis=0).max() ** 2 * frobenius, abs=1e-7)
        answers = len(A) if strategy.name != "workload" else int((A.sum(axis=1) > 0).sum())
        assert strategy.answers == answers


WORK = Workload(
    domain_of(3, 2, 4),
    tuple(
        map(Predicate.of, [{"C0": [0]}, {"C0": [1, 2], "C1": [0]}, {"C1": [1]}, {"C2": [1, 3]}, {"C1": [0], "C2": [2]}, {}])
    ),
)


@pytest.mark.parametrize("strategy", strategies(WORK)[:-1], ids=lambda strategy: strategy.name)
def test_the_mechanism_played_out_has_these_errors(strategy: Strategy) -> None:
    """Laplace noise on the answers of A, the workload derived from them: unbiased, with the variance of E-27."""
    rng, epsilon, times = np.random.default_rng(11), 0.7, 30_000
    x = rng.integers(0, 9, WORK.domain.size).astype(float)
    Q, A = query_matrix(WORK.domain, WORK.queries).astype(float), dense(strategy, WORK)
    noise = np.abs(A).sum(axis=0).max() * rng.laplace(scale=1 / epsilon, size=(len(A), times))
    errors = Q @ np.linalg.pinv(A) @ ((A @ x)[:, None] + noise) - (Q @ x)[:, None]
    squares = errors**2
    spread = squares.std(axis=1, ddof=1) / np.sqrt(times)
    assert (np.abs(errors.mean(axis=1)) < 4 * strategy.errors(epsilon) / np.sqrt(times)).all()
    assert (np.abs(squares.mean(axis=1) - strategy.errors(epsilon) ** 2) < 4 * spread).all()
    total = squares.sum(axis=0)
    assert abs(total.mean() + strategy.accuracy(epsilon)) < 4 * total.std(ddof=1) / np.sqrt(times)


def test_least_squares_never_adds_error() -> None:
    projected, plain = _workload_strategies(WORK)
    assert (projected.factors <= plain.factors + 1e-9).all()
    assert projected.factors.sum() == pytest.approx(projected.sensitivity**2 * exact_rank(WORK.gram))


def test_a_strategy_must_tell_apart_what_a_query_does() -> None:
    with pytest.raises(PrivacyError, match="no table of the strategy has the columns C0, C1 together"):
        _table_strategy("poor", WORK, [NOTHING, *map(frozenset, (["C0"], ["C1"], ["C2"], ["C1", "C2"]))])
    with pytest.raises(PrivacyError, match=r"\(total\)"):
        _table_strategy("empty", WORK, [])


@pytest.mark.parametrize("epsilon", [0.0, -0.1, float("inf")])
def test_a_budget_must_be_above_zero(epsilon: float) -> None:
    with pytest.raises(PrivacyError, match=f"epsilon is {epsilon}: give a privacy loss above 0"):
        noise_variance(epsilon)
    with pytest.raises(PrivacyError, match="epsilon"):
        strategies(WORK)[0].accuracy(epsilon)


def test_domains_that_are_too_large_are_refused() -> None:
    large = domain_of(1000, 1000, 1000)
    with pytest.raises(PrivacyError, match="the domain has 1000000000 records"):
        memberships(large, [])


def test_the_rank_is_exact_where_floats_are_not() -> None:
    ill = np.array([[10**9, 10**9 + 1], [10**9 - 1, 10**9]], dtype=np.int64)
    assert exact_rank(ill) == 2
    assert exact_rank(np.outer([3, 5, 7], [1, 10**8, 2])) == 1
    assert exact_rank(np.zeros((3, 3), dtype=np.int64)) == 0


def test_the_621_queries_and_the_households_that_lie_in_most(households: Workload, study: Schema) -> None:
    assert households.domain.size == 1_185_408
    types = live_types(households.domain, households.queries, [], 2_000_000)
    asked = {clause for query in households.queries for clause in query.clauses}
    clauses = {clause: types.inside(Predicate((clause,))) for clause in asked}
    counted = np.zeros(len(types), np.int8)
    for query in households.queries:
        counted += reduce(np.logical_and, (clauses[clause] for clause in query.clauses), np.ones((), bool))
    found = query_sensitivity(households.domain, households.queries)
    assert (found.least, found.l1) == (counted.min(), counted.max()) == (10, 27)
    assert int((counted * types.raw).sum()) == sum(households.sizes)


def test_impossible_households_do_not_count_where_rules_are_known(
    households: Workload, census: DomainFile, census_tables: dict[str, Any], release_settings: ReleaseSettings
) -> None:
    rules = build_schema(census, census_tables, release_settings.but(structural_zeros=True)).rules
    possible = _possible_records(households.domain, rules)
    assert possible.sum() == live_types(households.domain, [], rules, 2_000_000).raw.sum()
    found = query_sensitivity(households.domain, households.queries, rules)
    assert found.l1 == memberships(households.domain, households.queries)[possible].max() <= 27
    record = {name: np.array([code]) for name, code in found.record.items()}
    assert not any(rule.excludes(record)[0] for rule in rules)


def test_the_strategies_on_the_621_queries(households: Workload, study: Schema) -> None:
    found = {strategy.name: strategy for strategy in strategies(households)}
    assert found["identity"].factors.tolist() == households.sizes
    assert found["identity"].answers == households.domain.size
    assert found["hierarchical"].sensitivity == 1 + len(households.codes)
    assert found["workload"].factors.sum() == pytest.approx(27**2 * np.linalg.matrix_rank(households.gram.astype(float)))
    nobody = [place for place, size in enumerate(households.sizes) if not size]
    assert {study.queries[place].table for place in nobody} == {"H3", "H5"}
    for strategy in found.values():
        assert (strategy.factors[nobody] == 0).all()
        assert (np.delete(strategy.factors, nobody) > 0).all()
    finer = finest(households.families)
    assert found["finest"].sensitivity == len(finer) < len(households.families)
    assert all(any(family <= table for table in finer) for family in households.families)


def test_errors_are_told_by_privacy_loss_table_and_query() -> None:
    queries = [Query("T1.a", "T1", "", WORK.queries[0]), Query("T1A.a", "T1A", "", WORK.queries[1]),
               Query("T2.b", "T2", "", WORK.queries[2])]  # fmt: skip
    work = Workload(WORK.domain, WORK.queries[:3])
    found = strategies(work)
    errors = query_errors(found, queries, work.sizes, 2.0)
    assert errors.loc[errors["strategy"] == "identity", "error"].tolist() == np.sqrt([8 / 2, 8 / 2, 12 / 2]).tolist()
    assert errors["table"].tolist() == ["T1", "T1", "T2"] * len(found)
    numbers = compare_strategies(found, [1.0, 2.0], errors)
    whole = numbers[numbers["part"] == "epsilon"].set_index(["strategy", "epsilon"])
    assert whole.loc[("identity", 1.0), "accuracy"] == -2 * (8 + 8 + 12)
    assert whole.loc[("identity", 2.0), "error"] == pytest.approx(np.sqrt((8 + 8 + 12) / 2 / 3))
    tables = numbers[(numbers["part"] == "table") & (numbers["strategy"] == "identity")].set_index("table")
    assert tables["queries"].to_dict() == {"T1": 2, "T2": 1}
    assert tables["error"].to_dict() == pytest.approx({"T1": 2.0, "T2": np.sqrt(6)})


def test_a_gap_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.mechanisms.matrix_mechanism.exact_rank", lambda gram: 2)
    with pytest.raises(PrivacyError, match="the rank of the workload is 2, but its overlaps have no gap there"):
        _workload_strategies(WORK)


def test_a_chain_refines_column_by_column() -> None:
    assert chain(_most_named(WORK)) == [frozenset(), {"C1"}, {"C0", "C1"}, {"C0", "C1", "C2"}]
