"""Exact sizes above 7 and numbers of children: the conditional distributions that the paper takes from PUMS (appendix B)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.core.errors import DataError

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
