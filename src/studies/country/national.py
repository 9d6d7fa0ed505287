"""What the country is made of: national figures, the possible types of households, and their odds."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.model.arrays import Floats, Ints, positions, row_keys
from genverify.model.domain import DomainFile, Predicate, Records
from genverify.model.errors import DataError, nearest
from genverify.model.files import read_yaml
from genverify.model.tablefiles import Expected, open_csv
from studies.country.composition import RealBlocks, read_blocks_of_country

# Draw from tables of weights: one column of a row for each draw.


def pick(weights: Floats, row: npt.NDArray[np.intp], uniform: Floats) -> Ints:
    """For each draw, a column of its row of weights, with a chance in proportion to the weight."""
    cumulated = np.cumsum(weights, axis=1)
    cumulated /= cumulated[:, -1:]
    cumulated += np.arange(len(weights))[:, None]
    found = np.searchsorted(cumulated.ravel(), row + uniform, side="right") - row * weights.shape[1]
    return np.asarray(np.minimum(found, weights.shape[1] - 1), dtype=np.int64)


def pick_cells(by_cell: Floats, f: Floats, traits: Floats, row: npt.NDArray[np.intp], uniform: Floats) -> tuple[Ints, Ints]:
    """
    For each draw the cell c and the traits t of a household: t by the weights of its row, c by by_cell[c, t] * f[row, c].

    The traits are drawn first: the table of a row would be large, that of its pairs with the traits that occur is not.
    """
    drawn = pick(traits, row, uniform[:, 0])
    pairs, pair = np.unique(row * traits.shape[1] + drawn, return_inverse=True)
    rows, shared = np.divmod(pairs, traits.shape[1])
    return pick(f[rows] * by_cell.T[shared], pair, uniform[:, 1]), drawn


# What the country is made of: national figures, odds of households, likeness of neighbours, states; read from files.

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
    How households come to resemble neighbours: generator, calibrated scale, groups of columns; the share of newcomers, and
    how `common` their kinds are: 1 as in the nation, 0 all that are possible equally often.
    """

    kind: str
    scale: float
    newcomers: float
    groups: tuple[Group, ...]
    common: float = 1.0


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
    """All that the generator knows about the country; `blocks` where race and origin are those of real blocks."""

    targets: tuple[Target, ...]
    odds: tuple[Odds, ...]
    likeness: Mapping[str, Likeness]
    vacancy: Vacancy
    states: tuple[State, ...]
    block_spread: float
    tract_households: int
    blocks: RealBlocks | None = None


FILES = ("national.yaml", "odds.csv", "likeness.yaml", "states.yaml")
NEIGHBOURS = "neighbours.yaml"


def country_file(folder: Path, name: str) -> Path:
    """A file of a country: of its folder, or, where this has none, of the folder around it."""
    around = folder.parent / name
    return around if around.exists() and not (folder / name).exists() else folder / name


def country_files(folder: Path) -> list[Path]:
    files = [country_file(folder, name) for name in FILES]
    likeness, estimates = country_file(folder, "likeness.yaml"), country_file(folder, NEIGHBOURS)
    real = likeness.exists() and estimates.exists() and "race_and_origin" in read_yaml(likeness)
    return sorted([*files, *([estimates] if real else [])])


def read_country(folder: Path) -> Country:
    """The country of the four files; with an entry `race_and_origin`, these are drawn as in neighbours.yaml."""
    national, states = (_read(country_file(folder, name)) for name in ("national.yaml", "states.yaml"))
    likeness = dict(_read(country_file(folder, "likeness.yaml")))
    real = likeness.pop("race_and_origin", None)
    try:
        targets = tuple(_target(name, cells) for name, cells in national["targets"].items())
        alike = {kind: _likeness(kind, entry) for kind, entry in likeness.items()}
        statuses = {int(code): float(percent) for code, percent in national["vacant"]["statuses"].items()}
        spread = national["vacant"]["spread"]
        vacancy = Vacancy(float(national["vacant"]["percent"]), statuses, spread["rate"], spread["status"])
        sizes = _states(states["states"]), float(states["block_spread"]), int(states["tract_households"])
        blocks = read_blocks_of_country(country_file(folder, NEIGHBOURS), real) if real else None
        return Country(targets, read_odds(country_file(folder, "odds.csv")), alike, vacancy, *sizes, blocks)
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
    scale, newcomers, common = float(entry["scale"]), float(entry["newcomers"]), float(entry.get("common", 1))
    if scale <= 0 or not 0 <= newcomers < 1 or not 0 <= common <= 1:
        raise DataError(f"{where}: the scale must be over 0, newcomers a share under 1, and common from 0 to 1")
    return Likeness(kind, scale, newcomers, groups, common)


def _group(where: str, entry: dict[str, Any]) -> Group:
    columns = tuple(map(str, entry.pop("columns")))
    for level in entry:
        if level not in LEVELS:
            raise DataError(f"{where}, {' '.join(columns)}: unknown level {level!r}: {nearest(level, list(LEVELS))}")
    return Group(columns, {level: float(entry.get(level, 0)) for level in LEVELS})


def _states(entries: Mapping[str, Mapping[str, Any]]) -> tuple[State, ...]:
    states = tuple(
        State(fips, str(entry["name"]), int(entry["median"]), float(entry["share"]))
        for fips, entry in sorted(entries.items())
    )
    for state in states:
        if state.median < 1 or state.share <= 0 or not re.fullmatch("[0-9]{2}", str(state.fips)):
            raise DataError(f"states.yaml, state {state.fips}: give two digits, a median of 1 or more and a share over 0")
    return states


