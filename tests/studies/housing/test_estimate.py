"""Sizes and children of households estimated from counts of a survey: by hand, and as the file of assumptions has them."""

from pathlib import Path

import pandas as pd
import pytest

from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from studies.housing.households import count_renters, estimate_conditionals, estimate_kinds

# persons, own children, anybody under 18, households
CHILDREN = [
    (2, 1, 1, 5),
    (3, 1, 1, 60),
    (3, 2, 1, 40),
    (4, 2, 1, 30),
    (5, 1, 1, 2),
    (6, 1, 1, 2),
    (7, 3, 1, 6),
    (8, 1, 1, 2),
    (7, 0, 0, 1),
]
TYPES = [(2, 6, 5), (3, 1, 50), (3, 10, 50), (4, 3, 30), (5, 1, 2), (6, 1, 2), (7, 1, 6)]


def surveys() -> tuple[pd.DataFrame, pd.DataFrame]:
    children = pd.DataFrame(CHILDREN, columns=["persons", "own_children", "TP18", "households"])
    return children, pd.DataFrame(TYPES, columns=["HHSIZE", "HHT2", "households"])


def test_couples_and_single_parents_by_hand() -> None:
    """Of 100 households of three, 50 have a single parent; the 40 with two children are theirs, and 10 of the others."""
    children, types = surveys()
    types = pd.concat([types, pd.DataFrame({"HHSIZE": [4, 5, 6, 7], "HHT2": 6, "households": 1})])
    found = estimate_conditionals(children, types)
    assert found["children"]["couple_with_own_children"][3] == [100.0]
    assert found["children"]["single_parent"][3] == [20.0, 80.0]
    assert found["children"]["single_parent"][4] == [0.0, 100.0, 0.0]
    assert found["sizes"] == {"with_children": [75.0, 25.0], "without_children": [100.0]}


def test_a_survey_that_lacks_a_column_or_a_kind_of_household() -> None:
    children, types = surveys()
    with pytest.raises(DataError, match=r"the survey of children: the column TP18 is missing"):
        estimate_conditionals(children.drop(columns="TP18"), types)
    with pytest.raises(DataError, match="the survey has no household of some kind"):
        estimate_conditionals(children, types)


def test_the_file_of_assumptions_has_the_estimates(root: Path) -> None:
    data = root.parent / "shared" / "data"
    if not (data / "acs-2016-bedrooms.csv").exists():
        pytest.skip("no ../shared/data/acs-2016-bedrooms.csv beside the repository")
    found = estimate_conditionals(*(pd.read_csv(data / f"acs-2016-{name}.csv") for name in ("bedrooms", "households")))
    shipped = read_yaml(root / "data" / "housing" / "simulation.yaml")["households"]
    assert found["sizes"] == shipped["sizes"]
    for kind, rows in found["children"].items():
        assert {size: shipped["children"][kind][size] for size in rows} == rows


def test_kinds_of_property_are_those_of_the_shipped_renters(root: Path) -> None:
    renters = pd.read_csv(root / "data" / "housing" / "bedrooms.csv")
    shipped = read_yaml(root / "data" / "housing" / "simulation.yaml")["properties"]["kinds"]
    for kind, found in estimate_kinds(renters).items():
        assert {name: shipped[kind][name] for name in ("bedrooms", "children")} == {
            name: found[name] for name in ("bedrooms", "children")
        }


def test_renters_are_counted_by_size_children_and_bedrooms() -> None:
    survey = pd.DataFrame(
        [(3, 9, 1, 5, 2), (3, 7, 1, 3, 1), (3, 1, 0, 0, 4), (1, 1, 0, 0, 8)],
        columns=["TEN", "persons", "TP18", "bedrooms", "households"],
    )
    found = count_renters(survey)
    assert found.to_numpy().tolist() == [[3, 1, 0, 1, 4], [3, 7, 1, 3, 3]]
    assert count_renters(found).equals(found)


def test_a_survey_without_renters_or_bedrooms() -> None:
    owner = pd.DataFrame({"TEN": [1], "persons": [1], "TP18": [0], "bedrooms": [1], "households": [1]})
    with pytest.raises(DataError, match=r"no household rents \(TEN = 3\)"):
        count_renters(owner)
    with pytest.raises(DataError, match="the column bedrooms is missing"):
        estimate_kinds(owner.drop(columns="bedrooms"))


def test_the_shipped_renters_are_those_of_the_survey(root: Path) -> None:
    file = root.parent / "shared" / "data" / "acs-2016-bedrooms.csv"
    if not file.exists():
        pytest.skip("no ../shared/data/acs-2016-bedrooms.csv beside the repository")
    assert count_renters(pd.read_csv(file)).equals(pd.read_csv(root / "data" / "housing" / "bedrooms.csv"))
