"""Neighbours resemble each other: the law of the households of a block, and the random tilts that make places differ."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from genverify.core.domain import DomainFile
from genverify.microdata.synthetic.country import LEVELS, Country
from genverify.microdata.synthetic.household_types import (
    Floats,
    Ints,
    Margin,
    Types,
    loadings,
    margins_of,
    occupied_codes,
    odds_of_types,
    possible_types,
    rake,
)
from genverify.microdata.synthetic.places import Places

CHUNK_BLOCKS = 128


@dataclass(frozen=True)
class Model:
    """
    The law of a household: p_block(profile, traits) ~ joint(profile, traits) * f_block(profile) * g_block(traits).

    log f and log g add up the tilts of the block; `spread` has the standard deviation of each tilt at each level.
    Profiles with the same tilts form a cell: they stand together in `types`, `starts` has the first one of each cell.
    A share of the households, the newcomers, do not resemble their neighbours: their law is the national one.
    """

    types: Types
    joint: Floats
    national: Floats
    newcomers: float
    starts: Ints
    on_cells: Floats
    on_traits: Floats
    spread: dict[str, Floats]

    def weights(self, tilts: Floats) -> tuple[Floats, Floats]:
        """f (blocks x cells) and g (blocks x traits), the largest of each row 1, so that nothing overflows."""
        logs = tilts @ self.on_cells, tilts @ self.on_traits
        f, g = (np.exp(log - log.max(axis=1, keepdims=True)) for log in logs)
        return f, g

    def by_cell(self) -> Floats:
        """The joint distribution of cells and traits."""
        return np.add.reduceat(self.joint, self.starts, axis=0)


def build_model(file: DomainFile, country: Country, homogeneity: float) -> tuple[Model, tuple[Margin, ...]]:
    """The model before any place is known: its joint distribution has the national margins where no tilt acts."""
    types, starts = _in_cells(possible_types(file), file, country)
    margins = margins_of(file, country, types)
    joint = rake(odds_of_types(file, country, types), margins).reshape(types.shape)
    cells = loadings(file, country, {name: codes[starts] for name, codes in types.profiles.items()})
    traits, spread = loadings(file, country, types.traits), _spread(file, country, homogeneity)
    return Model(types, joint, joint.ravel(), country.newcomers, starts, cells, traits, spread), margins


def _in_cells(types: Types, file: DomainFile, country: Country) -> tuple[Types, Ints]:
    """The same types with the profiles of a cell together, and the first profile of each cell."""
    _, cell = np.unique(loadings(file, country, types.profiles), axis=1, return_inverse=True)
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1)).astype(np.int64)
    return Types({name: codes[order] for name, codes in types.profiles.items()}, types.traits), starts


def _spread(file: DomainFile, country: Country, homogeneity: float) -> dict[str, Floats]:
    """The standard deviation of each tilt (column and code) at each level."""
    number = [len(occupied_codes(file, tilt.column)) for tilt in country.tilts]
    return {level: homogeneity * np.repeat([tilt.spread[level] for tilt in country.tilts], number) for level in LEVELS}


@dataclass(frozen=True)
class Neighbourhoods:
    """The places of a state with the tilts of its tracts; those of its blocks are drawn again whenever they are read."""

    places: Places
    tracts: Floats
    stream: np.random.SeedSequence

    def block_tilts(self, model: Model) -> Iterator[tuple[slice, Floats]]:
        """The tilts of the blocks, a chunk at a time: those of the tract and the block's own."""
        rng = np.random.default_rng(self.stream)
        for first in range(0, self.places.sizes.size, CHUNK_BLOCKS):
            blocks = slice(first, first + CHUNK_BLOCKS)
            tracts = self.tracts[self.places.tract[blocks]]
            yield blocks, tracts + model.spread["block"] * rng.standard_normal(tracts.shape)


def neighbourhoods(model: Model, places: Places, stream: np.random.SeedSequence) -> Neighbourhoods:
    """The tilts of each tract: those of its state, of its county and its own."""
    above, below = stream.spawn(2)
    rng = np.random.default_rng(above)
    width, tracts, counties = model.on_traits.shape[0], places.county.size, int(places.county[-1]) + 1
    state = model.spread["state"] * rng.standard_normal(width)
    county = model.spread["county"] * rng.standard_normal((counties, width))
    own = model.spread["tract"] * rng.standard_normal((tracts, width))
    return Neighbourhoods(places, state + county[places.county] + own, below)
