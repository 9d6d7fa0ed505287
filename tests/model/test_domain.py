"""Domains, universes and structural rules, as data."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genverify.model.domain import DomainFile, Rule, parse_domain, read_domain
from genverify.model.errors import DataError
from genverify.model.release import build_schema
from genverify.model.settings import ReleaseSettings
from genverify.solve.admissible import live_types

PROFILE = ("HHSIZE", "HHT", "HHT2", "THHLDRAGE", "TP18", "TP65")
SMALL: dict[str, Any] = {
    "columns": {"A": {"codes": {0: "no", 1: "yes"}}, "B": {"label": "second", "codes": {1: "x", 2: "y", 3: "z"}}},
    "universes": {"some": {"keeps": {"A": [1]}, "codes": {"B": [1, 3]}, "rules": ["r"]}},
    "rules": {"r": {"if": {"A": [1]}, "one_of": [{"B": [1]}, {"B": [3]}]}},
}


def change(path: str, value: Any) -> dict[str, Any]:
    """SMALL with another value at a path such as `universes.some.keeps`."""
    first, *rest = path.split(".")

    def put(text: Any, parts: list[str]) -> Any:
        return value if not parts else {**text, parts[0]: put(text.get(parts[0], {}), parts[1:])}

    return {**SMALL, first: put(SMALL[first], rest)}


def test_the_census_has_ten_columns_with_the_sizes_of_the_paper(census: DomainFile) -> None:
    sizes = {column.name: len(column.codes) for column in census.domain.columns}
    assert sizes == {
        "TEN": 5, "VACS": 8, "HHSIZE": 8, "HHT": 8, "HHT2": 13, "THHSPAN": 3, "THHLDRAGE": 10, "THHRACE": 8,
        "TP18": 2, "TP65": 2,
    }  # fmt: skip
    occupied = census.domain.restrict(census.universe("occupied").codes)
    assert occupied.size == 1_185_408 * len(occupied["VACS"].codes)


def test_all_rules_leave_108864_occupied_types_and_7_vacant_ones(
    census: DomainFile, census_tables: dict[str, Any], release_settings: ReleaseSettings
) -> None:
    units = release_settings.but(universe="housing_units", structural_zeros=True)
    schema = build_schema(census, census_tables, units)
    types = live_types(schema.domain, [query.predicate for query in schema.queries], schema.rules, 2_000_000)
    place = {name: schema.domain.names.index(name) for name in schema.domain.names}
    vacs = np.array([atom[0] for atom in types.atoms[place["VACS"]]])[types.table[:, place["VACS"]]]
    assert types.raw[vacs == 0].sum() == 108_864
    assert types.raw[vacs > 0].sum() == 7
    occupied = types.table[vacs == 0]
    sizes = np.ones(len(occupied), dtype=np.int64)
    for name in PROFILE:
        sizes *= np.array([len(atom) for atom in types.atoms[place[name]]])[occupied[:, place[name]]]
    profiles, first = np.unique(occupied[:, [place[name] for name in PROFILE]], axis=0, return_index=True)
    assert sizes[first].sum() == 1_944
    assert len(profiles) <= 1_944


def test_without_structural_zeros_only_the_rules_of_the_universe_hold(
    census: DomainFile, census_tables: dict[str, Any], release_settings: ReleaseSettings
) -> None:
    assert build_schema(census, census_tables, release_settings).rules == ()
    units = build_schema(census, census_tables, release_settings.but(universe="housing_units"))
    assert [rule.name for rule in units.rules] == ["vacant", "not-vacant"]
    types = live_types(units.domain, [], units.rules, 2_000_000)
    assert types.raw.sum() == 1_185_408 + 7


def test_a_rule_speaks_of_records() -> None:
    rule: Rule = parse_domain(SMALL).rules["r"]
    assert rule.excludes({"A": np.array([1, 1, 0]), "B": np.array([2, 3, 2])}).tolist() == [True, False, False]


def test_restriction_keeps_the_order_and_the_meanings() -> None:
    column = parse_domain(SMALL).domain["B"].restrict([3, 1])
    assert (column.codes, column.meanings, column.label) == ((1, 3), ("x", "z"), "second")


def test_every_domain_has_the_universe_of_everything() -> None:
    everything = parse_domain({"columns": SMALL["columns"]}).universe("everything")
    assert (everything.keeps.clauses, everything.codes, everything.rules) == ((), {}, ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (change("universes.some.keeps", {"A": [7]}), "universe some: column A has no code 7"),
        (change("universes.some.keeps", {"AA": [1]}), "universe some: the domain has no column 'AA': did you mean A"),
        (change("universes.some.codes", {"B": [9]}), "column B has no code 9"),
        (change("universes.some.rules", ["rr"]), "universe some: unknown rule 'rr': did you mean r"),
        (change("rules.r.one_of", [{"C": [1]}]), "rule r: the domain has no column 'C'"),
        (change("rules.r.if", {"A": [5]}), "rule r: column A has no code 5"),
    ],
)
def test_a_domain_file_speaks_only_of_its_own_columns_and_codes(text: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as error:
        parse_domain(text)
    assert message in str(error.value)


def test_an_unknown_universe_or_column_is_named_with_the_nearest(census: DomainFile) -> None:
    with pytest.raises(DataError, match="unknown universe 'ocupied': did you mean occupied"):
        census.universe("ocupied")
    with pytest.raises(DataError, match="no column 'TENN': did you mean TEN"):
        census.domain["TENN"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read (No such file or directory); check the path in config.yaml"),
        ("columns: [", "not valid YAML"),
        ("- 1\n", "holds no settings; a mapping is expected"),
        ("rows: {}\n", "not a domain file (KeyError('columns'))"),
        ("columns: {A: {codes: [1, 2]}}\n", "not a domain file"),
    ],
)
def test_a_file_that_is_no_domain_is_named(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "domain.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DataError) as error:
        read_domain(path)
    assert str(path) in str(error.value)
    assert message in str(error.value)
