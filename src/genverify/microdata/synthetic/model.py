"""The law of the households of a block: the nation's, weighted by what is common in the block."""

from dataclasses import dataclass

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.core.domain import DomainFile
from genverify.core.errors import DataError
from genverify.core.predicates import Records
from genverify.microdata.synthetic.country import Country, Likeness
from genverify.microdata.synthetic.household_types import Margin, Types, margins_of, odds_of_types, possible_types, rake
from genverify.microdata.synthetic.likeness import Groups, Neighbours, Rows, neighbours_of


@dataclass(frozen=True)
class Model:
    """
    The law of a household: p_block(profile, traits) ~ joint(profile, traits) * f_block(profile) * g_block(traits).

    Profiles that f cannot distinguish form a cell: they stand together in `types`, `starts` has the first one of each cell.
    A share of the households, the newcomers, do not resemble their neighbours: their law is the national one.
    """

    types: Types
    joint: Floats
    national: Floats
    newcomers: float
    starts: Ints
    neighbours: Neighbours

    def by_cell(self) -> Floats:
        """The joint distribution of cells and traits."""
        return np.add.reduceat(self.joint, self.starts, axis=0)


def build_model(file: DomainFile, country: Country, kind: str, homogeneity: float) -> tuple[Model, tuple[Margin, ...]]:
    """The model before any place is known: its joint distribution has the national margins."""
    if kind not in country.likeness:
        raise DataError(f"likeness.yaml: the entry {kind} is missing; it describes microdata.synthetic.likeness: {kind}")
    likeness = country.likeness[kind]
    types, starts, margins, joint = national_law(file, country, likeness)
    groups = _groups(types, starts, likeness, np.add.reduceat(joint, starts, axis=0))
    neighbours = neighbours_of(groups, homogeneity)
    return Model(types, joint, joint.reshape(1, -1), likeness.newcomers, starts, neighbours), margins


def national_law(file: DomainFile, country: Country, likeness: Likeness) -> tuple[Types, Ints, tuple[Margin, ...], Floats]:
    """The types in cells, the first profile of each cell, the national margins, and the joint distribution that has them."""
    types, starts = _in_cells(possible_types(file), likeness)
    margins = margins_of(file, country, types)
    return types, starts, margins, rake(odds_of_types(country, types), margins).reshape(types.shape)


def _in_cells(types: Types, likeness: Likeness) -> tuple[Types, Ints]:
    """The same types with the profiles of a cell together, and the first profile of each cell."""
    columns = [name for group in likeness.groups for name in group.columns]
    shown = [types.profiles[name] for name in columns if name in types.profiles]
    length = types.shape[0]
    _, cell = np.unique(np.stack([np.zeros(length), *shown], axis=1), axis=0, return_inverse=True)
    order = np.argsort(cell.reshape(-1), kind="stable")
    starts = np.flatnonzero(np.diff(cell.reshape(-1)[order], prepend=-1)).astype(np.int64)
    return Types({name: codes[order] for name, codes in types.profiles.items()}, types.traits), starts


def _groups(types: Types, starts: Ints, likeness: Likeness, nation: Floats) -> Groups:
    """The groups of the likeness over the cells and traits, with the nation's shares."""
    cells = {name: codes[starts] for name, codes in types.profiles.items()}
    of_cells, of_traits, shares = [], [], []
    for group in likeness.groups:
        on_cells, on_traits = (_combinations(group.columns, records) for records in (cells, types.traits))
        if on_cells is None and on_traits is None:
            both = f"{', '.join(types.profiles)}, or all of {', '.join(types.traits)}"
            raise DataError(f"likeness.yaml, {' '.join(group.columns)}: the columns of a group must be all of {both}")
        of_cells.append(on_cells)
        of_traits.append(on_traits)
        shares.append(_shares(on_cells, nation.sum(axis=1)) + _shares(on_traits, nation.sum(axis=0)))
    return Groups(likeness, tuple(of_cells), tuple(of_traits), tuple(shares), nation)


def _shares(combinations: Rows | None, weights: Floats) -> Floats:
    """The share of each combination, 0 where the group is about other columns."""
    return np.zeros(1) if combinations is None else np.bincount(combinations, weights).astype(np.float64)


def _combinations(columns: tuple[str, ...], records: Records) -> Rows | None:
    """The combination of codes that each record has in these columns, numbered; None where it lacks one of them."""
    if not set(columns) <= set(records):
        return None
    _, number = np.unique(np.stack([records[name] for name in columns], axis=1), axis=0, return_inverse=True)
    return np.asarray(number.reshape(-1), dtype=np.intp)
