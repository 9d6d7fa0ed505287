"""Hierarchical noise: totals are kept, no noise gives the country back, small cases by brute force, refusals."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from genverify.model.domain import DomainFile, read_domain
from genverify.model.errors import ConfigError, DataError
from genverify.model.settings import validate
from studies.country.hierarchical import WEIGHT, Mechanism, apportion, least_squares, moved, protect_households
from studies.country.people import possible_types
from studies.country.settings import Hierarchical

ROOT = Path(__file__).parents[3]
SHARES = {"nation": 0.3, "state": 0.2, "county": 0.1, "tract": 0.1, "block": 0.3}
MARGINS: list[list[str]] = [[], ["TEN", "THHRACE"], ["HHT", "HHSIZE"]]
NO_NOISE = 1e12


def settings(rho: float = 100.0, **changes: Any) -> Hierarchical:
    text = {"rho": rho, "shares": SHARES, "margins": MARGINS, **changes}
    return validate(Hierarchical, text, "config.yaml: microdata.protection.hierarchical")


@pytest.fixture(scope="module")
def domain() -> DomainFile:
    return read_domain(ROOT / "data" / "census" / "domain.yaml")


@pytest.fixture(scope="module")
def states(domain: DomainFile) -> list[pa.Table]:
    """Two states of two counties, each of two tracts with five blocks of one to six households; a vacant unit."""
    rng, types = np.random.default_rng(3), possible_types(domain).records
    tables = []
    for state in ("01", "56"):
        places = [f"{state}00{c}00{t}100100{b}" for c, t, b in product((1, 3), (1, 2), range(5))]
        names = [name for name in places for _ in range(rng.integers(1, 7))]
        # few types, so that neighbours share some
        rows = rng.integers(0, 40, len(names)) * 1000
        columns = {
            name: types[name][rows] if name in types else np.zeros(len(rows), np.int8) for name in domain.domain.names
        }
        vacant = pa.table(
            {"block": [names[0]], **{name: pa.array([3 if name == "VACS" else 0], pa.int8()) for name in columns}}
        )
        tables.append(pa.concat_tables([pa.table({"block": names, **columns}), vacant]))
    return tables


def protect(states: list[pa.Table], domain: DomainFile, how: Hierarchical, seed: int = 1) -> list[pa.Table]:
    return list(protect_households(lambda: iter(states), how, domain, seed))


def units(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def test_without_noise_the_country_comes_back(states: list[pa.Table], domain: DomainFile) -> None:
    for private, protected in zip(states, protect(states, domain, settings(NO_NOISE)), strict=True):
        assert units(protected) == units(private)


def test_noise_changes_the_country_and_the_seed_decides_how(states: list[pa.Table], domain: DomainFile) -> None:
    once, again = (protect(states, domain, settings(20.0)) for _ in range(2))
    assert [units(table) for table in once] == [units(table) for table in again]
    assert [units(table) for table in once] != [units(table) for table in states]
    assert [units(table) for table in once] != [units(table) for table in protect(states, domain, settings(20.0), seed=2)]


@pytest.mark.parametrize("rho", [0.5, 20.0])
def test_the_nation_keeps_its_households_and_vacant_units_stay(
    states: list[pa.Table], domain: DomainFile, rho: float
) -> None:
    protected = protect(states, domain, settings(rho))
    assert sum(table.num_rows for table in protected) == sum(table.num_rows for table in states)
    for before, after in zip(states, protected, strict=True):
        assert [row for row in units(before) if 3 in row[2:3]] == [row for row in units(after) if 3 in row[2:3]]
        assert after["block"].to_pylist() == sorted(after["block"].to_pylist())
        assert set(after["block"].to_pylist()) <= set(before["block"].to_pylist())


@pytest.mark.parametrize("level", ["state", "county", "tract", "block"])
def test_children_add_up_to_their_parent(states: list[pa.Table], domain: DomainFile, level: str) -> None:
    mechanism = Mechanism(settings(2.0), domain, 1)
    _, blocks = mechanism.counts(states[0])
    parent = mechanism.nation(blocks.sum(axis=0))
    assert parent.sum() == blocks.sum()
    assert parent.min() >= 0
    shared = mechanism.split(parent, blocks, level, "a place")
    assert (shared.sum(axis=0) == parent).all()
    assert shared.data.min() > 0


def test_noise_has_the_stated_budget(domain: DomainFile) -> None:
    """Squared sensitivity 2 over twice the variance, summed over the queries of all levels, is rho."""
    mechanism = Mechanism(settings(10.0), domain, 1)
    spent = sum((1 + WEIGHT * len(MARGINS)) / variance for variance in mechanism.variances.values())
    assert spent == 10


def test_least_squares_is_the_least() -> None:
    rng = np.random.default_rng(1)
    inside = csr_array(np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0], [1, 0, 1]]))
    detail, margins = rng.integers(-3, 9, (2, 4)), rng.integers(-3, 20, (2, 3))

    def error(x: Any) -> Any:
        return ((x - detail) ** 2).sum() + WEIGHT * ((x @ inside.toarray() - margins) ** 2).sum()

    fitted = least_squares(detail, margins, inside)
    assert all(error(fitted) < error(fitted + rng.normal(0, 0.1, fitted.shape)) for _ in range(50))


def test_apportioned_numbers_are_the_nearest() -> None:
    """Against every way to write the total as whole numbers that are not negative; ties may fall either way."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        total = int(rng.integers(0, 5))
        values = rng.integers(-8, 13, (1, 3)) / 4
        ways = [way for way in product(range(total + 1), repeat=3) if sum(way) == total]
        found = apportion(values, np.array([total]))[0]
        assert tuple(found) in ways
        assert ((found - values) ** 2).sum() == pytest.approx(min(((np.array(way) - values) ** 2).sum() for way in ways))