# The possible types of occupied households: profiles times traits, and their national joint distribution.

TENURE = "TEN"
TRAITS = (TENURE, "THHSPAN", "THHRACE")
UNIVERSE = "occupied"


@dataclass(frozen=True)
class Types:
    """Every possible type: a profile (who lives there) with traits (tenure, origin, race), which no rule links to it."""

    profiles: Records
    traits: Records

    @property
    def shape(self) -> tuple[int, int]:
        return len(next(iter(self.profiles.values()))), len(next(iter(self.traits.values())))

    @cached_property
    def records(self) -> Records:
        """One record per type, profile by profile."""
        rows, columns = self.shape
        profiles = {name: np.repeat(codes, columns) for name, codes in self.profiles.items()}
        return {**profiles, **{name: np.tile(codes, rows) for name, codes in self.traits.items()}}


def possible_types(file: DomainFile, traits: Sequence[str] = TRAITS) -> Types:
    """The types of the occupied universe that no structural rule excludes."""
    names = tuple(name for name in file.domain.names if name not in TRAITS and name != "VACS")
    return Types(_possible(file, names), _possible(file, traits))


def _possible(file: DomainFile, names: Sequence[str]) -> dict[str, npt.NDArray[np.int8]]:
    """The combinations of the named columns that break no rule which speaks of them."""
    occupied = file.universe(UNIVERSE).codes
    codes = (occupied.get(name) or file.domain[name].codes for name in names)
    grid = np.meshgrid(*(np.array(values, dtype=np.int8) for values in codes), indexing="ij")
    records = {name: codes.ravel() for name, codes in zip(names, grid, strict=True)}
    kept = np.ones(records[names[0]].size, dtype=bool)
    for rule in file.rules.values():
        spoken = {column for said in (rule.when, *rule.one_of) for column in said.columns} - {"VACS"}
        if rule.when.where.get("VACS", (0,)) == (0,) and spoken <= set(names):
            kept &= ~rule.excludes({**records, "VACS": np.zeros(kept.size, dtype=np.int8)})
    return {name: codes[kept] for name, codes in records.items()}


def odds_of_types(country: Country, types: Types) -> Floats:
    """The weight of each type by the odds of the country alone."""
    weights: Floats = np.ones(types.shape)
    for odds in country.odds:
        weights *= _factors(odds, types)
    return weights.ravel()


def _factors(odds: Odds, types: Types) -> Floats:
    """The odds of each profile (rows) and traits (columns): a single row or column where all of them have the same."""
    known = {name: codes[:, None] for name, codes in types.profiles.items()} | dict(types.traits)
    unknown = [name for name in odds.columns if name not in known]
    if unknown:
        raise DataError(f"odds.csv, {' '.join(odds.columns)}: {unknown[0]} is not a column of an occupied household")
    for name, codes in zip(odds.columns, odds.codes.T, strict=True):
        absent = sorted(set(codes.tolist()) - set(known[name].ravel().tolist()))
        if absent:
            message = f"odds.csv, {' '.join(odds.columns)}: no occupied household of the domain has {name}={absent[0]}"
            raise DataError(f"{message}; estimate the odds again (genverify estimate households) for this domain")
    grid = np.broadcast_arrays(np.zeros((1, 1)), *(known[name] for name in odds.columns))[1:]
    codes, found = row_keys([odds.codes, np.stack([column.ravel() for column in grid], axis=1)])
    order = np.argsort(codes, kind="stable")
    place = positions(codes[order], found)
    return np.where(place < 0, 1.0, odds.odds[order][place]).reshape(grid[0].shape)


@dataclass(frozen=True)
class Margin:
    """A target over types: the cell that each type belongs to, and the share that each cell must have."""

    cells: npt.NDArray[np.intp]
    shares: Floats


def margins_of(file: DomainFile, country: Country, types: Types) -> tuple[Margin, ...]:
    return tuple(margin_of(file, target, types.records) for target in country.targets)


def margin_of(file: DomainFile, target: Target, records: Records) -> Margin:
    """A national target as a margin over records."""
    cells: npt.NDArray[np.intp] = np.zeros(len(next(iter(records.values()))), dtype=np.intp)
    for number, (predicate, _) in enumerate(target.cells, start=1):
        file.domain.check(predicate, f"national.yaml, target {target.name}")
        matches = predicate.matches(records)
        if not matches.any() or cells[matches].any():
            raise DataError(f"national.yaml, target {target.name}: {predicate} is impossible or overlaps another line")
        cells[matches] = number
    percents = [percent for _, percent in target.cells]
    rest = max(0.0, 100 - sum(percents)) if (cells == 0).any() else 0.0
    shares: Floats = np.array([rest, *percents])
    return Margin(cells, shares / shares.sum())


def rake(weights: Floats, margins: Sequence[Margin], rounds: int = 100, tolerance: float = 1e-4) -> Floats:
    """Iterative proportional fitting: the weights, scaled until each margin has its shares."""
    fitted: Floats = weights / weights.sum()
    for _ in range(rounds):
        worst = 0.0
        for margin in margins:
            found = np.bincount(margin.cells, fitted, minlength=margin.shares.size)
            worst = max(worst, float(np.abs(found - margin.shares).max()))
            factors = np.divide(margin.shares, found, out=np.ones_like(found), where=found > 0)
            fitted = fitted * factors[margin.cells]
        if worst < tolerance:
            break
    return fitted
