"""
Estimate from a survey what the units of a property hold: bedrooms, and how many of its households have children.

A kind of property is the units that it has (only small ones, say). Among renters of such units the survey counts how many
have each number of bedrooms, and in how many somebody is under 18.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from genverify.core.errors import DataError
from genverify.papers.housing.private.conditionals import LARGEST
from genverify.papers.housing.private.estimate import HOUSEHOLDS, MINORS, PERSONS, check_columns, percentages
from genverify.papers.housing.private.properties import BEDROOMS

TENURE, RENTED, ROOMS = "TEN", 3, "bedrooms"
KEYS = [TENURE, PERSONS, MINORS, ROOMS]

UNITS: Mapping[str, Sequence[int]] = {
    "small_units": (1,),
    "medium_units": (1, 2),
    "all_units": (1, 2, 3),
    "large_units": (2, 3),
}
"""The bedrooms that the units of each kind of property have: 1 stands for 0 or 1, 3 for 3 or more."""


def count_renters(survey: pd.DataFrame) -> pd.DataFrame:
    """Renters by persons (7: 7 or more), anybody under 18 and bedrooms (1: 0 or 1, 3: 3 or more)."""
    check_columns(survey, KEYS, "the survey of bedrooms")
    renters = survey[survey[TENURE] == RENTED]
    if not renters[HOUSEHOLDS].sum():
        raise DataError(f"the survey of bedrooms: no household rents ({TENURE} = {RENTED})")
    coded = {PERSONS: renters[PERSONS].clip(upper=LARGEST), ROOMS: renters[ROOMS].clip(min(BEDROOMS), max(BEDROOMS))}
    return renters.assign(**coded).groupby(KEYS)[HOUSEHOLDS].sum().reset_index()


def estimate_kinds(survey: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """
    `bedrooms` and `children` of each kind of property as in the file of assumptions, in percent.

    >>> columns = {"TEN": 3, "persons": [1, 3, 5], "TP18": [0, 1, 1], "bedrooms": [0, 2, 4], "households": [6, 2, 2]}
    >>> estimate_kinds(pd.DataFrame(columns))["medium_units"]
    {'bedrooms': [75.0, 25.0, 0.0], 'children': 25.0, 'households': 8}
    """
    renters = count_renters(survey)
    return {name: _kind(renters[renters[ROOMS].isin(units)]) for name, units in UNITS.items()}


def _kind(renters: pd.DataFrame) -> dict[str, Any]:
    by_rooms = renters.groupby(ROOMS)[HOUSEHOLDS].sum().reindex(BEDROOMS, fill_value=0).tolist()
    minors = int(renters.loc[renters[MINORS] == 1, HOUSEHOLDS].sum())
    total = sum(by_rooms)
    return {"bedrooms": percentages(by_rooms), "children": percentages([minors, total - minors])[0], HOUSEHOLDS: total}
