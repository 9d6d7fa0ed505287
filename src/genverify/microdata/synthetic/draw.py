"""Draw the households of a state from the law of their blocks."""

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.microdata.synthetic.likeness import sources
from genverify.microdata.synthetic.model import Model
from genverify.microdata.synthetic.neighbourhoods import Neighbourhoods
from genverify.microdata.synthetic.pick import pick, pick_cells


def draw_types(model: Model, state: Neighbourhoods, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """The profile and the traits of every household of a state, block by block."""
    law = model.by_cell(), _cumulated(model)
    drawn = [_draw(model, law, f, g, state.places.sizes[chunk], rng) for chunk, f, g in state.blocks()]
    return np.concatenate([profiles for profiles, _ in drawn]), np.concatenate([traits for _, traits in drawn])


def _draw(
    model: Model, law: tuple[Floats, Floats], f: Floats, g: Floats, sizes: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Draw the cell and the traits of each household, its profile given both; then the newcomers and the copies."""
    block = np.repeat(np.arange(sizes.size), sizes)
    uniform = rng.random((block.size, 4))
    cells, traits = pick_cells(law[0], f, g, block, uniform[:, :2])
    profiles = _profiles(model.starts, law[1], cells, traits, uniform[:, 2])
    new = np.flatnonzero(uniform[:, 3] < model.newcomers)
    if new.size:
        drawn = pick(model.national, np.zeros_like(new), uniform[new, 3] / model.newcomers)
        profiles[new], traits[new] = np.divmod(drawn, g.shape[1])
    source = sources(block, model.neighbours.copies(), rng)
    return profiles[source], traits[source]


def _cumulated(model: Model) -> Floats:
    """The joint distribution summed up over the profiles, for each combination of traits."""
    cumulated = np.cumsum(model.joint, axis=0)
    return np.asarray(cumulated / cumulated[-1], dtype=np.float64)


def _profiles(starts: Ints, cumulated: Floats, cells: Ints, traits: Ints, uniform: Floats) -> Ints:
    """A profile of each given cell, by the joint distribution: within a cell all blocks are alike."""
    first = starts[cells]
    last = np.append(starts[1:], len(cumulated))[cells] - 1
    below = np.where(first > 0, cumulated[first - 1, traits], 0.0)
    sought = below + uniform * (cumulated[last, traits] - below)
    rows = np.arange(cumulated.shape[1])
    flat = (cumulated + rows).T.ravel()
    found = np.searchsorted(flat, sought + traits, side="right") - traits * len(cumulated)
    return np.asarray(np.clip(found, first, last), dtype=np.int64)
