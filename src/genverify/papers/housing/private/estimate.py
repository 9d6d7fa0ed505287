"""
Estimate from a survey how large households of seven or more are, and how many children there are by number of persons.

The survey counts households by persons, own children and whether anybody is under 18, but does not say which of them are
couples; a second one counts these by size. Own children stand for all persons under 18.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from genverify.core.errors import DataError
from genverify.papers.housing.private.conditionals import LARGEST

HOUSEHOLDS = "households"
PERSONS, OWN, MINORS = "persons", "own_children", "TP18"
COUPLES, SINGLES = (1, 3), (6, 10)
"""HHT2 of couples, and of householders without a partner, with own children under 18."""


def estimate_conditionals(children: pd.DataFrame, types: pd.DataFrame) -> dict[str, Any]:
    """`sizes` and `children` as in the file of assumptions, in percent: of couples and of single parents."""
    check_columns(children, (PERSONS, OWN, MINORS), "the survey of children")
    check_columns(types, ("HHSIZE", "HHT2"), "the survey of types")
    own = children[children[OWN] > 0]
    couples, singles = ({}, {})
    for size in range(2, LARGEST + 1):
        counts = own[own[PERSONS] == size].groupby(OWN)[HOUSEHOLDS].sum().reindex(range(1, size), fill_value=0).tolist()
        couples[size], singles[size] = _split(counts, _share_of_singles(types, size))
    return {
        "sizes": {name: _sizes(children, code) for code, name in ((1, "with_children"), (0, "without_children"))},
        "children": {"couple_with_own_children": couples, "single_parent": singles},
    }


def check_columns(table: pd.DataFrame, columns: Sequence[str], what: str) -> None:
    """A survey must have these columns, and count households."""
    for name in (*columns, HOUSEHOLDS):
        if name not in table:
            raise DataError(f"{what}: the column {name} is missing; it needs {', '.join((*columns, HOUSEHOLDS))}")


def _sizes(children: pd.DataFrame, minors: int) -> list[float]:
    """Of the households of 7 or more, with or without anybody under 18, the percentages of 7, 8, 9, ... persons."""
    chosen = children[(children[MINORS] == minors) & (children[PERSONS] >= LARGEST)]
    last = int(chosen[PERSONS].max()) if len(chosen) else LARGEST
    counts = chosen.groupby(PERSONS)[HOUSEHOLDS].sum().reindex(range(LARGEST, last + 1), fill_value=0)
    return percentages(counts.tolist())


def _share_of_singles(types: pd.DataFrame, size: int) -> float:
    """The share of single parents among the households of this size that have own children."""
    of_size = types[types["HHSIZE"] == size]
    singles, couples = (int(of_size.loc[of_size["HHT2"].isin(codes), HOUSEHOLDS].sum()) for codes in (SINGLES, COUPLES))
    return singles / max(1, singles + couples)


def _split(counts: Sequence[int], singles: float) -> tuple[list[float], list[float]]:
    """
    Percentages of 1, 2, ... children for couples and for single parents, from counts of both together.

    Where all but one are children, the one has no partner. The other single parents are taken to have as many as couples.

    >>> _split([60, 40], singles=0.5)
    ([100.0], [20.0, 80.0])
    """
    *together, alone = counts
    if not together:
        return [100.0], [100.0]
    left = max(0.0, singles * sum(counts) - alone)
    return percentages(together), percentages([left * count / max(1, sum(together)) for count in together] + [alone])


def percentages(counts: Sequence[float]) -> list[float]:
    """
    Percentages with one decimal that add up to 100: what rounding leaves over goes to the largest.

    >>> percentages([1, 1, 1])
    [33.4, 33.3, 33.3]
    """
    total = sum(counts)
    if not total:
        raise DataError("the survey has no household of some kind; give one with more households")
    rounded = [round(100 * count / total, 1) for count in counts]
    largest = rounded.index(max(rounded))
    rounded[largest] = round(rounded[largest] + 100 - sum(rounded), 1)
    return rounded
