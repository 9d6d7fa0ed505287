"""The person domain and the person tables: sets of races, age bands, counts by hand, and how many lines there are."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from genverify.model.domain import DomainFile, Predicate, parse_domain, read_domain
from genverify.model.errors import DataError
from genverify.model.query import build_queries, published_lines, read_vocabulary
from genverify.model.release import Schema, build_schema, merge_codes
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate
from studies.raprank.tables import person_queries, person_queries_text

# sex, age, origin, race; 9 is White and Asian
PEOPLE = [(1, 30, 1, 1), (2, 28, 1, 9), (2, 4, 2, 9), (1, 85, 1, 2), (2, 17, 2, 6)]


@pytest.fixture(scope="module")
def persons(root: Path) -> DomainFile:
    return read_domain(root / "data" / "census" / "persons.yaml")


@pytest.fixture(scope="module")
def tables(root: Path) -> dict[str, Any]:
    text: dict[str, Any] = yaml.safe_load((root / "data" / "census" / "person_tables.yaml").read_text())
    return text


def schema_of(persons: DomainFile, tables: dict[str, Any], chosen: list[str]) -> Schema:
    settings = ReleaseSettings(
        tables_file="", universe="everything", tables=chosen, groups={}, structural_zeros=False, withhold=[]
    )
    return build_schema(persons, tables, settings)


@pytest.fixture(scope="module")
def counted(persons: DomainFile, tables: dict[str, Any]) -> dict[str, int]:
    """The counts of the five people by line, of both levels, every line for itself."""
    lines = list(published_lines(tables, persons, persons.universe("everything")))
    columns = dict(zip(persons.domain.names, np.array(PEOPLE).T, strict=True))
    found = tabulate(columns, np.array([0]), persons.domain, lines)[0]
    return {line.id: int(count) for line, count in zip(lines, found, strict=True)}


def test_the_domain_of_a_person(persons: DomainFile) -> None:
    domain = persons.domain
    assert [(c.name, len(c.codes)) for c in domain.columns] == [("QSEX", 2), ("QAGE", 116), ("CENHISP", 2), ("CENRACE", 63)]
    assert domain["QAGE"].meaning[115] == "115 years"
    race = domain["CENRACE"]
    assert race.set_of[6] == ("other",)
    assert race.set_of[7] == ("white", "black")
    assert race.set_of[12] == ("black", "aian")
    assert race.set_of[22] == ("white", "black", "aian")
    assert race.meaning[9] == "White; Asian"
    assert len(race.set_of[63]) == 6
    assert [sum(len(words) == n for words in race.sets) for n in range(1, 7)] == [6, 15, 20, 15, 6, 1]
    assert race.restrict([1, 9]).set_of == {1: ("white",), 9: ("white", "asian")}
    assert not persons.rules


def test_a_column_says_its_codes_in_one_way() -> None:
    with pytest.raises(DataError, match="column X: give codes, range or subsets_of, one of the three, not codes and range"):
        parse_domain({"columns": {"X": {"codes": {1: "one"}, "range": [0, 1]}}})
    with pytest.raises(DataError, match="not none"):
        parse_domain({"columns": {"X": {"label": "nothing"}}})


def test_lines_by_k_are_those_of_the_specification(persons: DomainFile, tables: dict[str, Any]) -> None:
    """27 / 375 / 2,100 / 1,282 are published lines; the total of P12 repeats P1, so 2 of the 3 totals are distinct."""
    universe = persons.universe("everything")
    lines = list(published_lines(tables, persons, universe))
    assert Counter(len(line.predicate.columns) for line in lines) == {0: 3, 1: 27, 2: 375, 3: 2100, 4: 1282}
    assert len({line.id for line in lines}) == len(lines) == 3787
    per_table = Counter(line.table for line in lines)
    assert [per_table[name] for name in ("P1", "P6", "P7", "P9", "P11", "P12", "P12I", "PCT12", "PCT12N")] == [
        1, 6, 12, 70, 73, 49, 49, 209, 209,
    ]  # fmt: skip
    assert len([name for name in per_table if name.startswith("P12")]) == 10
    assert len([name for name in per_table if name.startswith("PCT12")]) == 15


def test_levels_are_chosen_by_name_pattern_or_level(persons: DomainFile, tables: dict[str, Any]) -> None:
    universe = persons.universe("everything")
    block = build_queries(tables, persons, universe, ["level=block"])
    assert len(block) == 648
    assert block == build_queries(tables, persons, universe, ["P1", "P6", "P7", "P9", "P11", "P12*"])
    assert build_queries(tables, persons, universe, ["level=tract"]) == build_queries(tables, persons, universe, ["PCT12*"])
    with pytest.raises(DataError, match=r"unknown table 'level=tracts': did you mean level=tract\?"):
        build_queries(tables, persons, universe, ["level=tracts"])


def test_counts_by_hand(counted: dict[str, int]) -> None:
    assert counted["P1.total"] == counted["P12.total"] == counted["PCT12.total"] == 5
    assert [counted[f"P6.any-{race}"] for race in ("white", "black", "aian", "asian", "nhpi", "other")] == [3, 1, 0, 2, 0, 1]
    assert counted["P7.hispanic.any-asian"] == counted["P7.not-hispanic.any-asian"] == 1
    assert counted["P9.not-hispanic.one-race"] == 2
    assert counted["P9.not-hispanic.two-or-more"] == counted["P9.not-hispanic.white+asian"] == 1
    assert counted["P9.not-hispanic.other"] == 0
    assert counted["P11.adult"] == counted["P11.adult.not-hispanic"] == 3
    assert counted["P11.adult.hispanic"] == 0
    assert counted["P11.adult.not-hispanic.white+asian"] == 1
    assert counted["P12.female.15-17"] == counted["P12F.female.15-17"] == counted["P12H.female.15-17"] == 1
    assert counted["P12G.female"] == 2
    assert counted["P12B.male.85-over"] == counted["PCT12J.male.85"] == 1
    assert counted["P12I.total"] == counted["P12I.male.30-34"] == 1
    assert counted["PCT12.female.4"] == 1
    assert counted["PCT12.male.100-104"] == 0


def test_lines_add_up(counted: dict[str, int]) -> None:
    p9 = {line: count for line, count in counted.items() if line.startswith("P9.")}
    sets = [count for line, count in p9.items() if "+" in line or line.split(".")[-1] in ("white", "black", "other", "aian")]
    sets += [p9["P9.not-hispanic.asian"], p9["P9.not-hispanic.nhpi"]]
    assert len(sets) == 63
    assert sum(sets) == p9["P9.not-hispanic.one-race"] + p9["P9.not-hispanic.two-or-more"]
    assert sum(sets) + counted["P12H.total"] == counted["P1.total"]
    exactly = [p9[f"P9.not-hispanic.{n}-races"] for n in ("two", "three", "four", "five", "six")]
    assert sum(exactly) == p9["P9.not-hispanic.two-or-more"]
    for table in ("P12", *(f"P12{letter}" for letter in "ABCDEFGHI"), "PCT12", "PCT12I"):
        ages = [count for line, count in counted.items() if line.startswith(f"{table}.") and line.count(".") == 2]
        assert len(ages) == (206 if table.startswith("PCT") else 46)
        assert sum(ages) == counted[f"{table}.total"] == counted[f"{table}.male"] + counted[f"{table}.female"]
    assert sum(counted[f"P12{letter}.total"] for letter in "ABCDEFG") == 5


def test_the_table_of_queries_prints_the_paper_beside_ours(root: Path, persons: DomainFile, tables: dict[str, Any]) -> None:
    universe = persons.universe("everything")
    paper = yaml.safe_load((root / "data" / "papers" / "rap_rank.yaml").read_text())["queries"]
    lines = {level: list(published_lines(tables, persons, universe, [f"level={level}"])) for level in ("block", "tract")}
    table = person_queries(lines, paper).set_index("k")
    assert table["lines"].tolist() == [3, 27, 375, 2100, 1282, 3787]
    assert table["paper"].tolist() == [2, 27, 352, 1915, 1259, 3555]
    assert table["not_in_paper"]["2"] == "the 23 female age bands of P12"
    assert table["block_distinct"].tolist() == [1, 17, 145, 439, 46, 648]
    assert "| 4 | 1,282 | 1,259 |" in person_queries_text(table.reset_index())
    fewer = person_queries({"block": lines["block"]}, paper).set_index("k")
    assert fewer["not_in_paper"]["2"] == "other tables are chosen than the paper's"


ODD = {"lists": {"odd": ["nobody"]}, "tables": {"X": {"title": "X", "cross": ["odd"]}}}
BANDS = {"bands": {"b": {"column": "QAGE", "starts": [0, 5], "unit": "y"}}}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown word in a list": (ODD, "unknown list 'nobody'"),
    "a list that names itself": (
        {**ODD, "lists": {"odd": ["even"], "even": ["odd"]}},
        "list 'odd' names itself: odd > even > odd",
    ),
    "sets of a column without sets": (
        {"sets": {"odd": {"column": "QSEX", "size": 1, "label": "{}"}}},
        "column QSEX has no sets",
    ),
    "a group twice": (
        {"groups": {"0-4": {"QAGE": [1], "label": "x"}}, **BANDS},
        "bands b: the group 0-4 is there already, with other codes",
    ),
    "two columns": ({"groups": {"x": {"QSEX": [1], "QAGE": [1], "label": "x"}}}, "group x: give exactly one column"),
    "age 116": ({"groups": {"x": {"QAGE": "18-116", "label": "x"}}}, "group x: column QAGE has no code 116"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_table_file_is_explained(persons: DomainFile, case: str) -> None:
    text, message = WRONG[case]
    whole: dict[str, Any] = {"groups": {}, "tables": {}, **text}
    with pytest.raises(DataError) as caught:
        build_queries(whole, persons, persons.universe("everything"))
    assert message in str(caught.value)


def test_age_in_the_bands_of_p12(persons: DomainFile, tables: dict[str, Any]) -> None:
    schema = schema_of(persons, tables, ["level=block"])
    vocabulary = read_vocabulary(tables, persons.domain, {})
    bands = [vocabulary.groups[name] for name in vocabulary.listed("ages")]
    coarse, merged = merge_codes(schema, "QAGE", bands)
    assert len(bands) == len(coarse.domain["QAGE"].codes) == 23
    assert coarse.domain.size == 2 * 23 * 2 * 63
    assert merged[[0, 4, 5, 20, 21, 84, 85, 115]].tolist() == [1, 1, 2, 6, 7, 22, 23, 23]
    assert coarse.domain["QAGE"].meaning[23] == "85 years and over"
    adult = coarse.queries[coarse.position["P11.adult"]].predicate
    assert adult == Predicate.of({"QAGE": range(5, 24)})
    fine = dict(zip(schema.domain.names, np.array(PEOPLE).T, strict=True))
    before = tabulate(fine, np.array([0]), schema.domain, schema.queries)
    after = tabulate({**fine, "QAGE": merged[fine["QAGE"]]}, np.array([0]), coarse.domain, coarse.queries)
    assert (before == after).all()


def test_codes_that_are_told_apart_cannot_be_merged(persons: DomainFile, tables: dict[str, Any]) -> None:
    vocabulary = read_vocabulary(tables, persons.domain, {})
    bands = [vocabulary.groups[name] for name in vocabulary.listed("ages")]
    with pytest.raises(DataError, match=r"PCT12.male.0 distinguishes codes of QAGE that are merged"):
        merge_codes(schema_of(persons, tables, ["PCT12"]), "QAGE", bands)
    block = schema_of(persons, tables, ["P12"])
    with pytest.raises(DataError, match="no group holds the code 0 of QAGE"):
        merge_codes(block, "QAGE", bands[1:])
    with pytest.raises(DataError, match="shares a code with another group"):
        merge_codes(block, "QAGE", [*bands, bands[0]])