def test_moves_never_make_the_fit_worse_and_keep_the_types() -> None:
    """Three households and two places: every way to place them is tried; a single move cannot improve what is left."""
    rng, inside = np.random.default_rng(4), csr_array(np.array([[1, 1, 0], [1, 0, 1]]))
    for _ in range(40):
        detail, margins, counts = rng.integers(-2, 4, (2, 2)), rng.integers(-2, 4, (2, 3)), np.array([[2, 1], [0, 0]])

        def error(x: Any, detail: Any = detail, margins: Any = margins) -> int:
            return int(((x - detail) ** 2).sum() + WEIGHT * ((x @ inside.toarray() - margins) ** 2).sum())

        after = moved(counts, detail, margins, inside, rng)
        assert (after.sum(axis=0) == [2, 1]).all()
        assert after.min() >= 0
        assert error(after) <= error(counts)
        ways = [np.array([[a, b], [2 - a, 1 - b]]) for a in range(3) for b in range(2)]
        near = [way for way in ways if np.abs(way - after).sum() == 2]
        assert error(after) <= min(map(error, near))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rho": 0.0}, "rho = 0.0: input should be greater than 0"),
        ({"rho": float("inf")}, "rho = inf"),
        ({"shares": {**SHARES, "block": 0.2}}, "they add up to 1"),
        ({"shares": dict.fromkeys(list(SHARES)[1:], 0.25)}, "give one for each of nation"),
        ({"shares": {**SHARES, "village": 0.0}}, "village"),
        ({"shares": {**SHARES, "nation": -0.1, "block": 0.7}}, "greater than 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=r"config\.yaml: microdata\.protection\.hierarchical") as refusal:
        settings(**changes)
    assert said in str(refusal.value)


def test_a_margin_of_an_unknown_column_is_refused(domain: DomainFile) -> None:
    with pytest.raises(ConfigError, match=r"margins: 'HHSISE': did you mean HHSIZE"):
        Mechanism(settings(margins=[["HHSISE"]]), domain, 1)


def test_a_household_that_cannot_exist_is_refused(states: list[pa.Table], domain: DomainFile) -> None:
    row = {name: value[0].as_py() for name, value in zip(states[0].column_names, states[0].columns, strict=True)}
    odd = pa.table({name: [value] for name, value in {**row, "HHSIZE": 1, "HHT": 1}.items()})
    with pytest.raises(DataError, match=f"block {row['block']}: a household that the rules of the domain exclude"):
        Mechanism(settings(), domain, 1).counts(odd)


def test_tables_are_asked_for_twice_and_no_more(states: list[pa.Table], domain: DomainFile) -> None:
    asked = []

    def draw() -> Iterator[pa.Table]:
        asked.append(1)
        return iter(states)

    assert len(list(protect_households(draw, settings(), domain, 1))) == 2
    assert len(asked) == 2
