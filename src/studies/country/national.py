"""What the country is made of: national figures, odds of households, likeness of neighbours, states; read from files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Floats, Ints
from genverify.core.csvfile import Expected, open_csv
from genverify.core.errors import DataError, nearest
from genverify.core.files import read_yaml
from genverify.core.predicates import Predicate

LEVELS = ("state", "county", "tract", "block")
KINDS = ("prototype", "dirichlet", "urn")


@dataclass(frozen=True)
class Target:
    """National percentages of disjoint groups of households; the rest has what is left up to 100."""

    name: str
    cells: tuple[tuple[Predicate, float], ...]

    @property
    def columns(self) -> set[str]:
        return {column for predicate, _ in self.cells for column in predicate.columns}


@dataclass(frozen=True)
class Odds:
    """How the codes of some columns go together: the odds of each combination of codes, 1 where nothing is said."""

    columns: tuple[str, ...]
    codes: Ints
    odds: Floats


@dataclass(frozen=True)
class Group:
    """Columns in which neighbours are alike together, and how strongly at each level."""

    columns: tuple[str, ...]
    strength: Mapping[str, float]


@dataclass(frozen=True)
class Likeness:
    """
    How households come to resemble their neighbours: the kind of generator, its calibrated scale, the groups of columns.

    A share of the households, the newcomers, are drawn from the nation.
    """

    kind: str
    scale: float
    newcomers: float
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Vacancy:
    """Vacant units: percentage of the housing units, of each status, and how much places differ."""

    percent: float
    statuses: Mapping[int, float]
    rate: Mapping[str, float]
    status: Mapping[str, float]


@dataclass(frozen=True)
class State:
    """A state: FIPS code, name, median size of its blocks and percentage of the nation's households."""

    fips: str
    name: str
    median: int
    share: float


@dataclass(frozen=True)
class Country:
    """All that the generator knows about the country."""

    targets: tuple[Target, ...]
    odds: tuple[Odds, ...]
    likeness: Mapping[str, Likeness]
    vacancy: Vacancy
    states: tuple[State, ...]
    block_spread: float
    tract_households: int


def read_country(folder: Path) -> Country:
    """The country described by national.yaml, odds.csv, likeness.yaml and states.yaml."""
    national, states = _read(folder / "national.yaml"), _read(folder / "states.yaml")
    likeness = _read(folder / "likeness.yaml")
    try:
        return Country(
            tuple(_target(name, cells) for name, cells in national["targets"].items()),
            read_odds(folder / "odds.csv"),
            {kind: _likeness(kind, entry) for kind, entry in likeness.items()},
            _vacancy(national["vacant"]),
            _states(states["states"]),
            float(states["block_spread"]),
            int(states["tract_households"]),
        )
    except KeyError as error:
        raise DataError(f"{folder}: the entry {error} is missing; compare with the files of data/synthetic") from None


def _read(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        raise DataError(f"{path} does not exist; the synthetic country needs this file")
    return read_yaml(path)


def _target(name: str, cells: list[Mapping[str, Any]]) -> Target:
    found = tuple(
        (Predicate.of({key: codes for key, codes in cell.items() if key != "percent"}), float(cell["percent"]))
        for cell in cells
    )
    total = sum(percent for _, percent in found)
    if total > 100.001 or min(percent for _, percent in found) <= 0:
        raise DataError(f"national.yaml, target {name}: percentages must be positive and add up to 100 at most: {total}")
    return Target(name, found)


def read_odds(path: Path) -> tuple[Odds, ...]:
    """The odds of a file with the columns `columns`, `codes` (both separated by blanks) and `odds`."""
    expected = Expected("the odds of a synthetic country", "compare with data/synthetic/odds.csv")
    table = open_csv(path, expected).frame(["columns", "codes", "odds"])
    return tuple(_odds(path, str(names), rows) for names, rows in table.groupby("columns", sort=False))


def _odds(path: Path, names: str, rows: pd.DataFrame) -> Odds:
    columns = tuple(names.split())
    odds = pd.to_numeric(rows["odds"], errors="coerce").to_numpy(np.float64)
    codes = [[int(code) for code in text.split() if code.isdecimal()] for text in rows["codes"].astype(str)]
    for line, values, chance in zip(rows.index, codes, odds, strict=True):
        if len(values) != len(columns) or not 0 < chance < np.inf:
            raise DataError(f"{path}, row {line}: give {len(columns)} codes and odds over 0 for {names}")
    return Odds(columns, np.array(codes, dtype=np.int64), odds)


def _likeness(kind: str, entry: Mapping[str, Any]) -> Likeness:
    where = f"likeness.yaml, {kind}"
    if kind not in KINDS:
        raise DataError(f"{where}: unknown kind: {nearest(kind, list(KINDS))}")
    groups = tuple(_group(where, dict(group)) for group in entry["groups"])
    scale, newcomers = float(entry["scale"]), float(entry["newcomers"])
    if scale <= 0 or not 0 <= newcomers < 1:
        raise DataError(f"{where}: the scale must be over 0 and newcomers a share under 1")
    return Likeness(kind, scale, newcomers, groups)


def _group(where: str, entry: dict[str, Any]) -> Group:
    columns = tuple(map(str, entry.pop("columns")))
    for level in entry:
        if level not in LEVELS:
            raise DataError(f"{where}, {' '.join(columns)}: unknown level {level!r}: {nearest(level, list(LEVELS))}")
    return Group(columns, {level: float(entry.get(level, 0)) for level in LEVELS})


def _vacancy(entry: Mapping[str, Any]) -> Vacancy:
    statuses = {int(code): float(percent) for code, percent in entry["statuses"].items()}
    return Vacancy(float(entry["percent"]), statuses, entry["spread"]["rate"], entry["spread"]["status"])


def _states(entries: Mapping[str, Mapping[str, Any]]) -> tuple[State, ...]:
    states = tuple(
        State(fips, str(entry["name"]), int(entry["median"]), float(entry["share"]))
        for fips, entry in sorted(entries.items())
    )
    for state in states:
        if state.median < 1 or state.share <= 0 or not re.fullmatch("[0-9]{2}", str(state.fips)):
            raise DataError(f"states.yaml, state {state.fips}: give two digits, a median of 1 or more and a share over 0")
    return states
