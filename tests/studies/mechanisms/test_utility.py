"""The utility of data against matrices written out and noise drawn, the dial of footnote 57, and a toy population."""

from fractions import Fraction
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genverify.model.domain import Column, Domain, Predicate
from genverify.model.errors import ConfigError
from genverify.model.query import Query
from query_matrix import query_matrix
from studies.mechanisms.figures import dial_table
from studies.mechanisms.matrix_mechanism import Workload, _workload_strategies, noise_variance
from studies.mechanisms.randomized_response import PrivacyError, asking_probability, one_sided_losses
from studies.mechanisms.settings import DataUtility, Dial, Semantics
from studies.mechanisms.utility import (
    Cara,
    Population,
    Quadratic,
    Utility,
    _read_population,
    approximate,
    compare_utilities,
    geometric,
    greatest_factor,
    line,
    pairs,
    persons,
    semantics_table,
    tied,
    weights,
)

DOMAIN = Domain((Column("A", "", (0, 1, 2), ("",) * 3), Column("B", "", (0, 1), ("",) * 2)))
QUERIES = [
    Query("T.0", "T", "", Predicate.of({"A": [0]})),
    Query("T.1", "T", "", Predicate.of({"A": [1, 2]})),
    Query("S.0", "S", "", Predicate.of({"A": [0], "B": [0]})),
    Query("S.1", "S", "", Predicate.of({"B": [0, 1]})),
]
WORKLOAD = Workload(DOMAIN, tuple(query.predicate for query in QUERIES))
BLOCKS = np.array([[3, 1, 2, 4], [0, 5, 0, 5], [2, 2, 1, 4]], dtype=float)
TOLD = {"everything": ["*"], "only S": ["S"]}


def people() -> tuple[list, float]:
    return persons(WORKLOAD, QUERIES, BLOCKS, TOLD, value=1.0)


def test_a_stake_is_what_the_matrices_say() -> None:
    Q = query_matrix(DOMAIN, WORKLOAD.queries).astype(float)
    through = Q @ np.linalg.pinv(Q)
    delta = np.abs(Q).sum(axis=0).max()
    found, whole = people()
    assert whole == pytest.approx(delta**2 * np.linalg.norm(through) ** 2)
    for person, tables in zip(found, TOLD.values(), strict=True):
        stake = weights(QUERIES, tables, 1.0)
        assert person.noise == pytest.approx(delta * stake @ through)
        assert person.wealths == pytest.approx(BLOCKS @ stake)
        assert person.share == pytest.approx(np.linalg.norm(stake @ through) ** 2 / np.linalg.norm(through) ** 2)


def test_accuracy_is_that_of_the_matrix_mechanism() -> None:
    _, whole = people()
    assert -noise_variance(2.0) * whole == pytest.approx(_workload_strategies(WORKLOAD)[0].accuracy(2.0))


@pytest.mark.parametrize("utility", [Quadratic(0.3), Cara(0.2)])
def test_the_second_derivative_is_right_and_below_zero(utility: Utility) -> None:
    w, h = np.linspace(-3, 5, 9), 1e-4
    bend = (utility.value(w + h) - 2 * utility.value(w) + utility.value(w - h)) / h**2
    assert utility.bend(w) == pytest.approx(bend, rel=1e-4)
    assert (utility.bend(w) < 0).all()


def test_the_line_the_formula_and_noise_that_is_drawn_agree() -> None:
    found, whole = people()
    utilities: dict[str, Utility] = {"quadratic": Quadratic(0.05), "cara": Cara(0.05)}
    rows = compare_utilities(found, whole, utilities, [2.0, 4.0, 8.0], 20_000, np.random.default_rng(3))
    assert rows["line"].to_numpy() == pytest.approx(rows["formula"].to_numpy())
    assert rows["off_exact"].abs().max() < 4
    quadratic = rows[rows["utility"] == "quadratic"]
    assert quadratic["formula"].to_numpy() == pytest.approx(quadratic["exact"].to_numpy())
    cara = rows[rows["utility"] == "cara"]
    assert (cara["formula_less_exact"] > 0).all(), "what the series leaves out is a loss"
    assert (cara.groupby("person")["formula_less_exact"].diff().dropna() < 0).all(), "and the less, the less noise"


def test_b_is_above_zero_so_that_accuracy_is_worth_something() -> None:
    for person in people()[0]:
        a, b = line(person, Cara(0.1))
        assert b > 0
        assert a > approximate(person, Cara(0.1), 1.0)


