"""What is published about the blocks of properties, counted by hand, and statistics that cannot be."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from housing_condition import UNPROTECTED
from studies.housing.statistics import CENSUS, census_statistics, check, hud_statistics, join, protect, whole_percent
from studies.housing.tables import measures, simulation_table

A, B = "010010201001000", "010010201001001"
ROWS = [
    (A, 9, 4, 2, 3), (A, 1, 0, 1, 1), (A, 2, 1, 8, 1), (A, 3, 2, 3, 0), (A, 3, 0, 4, 1), (A, 1, 1, 7, 0),
    (A, 3, 1, 12, 2), (A, 5, 4, 1, 2), (A, 2, 0, 5, 1), (B, 7, 2, 14, 0),
]  # fmt: skip


@pytest.fixture(scope="module")
def published(root: Path) -> dict[str, Any]:
    return read_yaml(root / "data" / "housing" / "published.yaml")


@pytest.fixture
def households() -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=["block", "SIZE", "CHILDREN", "RACE", "BEDROOMS"])


def test_census_counts_by_hand(households: pd.DataFrame) -> None:
    found = census_statistics(households).set_index("block")
    assert list(found.columns) == CENSUS
    assert (found.dtypes == "int64").all()
    counted = {"N": 9, "P": 29, "CHILDREN": 13, "SIZE_1": 2, "SIZE_2": 2, "SIZE_3": 3, "SIZE_5": 1, "SIZE_7": 1,
               "RACE_1": 2, "RACE_2": 1, "RACE_3": 1, "RACE_4": 1, "RACE_5": 1, "RACE_7": 1, "RACE_8": 1,
               "RACE_12": 1}  # fmt: skip
    assert {name: count for name, count in found.loc[A].items() if count} == counted
    assert found.loc[B, ["N", "P", "SIZE_7", "RACE_14"]].tolist() == [1, 7, 1, 1]


def test_hud_statistics_by_hand(households: pd.DataFrame, published: dict[str, Any]) -> None:
    found = hud_statistics(households, published)
    assert found["block"].tolist() == [A]
    counted = {"HUD_N": 7, "HUD_P": 25, "HUD_UNITS": 7, "HUD_BED_1": 57, "HUD_BED_2": 29, "HUD_BED_3": 14, "HUD_BLACK": 14,
               "HUD_NATIVE": 0, "HUD_ASIAN_PACIFIC": 29, "HUD_HISPANIC": 29, "HUD_MINORITY": 71, "HUD_ONE_ADULT": 29,
               "HUD_TWO_ADULTS": 29}  # fmt: skip
    assert found.drop(columns="block").iloc[0].to_dict() == counted
    assert (found.drop(columns="block").dtypes == "int64").all()


@pytest.mark.parametrize(
    ("count", "of", "percent"), [(1, 8, 13), (1, 200, 1), (1, 201, 0), (3, 8, 38), (0, 0, 0), (7, 7, 100)]
)
def test_percentages_round_a_half_up(count: int, of: int, percent: int) -> None:
    assert whole_percent(count, of) == percent


def test_both_releases_are_joined_by_block(households: pd.DataFrame, published: dict[str, Any]) -> None:
    found = join(census_statistics(households), hud_statistics(households, published))
    assert found["block"].tolist() == [A]
    assert list(found.columns) == ["block", *CENSUS, "HUD_N", "HUD_P", "HUD_UNITS", *published["percentages"]]
    states = [households.iloc[9:], households]
    assert protect(states, UNPROTECTED, 1, published, None, 1).equals(found), "a state without a property adds nothing"


def test_nothing_to_publish_is_an_error(households: pd.DataFrame, published: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="no household lives in a property"):
        protect([households.assign(BEDROOMS=0)], UNPROTECTED, 1, published, None, 1)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("HUD_BLACK", 101, rf"block {A} \(row 1\): HUD_BLACK = 101 is not a percentage from 0 to 100\. Correct the row"),
        ("HUD_ONE_ADULT", -1, "HUD_ONE_ADULT = -1 is not a percentage"),
        ("HUD_BED_2", 31, r"HUD_BED_1 \+ HUD_BED_2 \+ HUD_BED_3 = 102 percent of units by bedrooms do not add up to 100"),
        ("HUD_BED_2", 27, "= 98 percent of units by bedrooms"),
        ("HUD_N", 10, r"HUD_N = 10 subsidized households are more than the census counts in the block \(N\)"),
        ("HUD_P", 30, r"HUD_P = 30 subsidized persons are more than the census counts in the block \(P\)"),
    ],
)
def test_statistics_that_cannot_be(
    households: pd.DataFrame, published: dict[str, Any], name: str, value: int, message: str
) -> None:
    hud = hud_statistics(households, published).assign(**{name: value})
    with pytest.raises(DataError, match=message):
        join(census_statistics(households), hud, "mine.csv")


def test_rounding_alone_is_no_mistake(households: pd.DataFrame, published: dict[str, Any]) -> None:
    found = join(census_statistics(households), hud_statistics(households, published))
    for bedrooms in ((57, 29, 15), (57, 28, 14)):
        changed = found.assign(HUD_BED_1=bedrooms[0], HUD_BED_2=bedrooms[1], HUD_BED_3=bedrooms[2])
        check(changed, "mine.csv")
    check(found.assign(HUD_BED_1=0), "mine.csv", whole_bedrooms=False)


def test_a_property_without_a_block_and_one_too_many(households: pd.DataFrame, published: dict[str, Any]) -> None:
    census, hud = census_statistics(households), hud_statistics(households, published)
    with pytest.raises(DataError, match=rf"a property stands in block {A}, which has no census counts \(1 such blocks\)"):
        join(census[census["block"] == B], hud, "mine.csv")
    with pytest.raises(DataError, match=rf"block {A} has two rows of property statistics; add them up"):
        join(census, pd.concat([hud, hud]), "mine.csv")


def test_the_simulation_is_compared_with_the_paper(households: pd.DataFrame) -> None:
    paper = {"violation_percent": 3.4, "subsidized_percent": 47.0}
    ours = measures([households.iloc[9:], households], {1: 2, 2: 4})
    again = [ours | {"violation_percent": 3.0}, ours | {"violation_percent": 5.0}]
    table = simulation_table(ours, again, paper, "synthetic microdata").set_index("measure")
    assert table["ours"].to_dict() == {
        "blocks": 1, "households": 9, "subsidized_households": 7, "violations": 2, "blocks_with_violation": 1,
        "subsidized_per_block": 7, "subsidized_percent": 77.78, "violation_percent": 28.57,
        "blocks_with_violation_percent": 100}  # fmt: skip
    assert table["difference"].dropna().to_dict() == {"subsidized_percent": 30.78, "violation_percent": 25.17}
    assert set(table["data"]) == {"synthetic microdata"}
    assert table.loc["violation_percent", ["draws_mean", "draws_deviation", "draws"]].tolist() == [4.0, 1.41, 2]
