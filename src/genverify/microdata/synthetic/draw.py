"""Draw the households of a state from the law of their blocks."""

import numpy as np
import numpy.typing as npt

from genverify.microdata.synthetic.model import Model, Neighbourhoods
from genverify.microdata.synthetic.types import Floats, Ints


def draw_types(model: Model, state: Neighbourhoods, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """The profile and the traits of every household of a state, block by block."""
    drawn = [_draw(model, tilts, state.places.sizes[blocks], rng) for blocks, tilts in state.block_tilts(model)]
    return np.concatenate([profiles for profiles, _ in drawn]), np.concatenate([traits for _, traits in drawn])


def _draw(model: Model, tilts: Floats, sizes: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw the traits of each household, then its profile; households of one block with the same traits share weights."""
    f, g = model.weights(tilts)
    block = np.repeat(np.arange(sizes.size), sizes)
    uniform = rng.random((block.size, 3))
    traits = pick((f @ model.joint) * g, block, uniform[:, 0])
    pairs, pair = np.unique(block * g.shape[1] + traits, return_inverse=True)
    blocks, shared = np.divmod(pairs, g.shape[1])
    profiles = pick(f[blocks] * model.joint.T[shared], pair, uniform[:, 1])
    new = np.flatnonzero(uniform[:, 2] < model.newcomers)
    drawn = pick(model.national[None, :], np.zeros_like(new), uniform[new, 2] / model.newcomers)
    profiles[new], traits[new] = np.divmod(drawn, g.shape[1])
    return profiles, traits


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
    return np.minimum(found, weights.shape[1] - 1)