def test_noise_too_large_for_its_utility_costs_everything() -> None:
    assert Cara(1.0).exact(np.array([1.0]), np.array([1.0])) == -inf


@pytest.mark.parametrize("utility", [Quadratic, Cara])
@pytest.mark.parametrize("curvature", [0.0, -0.5])
def test_a_utility_that_is_not_concave_is_refused(utility: type[Utility], curvature: float) -> None:
    with pytest.raises(PrivacyError, match=r"not strictly concave: noise would cost nothing .* curvature above 0"):
        utility(curvature)


def test_settings_refuse_it_as_well() -> None:
    text = {"persons": TOLD, "value": 1.0, "curvatures": {"cara": -0.1}, "epsilons": [1.0], "simulations": 10}
    with pytest.raises((ValueError, ConfigError), match="not a strictly concave utility; give a curvature above 0"):
        DataUtility(**text)


def test_a_stake_in_no_table_is_named() -> None:
    with pytest.raises(PrivacyError, match="no table of the release is called X9"):
        weights(QUERIES, ["X9"], 1.0)


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_the_greater_guarantee_is_the_privacy_loss_and_the_dial_trades_them(rho: float, mu: float) -> None:
    yes, no = one_sided_losses(rho, mu)
    assert asking_probability(max(yes, no), mu) == pytest.approx(rho)
    assert one_sided_losses(rho, 1 - mu) == pytest.approx((no, yes))


def test_at_its_ends_the_dial_gives_one_side_away() -> None:
    assert one_sided_losses(0.5, 1.0) == (pytest.approx(log(2)), inf)
    assert one_sided_losses(0.5, 0.0) == (inf, pytest.approx(log(2)))
    rows = dial_table(Dial(rhos=[0.5], pi=0.1, population=100))
    assert (rows["yes"].diff().dropna() < 0).all()
    assert (rows["no"].diff().dropna() > 0).all()
    assert rows.loc[rows["epsilon"].idxmin(), "mu"] == 0.5


fractions = st.integers(1, 6).map(lambda n: Fraction(n, 7))


@st.composite
def populations(draw: st.DrawFn) -> Population:
    size = draw(st.integers(1, 3))
    records = []
    for _ in range(size):
        raw = [draw(st.integers(0, 4)) for _ in range(2)] + [1]
        records.append(tuple(Fraction(one, sum(raw)) for one in raw))
    return Population(tuple(draw(fractions) for _ in range(size)), tuple(records))


@given(populations(), fractions)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_no_pair_of_hypotheses_moves_more_than_epsilon_allows(population: Population, alpha: Fraction) -> None:
    law = population.law()
    assert sum(law.values()) == 1
    for person, record in pairs(law):
        factor = greatest_factor(law, person, record, geometric(alpha))
        assert factor is None or factor <= 1 / alpha


def test_people_who_come_together_move_it_further() -> None:
    half = Fraction(1, 2)
    population = Population((half, half), ((half, half), (half, half)))
    assert greatest_factor(population.law(), 0, 0, geometric(half)) == 2
    assert sum(tied(population).values()) == 1
    assert greatest_factor(tied(population), 0, 0, geometric(half)) == 4


def test_the_table_of_pairs_says_where_the_bound_holds() -> None:
    text = Semantics(included=["1/2", "1/3"], records=[["1/2", "1/2"], ["1/4", "3/4"]], alpha="1/2")
    table = semantics_table(text)
    assert table.groupby("people")["within"].all().to_dict() == {"apart (D-13)": True, "tied": False}
    assert set(table["epsilon"].round(6)) == {round(log(2), 6)}
    assert table["log"].max() == pytest.approx(log(4))
    assert exp(table.loc[table["people"] == "apart (D-13)", "log"].max()) == pytest.approx(2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": "2"}, r"alpha is 2: exp\(-epsilon\) lies between 0 and 1"),
        ({"alpha": "much"}, "write probabilities as fractions"),
        ({"included": ["1/2"]}, "for every person, a probability"),
        ({"records": [["1/2", "1/3"], ["1/4", "3/4"]]}, "must add up to 1"),
    ],
)
def test_a_toy_population_that_makes_no_sense(change: dict, message: str) -> None:
    text = {"included": ["1/2", "1/3"], "records": [["1/2", "1/2"], ["1/4", "3/4"]], "alpha": "1/2"}
    with pytest.raises(PrivacyError, match=message):
        _read_population(Semantics(**{**text, **change}))
