"""The 621 queries, built from a compact table file."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from genverify.model.domain import DomainFile, Predicate
from genverify.model.errors import DataError
from genverify.model.query import Query, build_queries
from genverify.model.release import Schema, build_schema, read_study
from genverify.model.settings import ReleaseSettings


@pytest.fixture(scope="module")
def queries(census: DomainFile, census_tables: dict[str, Any]) -> tuple[Query, ...]:
    """As the paper reads them: occupied households, renter is TEN = 3."""
    return build_queries(census_tables, census, census.universe("occupied"))


def by_id(queries: tuple[Query, ...]) -> dict[str, Query]:
    return {query.id: query for query in queries}


def test_621_queries_with_unique_ids_that_name_table_and_line(queries: tuple[Query, ...]) -> None:
    assert len(queries) == 621
    assert len({query.id for query in queries}) == 621
    assert len({query.predicate for query in queries}) == 621
    for query in queries:
        table, _, line = query.id.partition(".")
        assert table == query.table
        assert line
        assert " " not in query.id


def test_7_10_8_2_column_sets(queries: tuple[Query, ...]) -> None:
    sets = Counter(map(len, {query.predicate.columns for query in queries}))
    assert sets == {1: 7, 2: 10, 3: 8, 4: 2}


def test_both_meanings_of_renter_give_621(census: DomainFile, census_tables: dict[str, Any]) -> None:
    for codes in ([3], [3, 4]):
        found = build_queries(census_tables, census, census.universe("occupied"), "all", {"renter": codes})
        assert len(found) == 621
        assert by_id(found)["H4.renter"].predicate == Predicate.of({"TEN": codes})
        assert by_id(found)["H13A.renter.25-34"].predicate.where["TEN"] == tuple(codes)


def test_a_query_has_id_words_and_condition(queries: tuple[Query, ...]) -> None:
    query = by_id(queries)["H13A.renter.25-34"]
    assert query.label == "renter occupied, householder 25 to 34 years, householder White alone"
    assert str(query.predicate) == "TEN=3 and THHLDRAGE=2 and THHRACE=1"
    assert str(by_id(queries)["P16U.alone"].predicate) == "HHT=4|6 and THHRACE=6 and THHSPAN=2"


def test_lines_per_table(census: DomainFile, census_tables: dict[str, Any]) -> None:
    """The leaf queries of each family, as the specification counts them (P19 with its two extra lines)."""
    expected = {
        "P16*": 115, "P19": 8, "P20": 14, "P21": 2, "H3": 2, "H5": 7, "H4*": 69, "H6": 7, "H7": 14, "H9": 7, "H10": 14,
        "H11": 4, "H12*": 140, "H13*": 180, "H14": 42, "H15": 4,
    }  # fmt: skip
    universe = census.universe("occupied")
    found = {name: len(build_queries(census_tables, census, universe, [name])) for name in expected}
    assert found == expected
    assert sum(expected.values()) == 629


def test_the_renter_lines_of_h10_and_h11_are_those_of_h4(queries: tuple[Query, ...]) -> None:
    ids = {query.id for query in queries}
    assert "H10.owner.white" in ids
    assert not any(name.startswith(("H10.renter", "H11.renter.hispanic")) for name in ids)


def test_the_list_equals_the_one_of_the_specification(root: Path, census: DomainFile, census_tables: dict[str, Any]) -> None:
    path = root.parent / "shared" / "spec" / "dhc-tables.yaml"
    if not path.is_file():
        pytest.skip("no ../shared/spec/dhc-tables.yaml beside the repository")
    specified: dict[str, set[Predicate]] = {}
    for name, table in yaml.safe_load(path.read_text())["tables"].items():
        for line in table["lines"]:
            if name != "H1" and (line["kind"] == "leaf" or (name == "P19" and line["line"] in (4, 9))):
                specified.setdefault(name, set()).add(Predicate.of(line["where"]))
    universe, published = census.universe("occupied"), {"renter": [3, 4]}
    ours = build_queries(census_tables, census, universe, "all", published)
    vacant = Predicate.of({"VACS": range(1, 8)})
    assert len(ours) == 621
    assert {query.predicate for query in ours} == set().union(*specified.values())
    for name, predicates in specified.items():
        lines = build_queries(census_tables, census, universe, [name], published)
        assert {q.predicate for q in lines} == predicates, name
    assert vacant in {query.predicate for query in ours}


def test_a_study_of_all_units_adds_the_universe_of_each_table(
    census: DomainFile, census_tables: dict[str, Any], release_settings: ReleaseSettings
) -> None:
    found = by_id(build_queries(census_tables, census, census.universe("housing_units")))
    assert str(found["P21.no-under-18"].predicate) == "TP18=0 and VACS=0"
    assert str(found["H3.vacant"].predicate) == "VACS=1|2|3|4|5|6|7"
    assert str(found["H5.sold"].predicate) == "VACS=4"
    assert all("VACS" in query.predicate.columns for query in found.values())
    schema = build_schema(census, census_tables, release_settings.but(universe="housing_units"))
    assert len(schema.queries) == 621


def test_tables_are_chosen_by_name_or_pattern(census: DomainFile, census_tables: dict[str, Any]) -> None:
    universe = census.universe("occupied")
    assert {q.table for q in build_queries(census_tables, census, universe, ["H1[23]", "P21"])} == {"H12", "H13", "P21"}
    assert {q.table for q in build_queries(census_tables, census, universe, ["P16*"])} >= {"P16", "P16A", "P16V"}
    assert build_queries(census_tables, census, universe, []) == ()


def test_a_toy_domain_has_its_own_tables(toy_schema: Schema) -> None:
    assert len(toy_schema.queries) == 16
    ids = [query.id for query in toy_schema.queries]
    assert ids[:6] == ["T1.cat", "T1.dog", "T1.fish", "T1A.cat", "T1A.dog", "T1A.fish"]
    assert ids[-1] == "T3.aged"
    assert toy_schema.queries[3].label == "owner of a cat, in a house"


def wrong(text: dict[str, Any], part: str, name: str, value: Any) -> dict[str, Any]:
    return {**text, part: {**text[part], name: value}}


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("tables", "X1", {"cross": ["tenures"], "title": "Odd"}, "table Odd: unknown list 'tenures': did you mean tenure"),
        ("tables", "X1", {"lines": ["rentr"]}, "table X1, line rentr: unknown group 'rentr': did you mean renter"),
        ("tables", "X1", {"universe": "ocupied", "lines": ["renter"]}, "unknown universe 'ocupied': did you mean occupied"),
        ("groups", "odd", {"TEN": [9]}, "group odd: column TEN has no code 9"),
        ("groups", "odd", {"TENN": [1]}, "group odd: the domain has no column 'TENN': did you mean TEN"),
        ("groups", "odd", {"TEN": [1], "TP18": [0]}, "group odd: give exactly one column with its codes, and a label"),
    ],
)
def test_a_wrong_table_file_is_explained(
    census: DomainFile, census_tables: dict[str, Any], part: str, name: str, value: Any, message: str
) -> None:
    with pytest.raises(DataError) as error:
        build_queries(wrong(census_tables, part, name, value), census, census.universe("occupied"))
    assert message in str(error.value)


def test_an_unknown_table_or_group_of_a_study_is_explained(census: DomainFile, census_tables: dict[str, Any]) -> None:
    universe = census.universe("occupied")
    with pytest.raises(DataError, match=r"release\.tables: unknown table 'P161': did you mean P16"):
        build_queries(census_tables, census, universe, ["P16", "P161"])
    with pytest.raises(DataError, match=r"release\.groups: unknown group 'renters': did you mean renter"):
        build_queries(census_tables, census, universe, "all", {"renters": [3]})
    with pytest.raises(DataError, match=r"group renter: column TEN has no code 5"):
        build_queries(census_tables, census, universe, "all", {"renter": [5]})


@pytest.mark.parametrize("content", ["groups: {}\n", "groups: {a: 3}\ntables: {}\n", "groups: {}\ntables: [P1]\n"])
def test_a_file_that_is_no_table_file_is_named(
    root: Path, tmp_path: Path, release_settings: ReleaseSettings, content: str
) -> None:
    path = tmp_path / "tables.yaml"
    path.write_text(content)
    with pytest.raises(DataError, match=r"tables\.yaml: not a table file"):
        read_study(root / "data" / "census" / "domain.yaml", release_settings.but(tables_file=str(path), groups={}))
