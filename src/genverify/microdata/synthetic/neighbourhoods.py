"""The places of a state, and what is common in each: drawn level by level, for the blocks whenever they are read."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from genverify.core.arraytypes import Floats
from genverify.microdata.synthetic.likeness import Neighbours
from genverify.microdata.synthetic.likeness import Places as Drawn
from genverify.microdata.synthetic.places import Places

CHUNK_BLOCKS = 512


@dataclass(frozen=True)
class Neighbourhoods:
    """The blocks of a state, what was drawn for its tracts, and the stream from which its blocks are drawn, always alike."""

    places: Places
    neighbours: Neighbours
    tracts: Drawn
    stream: np.random.SeedSequence

    def blocks(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """The weights f and g of the blocks, a chunk at a time."""
        rng = np.random.default_rng(self.stream)
        for first in range(0, self.places.sizes.size, CHUNK_BLOCKS):
            chunk = slice(first, first + CHUNK_BLOCKS)
            yield chunk, *self.neighbours.weights(self.neighbours.below("block", self.tracts[self.places.tract[chunk]], rng))


def neighbourhoods(neighbours: Neighbours, places: Places, stream: np.random.SeedSequence) -> Neighbourhoods:
    """The tracts of a state, drawn around its counties, these around the state."""
    above, below = stream.spawn(2)
    rng = np.random.default_rng(above)
    state = neighbours.below("state", neighbours.nation(), rng)
    counties = neighbours.below("county", np.repeat(state, int(places.county[-1]) + 1, axis=0), rng)
    return Neighbourhoods(places, neighbours, neighbours.below("tract", counties[places.county], rng), below)
