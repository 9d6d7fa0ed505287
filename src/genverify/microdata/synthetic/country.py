"""What the country is made of: national figures, interactions, homogeneity and states, read from their files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genverify.core.errors import DataError, nearest
from genverify.core.files import read_yaml
from genverify.core.predicates import Predicate

LEVELS = ("state", "county", "tract", "block")


@dataclass(frozen=True)
class Target:
    """National percentages of disjoint groups of households; the rest has what is left up to 100."""

    name: str
    cells: tuple[tuple[Predicate, float], ...]


@dataclass(frozen=True)
class Interaction:
    """Odds of the codes of a column among the households of `where`."""

    where: Predicate
    column: str
    odds: tuple[float, ...]


@dataclass(frozen=True)
class Tilt:
    """Standard deviations, by level, of the random tilts on the log weights of a column's codes."""

    column: str
    spread: Mapping[str, float]


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
    interactions: tuple[Interaction, ...]
    tilts: tuple[Tilt, ...]
    newcomers: float
    vacancy: Vacancy
    states: tuple[State, ...]
    block_spread: float
    tract_households: int


def read_country(folder: Path) -> Country:
    """The country described by national.yaml, interactions.yaml, homogeneity.yaml and states.yaml."""
    national, states = _read(folder / "national.yaml"), _read(folder / "states.yaml")
    interactions, homogeneity = _read(folder / "interactions.yaml"), _read(folder / "homogeneity.yaml")
    try:
        return Country(
            tuple(_target(name, cells) for name, cells in national["targets"].items()),
            tuple(_interaction(entry) for entry in interactions["interactions"]),
            tuple(_tilt(column, spread) for column, spread in homogeneity["tilts"].items()),
            float(homogeneity["newcomers"]),
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


def _interaction(entry: Mapping[str, Any]) -> Interaction:
    odds = tuple(float(value) for value in entry["odds"])
    if min(odds) <= 0:
        raise DataError(f"interactions.yaml, {entry['where']} by {entry['column']}: odds must be positive")
    return Interaction(Predicate.of(entry["where"]), str(entry["column"]), odds)


def _tilt(column: str, spread: Mapping[str, float]) -> Tilt:
    for level in spread:
        if level not in LEVELS:
            raise DataError(f"homogeneity.yaml, {column}: unknown level {level!r}: {nearest(level, list(LEVELS))}")
    return Tilt(column, {level: float(spread.get(level, 0)) for level in LEVELS})


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
