"""Households of the two releases: exact sizes and numbers of children, and their conditional distributions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.domain import Domain, parse_domain
from genverify.model.errors import DataError, nearest
from genverify.model.files import read_yaml

# A household of the two releases: its columns, what can be read off it, and the occupancy limit.

COLUMNS = ("BEDROOMS", "SIZE", "CHILDREN", "RACE")
LAST = "last"


@dataclass(frozen=True)
class Attribute:
    """Whether a column takes one of these codes, or a code from `least` on."""

    column: str
    codes: tuple[int, ...] | None
    least: int | None

    def read(self, codes: Ints) -> Ints:
        held = np.isin(codes, self.codes) if self.codes is not None else codes >= (self.least or 0)
        return held.astype(np.int64)


@dataclass(frozen=True, eq=False)
class HouseholdFile:
    """The columns (sizes as far as a block's counts allow), the attributes, and how many persons a unit may hold."""

    columns: Mapping[str, Any]
    attributes: Mapping[str, Attribute]
    occupancy: Mapping[int, int]

    @lru_cache(maxsize=256)  # noqa: B019  (one file a study, so nothing is kept alive)
    def domain(self, last: int) -> Domain:
        """The domain of a block whose households have at most a given number of persons."""
        return parse_domain({"columns": {name: _upto(entry, last) for name, entry in self.columns.items()}}).domain

    def values(self, name: str, households: pd.DataFrame) -> Ints:
        """A column or an attribute of every household."""
        if name in COLUMNS:
            return households[name].to_numpy(dtype=np.int64)
        if name not in self.attributes:
            raise DataError(f"no attribute {name!r} of a household: {nearest(name, [*COLUMNS, *self.attributes])}")
        attribute = self.attributes[name]
        return attribute.read(households[attribute.column].to_numpy(dtype=np.int64))

    def violates(self, bedrooms: Ints, size: Ints) -> Flags:
        """Which households have more than two persons per bedroom (those of the occupancy limit)."""
        flags = np.zeros(len(size), dtype=bool)
        for code, most in self.occupancy.items():
            flags |= (bedrooms == code) & (size > most)
        return flags


def _upto(entry: Mapping[str, Any], last: int) -> dict[str, Any]:
    if "range" not in entry:
        return dict(entry)
    return {**entry, "range": [last if end == LAST else end for end in entry["range"]]}


def read_household_file(path: Path) -> HouseholdFile:
    """The domain file of the housing study."""
    text = read_yaml(path)
    try:
        attributes = {str(name): _attribute(entry) for name, entry in text["attributes"].items()}
        occupancy = {int(code): int(most) for code, most in text["occupancy"].items()}
        found = HouseholdFile(text["columns"], attributes, occupancy)
        known = found.domain(7)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: not a household file ({error!r}); see data/housing/domain.yaml for the form") from None
    if known.names != COLUMNS:
        raise DataError(f"{path}: the columns are {', '.join(known.names)}; the housing study needs {', '.join(COLUMNS)}")
    return found


def _attribute(entry: Mapping[str, Any]) -> Attribute:
    codes = tuple(int(code) for code in entry["codes"]) if "codes" in entry else None
    return Attribute(str(entry["column"]), codes, None if codes is not None else int(entry["from"]))


# Exact sizes above 7 and numbers of children: the conditional distributions that the paper takes from PUMS (appendix B).

LARGEST = 7
"""The last size that the census counts by itself: 7 stands for 7 or more."""

ANY = -1
"""The group of a distribution over all groups."""


@dataclass(frozen=True)
class Distribution:
    """
    Whole numbers and their chances.

    >>> always = Distribution.of({3: 5.0, 4: 0.0})
    >>> always.draw(2, np.random.default_rng(1)).tolist()
    [3, 3]
    """

    values: Ints
    chances: Floats

    @classmethod
    def of(cls, weights: Mapping[int, float]) -> "Distribution":
        kept = {value: weight for value, weight in sorted(weights.items()) if weight > 0}
        total = sum(kept.values())
        return cls(np.array(list(kept)), np.array([weight / total for weight in kept.values()]))

    def draw(self, count: int, rng: np.random.Generator) -> Ints:
        return self.values[rng.choice(len(self.values), size=count, p=self.chances)]


@dataclass(frozen=True)
class Conditionals:
    """
    How sizes and children are drawn: `sizes` by group and whether there is anybody under 18, `children` by group and size.

    A group is a set of codes of `column` (HHT2 or RACE); a household whose group is not known is drawn over all groups.
    """

    column: str
    groups: Mapping[int, int]
    sizes: Mapping[tuple[int, int], Distribution]
    children: Mapping[tuple[int, int], Distribution]
    another_child: float

    def group_of(self, codes: Ints) -> Ints:
        """The group of each household."""
        table = np.full(max([*self.groups, *codes.tolist()], default=0) + 1, ANY)
        table[list(self.groups)] = list(self.groups.values())
        return table[codes]


def read_conditionals(text: Mapping[str, Any], where: str) -> Conditionals:
    """The table of assumptions, section `households`."""
    try:
        sizes = {
            (ANY, with_children): _percentages(text["sizes"][name], LARGEST, f"{where}: sizes.{name}")
            for with_children, name in enumerate(("without_children", "with_children"))
        }
        groups: dict[int, int] = {}
        children: dict[tuple[int, int], Distribution] = {}
        for group, (name, rows) in enumerate(text["children"].items()):
            groups |= dict.fromkeys(rows["HHT2"], group)
            for size in range(2, LARGEST + 1):
                children[group, size] = _children(rows[size], size, f"{where}: children.{name}.{size}")
        return Conditionals("HHT2", groups, sizes, children, float(text["another_child"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{where}: not a table of households ({error!r}); see data/housing/simulation.yaml") from None


def _children(row: list[float], size: int, where: str) -> Distribution:
    found = _percentages(row, 1, where)
    if found.values[-1] >= size:
        raise DataError(f"{where}: {found.values[-1]} under 18 among {size} persons leave no adult; shorten the list")
    return found


def _percentages(row: list[float], first: int, where: str) -> Distribution:
    """Percentages of the numbers from `first` on."""
    if not row or min(row) < 0 or abs(sum(row) - 100) > 0.5:
        raise DataError(f"{where}: percentages must be 0 or more and add up to 100, not {row}")
    return Distribution.of(dict(enumerate(map(float, row), first)))


def draw_sizes(coded: Ints, minors: Ints, group: Ints, given: Conditionals, rng: np.random.Generator) -> Ints:
    """The exact size of each household: as coded, above 6 drawn among those with or without anybody under 18."""
    size = coded.copy()
    for rows, key in _cells(np.flatnonzero(coded >= LARGEST), group, minors):
        found = given.sizes.get(key) or given.sizes.get((ANY, key[1]))
        if found is not None:
            size[rows] = found.draw(len(rows), rng)
    return size


def draw_children(size: Ints, minors: Ints, group: Ints, given: Conditionals, rng: np.random.Generator) -> Ints:
    """The persons under 18: none, or drawn by size so that an adult stays; who lives alone can be a minor."""
    children = np.where(minors > 0, 1, 0)
    for rows, key in _cells(np.flatnonzero((minors > 0) & (size > 1)), group, size):
        children[rows] = _draw_children_of(*key, given, len(rows), rng)
    return children


def _draw_children_of(group: int, size: int, given: Conditionals, count: int, rng: np.random.Generator) -> Ints:
    """Households of one group and size: its own distribution, that of all groups, or of the next smaller size, enlarged."""
    for smaller in range(size, 1, -1):
        found = given.children.get((group, smaller)) or given.children.get((ANY, smaller))
        if found is not None:
            drawn: Ints = found.draw(count, rng) + rng.binomial(size - smaller, given.another_child, count)
            return drawn.clip(max=size - 1)
    return np.ones(count, dtype=np.int64)


def _cells(rows: Ints, first: Ints, second: Ints) -> list[tuple[Ints, tuple[int, int]]]:
    """The rows of each combination of two keys, in the order of the keys."""
    if not len(rows):
        return []
    found, which = np.unique(np.stack([first[rows], second[rows]], axis=1), axis=0, return_inverse=True)
    return [(rows[which == place], (int(values[0]), int(values[1]))) for place, values in enumerate(found)]


# Estimate from a survey how large households of seven or more are, and how many children there are by number of persons.
#
# The survey counts households by persons, own children and whether anybody is under 18, but does not say which of them are
# couples; a second one counts these by size. Own children stand for all persons under 18.

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
    """Percentages with one decimal that add up to 100: what rounding leaves over goes to the largest."""
    total = sum(counts)
    if not total:
        raise DataError("the survey has no household of some kind; give one with more households")
    rounded = [round(100 * count / total, 1) for count in counts]
    largest = rounded.index(max(rounded))
    rounded[largest] = round(rounded[largest] + 100 - sum(rounded), 1)
    return rounded
