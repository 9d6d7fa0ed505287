"""Neighbours resemble each other: the law of the households of a block, and the random tilts that make places differ."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from genverify.domain import DomainFile
from genverify.microdata.synthetic.country import Country
from genverify.microdata.synthetic.places import Places
from genverify.microdata.synthetic.types import (
    Floats,
    Margin,
    Types,
    loadings,
    margins_of,
    occupied_codes,
    odds_of_types,
    possible_types,
    rake,
)

CHUNK_BLOCKS = 128


@dataclass(frozen=True)
class Model:
    """
    The law of a household: p_block(profile, traits) ~ joint(profile, traits) * f_block(profile) * g_block(traits).

    log f and log g add up the tilts of the block; `spread` has the standard deviation of each tilt at each level.
    A share of the households, the newcomers, do not resemble their neighbours: their law is the national one.
    """

    types: Types
    joint: Floats
    national: Floats
    newcomers: float
    on_profiles: Floats
    on_traits: Floats
    spread: dict[str, Floats]

    def weights(self, tilts: Floats) -> tuple[Floats, Floats]:
        """f (blocks x profiles) and g (blocks x traits), the largest of each row 1, so that nothing overflows."""
        logs = tilts @ self.on_profiles, tilts @ self.on_traits
        f, g = (np.exp(log - log.max(axis=1, keepdims=True)) for log in logs)
        return f, g


def build_model(file: DomainFile, country: Country, homogeneity: float) -> tuple[Model, tuple[Margin, ...]]:
    """The model before any place is known: its joint distribution has the national margins where no tilt acts."""
    types = possible_types(file)
    margins = margins_of(file, country, types)
    joint = rake(odds_of_types(file, country, types), margins).reshape(types.shape)
    number = [len(occupied_codes(file, tilt.column)) for tilt in country.tilts]
    spread = {
        level: homogeneity * np.repeat([tilt.spread[level] for tilt in country.tilts], number)
        for level in country.tilts[0].spread
    }
    profiles, traits = loadings(file, country, types.profiles), loadings(file, country, types.traits)
    return Model(types, joint, joint.ravel(), country.newcomers, profiles, traits, spread), margins


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
