"""Draw the households of a state from the law of their blocks."""

import numpy as np
import numpy.typing as npt

from genverify.microdata.synthetic.household_types import Floats, Ints
from genverify.microdata.synthetic.model import Model, Neighbourhoods


def draw_types(model: Model, state: Neighbourhoods, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """The profile and the traits of every household of a state, block by block."""
    drawn = [_draw(model, tilts, state.places.sizes[blocks], rng) for blocks, tilts in state.block_tilts(model)]
    return np.concatenate([profiles for profiles, _ in drawn]), np.concatenate([traits for _, traits in drawn])


def _draw(model: Model, tilts: Floats, sizes: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw the traits of each household, its cell given the traits, its profile given both; then the newcomers."""
    f, g = model.weights(tilts)
    joint = model.by_cell()
    block = np.repeat(np.arange(sizes.size), sizes)
    uniform = rng.random((block.size, 4))
    traits = pick((f @ joint) * g, block, uniform[:, 0])
    pairs, pair = np.unique(block * g.shape[1] + traits, return_inverse=True)
    blocks, shared = np.divmod(pairs, g.shape[1])
    cells = pick(f[blocks] * joint.T[shared], pair, uniform[:, 1])
    profiles = _profiles(model, cells, traits, uniform[:, 2])
    new = np.flatnonzero(uniform[:, 3] < model.newcomers)
    drawn = pick(model.national[None, :], np.zeros_like(new), uniform[new, 3] / model.newcomers)
    profiles[new], traits[new] = np.divmod(drawn, g.shape[1])
    return profiles, traits


def _profiles(model: Model, cells: Ints, traits: Ints, uniform: Floats) -> Ints:
    """A profile of each given cell, by the joint distribution: within a cell all blocks are alike."""
    cumulated = np.cumsum(model.joint, axis=0)
    cumulated /= cumulated[-1]
    first = model.starts[cells]
    last = np.append(model.starts[1:], len(cumulated))[cells] - 1
    below = np.where(first > 0, cumulated[first - 1, traits], 0.0)
    sought = below + uniform * (cumulated[last, traits] - below)
    rows = np.arange(cumulated.shape[1])
    flat = (cumulated + rows).T.ravel()
    found = np.searchsorted(flat, sought + traits, side="right") - traits * len(cumulated)
    return np.asarray(np.clip(found, first, last), dtype=np.int64)


def pick(weights: Floats, row: npt.NDArray[np.intp], uniform: Floats) -> Ints:
    """
    For each draw, a column of its row of weights, with a chance in proportion to the weight.

    >>> pick(np.array([[1.0, 3.0], [1.0, 0.0]]), np.array([0, 0, 1]), np.array([0.2, 0.3, 0.9])).tolist()
    [0, 1, 0]
    """
    cumulated = np.cumsum(weights, axis=1)
    cumulated /= cumulated[:, -1:]
    cumulated += np.arange(len(weights))[:, None]
    found = np.searchsorted(cumulated.ravel(), row + uniform, side="right") - row * weights.shape[1]
    return np.asarray(np.minimum(found, weights.shape[1] - 1), dtype=np.int64)
