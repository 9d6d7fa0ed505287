"""The possible types of occupied households: profiles times traits, and their national joint distribution."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from genverify.core.arrays import positions, row_keys
from genverify.core.arraytypes import Floats
from genverify.core.domain import DomainFile
from genverify.core.errors import DataError
from genverify.core.predicates import Records
from genverify.microdata.synthetic.country import Country, Odds, Target

TRAITS = ("TEN", "THHSPAN", "THHRACE")
UNIVERSE = "occupied"


@dataclass(frozen=True)
class Types:
    """
    Every structurally possible household type: a profile (who lives there) and traits (tenure, origin and race).

    No structural rule links the two, so the types are all the pairs of a profile and of traits.
    """

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


def possible_types(file: DomainFile) -> Types:
    """The types of the occupied universe that no structural rule excludes."""
    names = tuple(name for name in file.domain.names if name not in TRAITS and name != "VACS")
    return Types(_possible(file, names), _possible(file, TRAITS))


def occupied_codes(file: DomainFile, column: str) -> tuple[int, ...]:
    """The codes that an occupied household can hold in a column."""
    return file.universe(UNIVERSE).codes.get(column) or tuple(file.domain[column].codes)


def _possible(file: DomainFile, names: Sequence[str]) -> dict[str, npt.NDArray[np.int8]]:
    """The combinations of the named columns that break no rule which speaks of them."""
    grid = np.meshgrid(*(np.array(occupied_codes(file, name), dtype=np.int8) for name in names), indexing="ij")
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
        raise DataError(f"odds.csv, {' '.join(odds.columns)}: {unknown[0]} is no column of an occupied household")
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
    """The national targets as margins over the types."""
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
    """
    Iterative proportional fitting: the weights, scaled until each margin has its shares.

    >>> half = Margin(np.array([0, 0, 1, 1]), np.array([0.5, 0.5]))
    >>> most = Margin(np.array([0, 1, 0, 1]), np.array([0.8, 0.2]))
    >>> rake(np.ones(4), [half, most]).round(3).tolist()
    [0.4, 0.1, 0.4, 0.1]
    """
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
