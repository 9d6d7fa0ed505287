"""Exact draws: class vectors that fit, each with its probability under the weights, independent of each other."""

import numpy as np
import numpy.typing as npt

from genverify.core.arrays import positions
from genverify.core.arraytypes import Ints
from genverify.solve.counting.diagram import Diagram, Moves
from genverify.solve.counting.passes import Forward
from genverify.solve.counting.weights import Weights


def draw_vectors(diagram: Diagram, weights: Weights, found: Forward, draws: int, rng: np.random.Generator) -> Ints:
    """Class vectors, one row each: walked back from an end, every step with the weight of the ways that lead to it."""
    vectors = np.zeros((draws, diagram.classes), dtype=np.int64)
    values = found.values.copy()
    ends = np.cumsum(values[diagram.ends])
    at = diagram.ends[_pick(ends[None, :] / ends[-1], rng.random(draws))].astype(np.int64)
    for step, before, stayed in zip(reversed(diagram.steps), reversed(found.before), reversed(found.stayed), strict=True):
        for move, old in zip(step, stayed, strict=True):
            values[move.target] = old
        came = _came(step, before, weights, at)
        shares = np.cumsum(np.concatenate([values[at][None, :], came]), axis=0).T
        chosen = _pick(shares / shares[:, -1:], rng.random(draws))
        for number, move in enumerate(step, 1):
            took = chosen == number
            vectors[took, move.cls] = move.times
            at[took] = move.source[positions(move.target, at[took])]
    return vectors


def _came(step: tuple[Moves, ...], before: tuple[npt.NDArray[np.floating], ...], weights: Weights, at: Ints) -> Ints:
    """For every move of a step, the weight of the ways that reach each state by it."""
    rows = []
    for move, came in zip(step, before, strict=True):
        place = positions(move.target, at)
        rows.append(np.where(place >= 0, came[place] * weights[move.cls][move.times], 0))
    return np.array(rows)


def _pick(shares: npt.NDArray[np.floating], dice: npt.NDArray[np.float64]) -> Ints:
    """For each die, the first place whose running share lies above it."""
    places: Ints = np.minimum((shares <= dice[:, None]).sum(axis=1), shares.shape[1] - 1)
    return places


def all_vectors(diagram: Diagram) -> list[Ints]:
    """Every class vector that fits, for diagrams with few of them."""
    ways: dict[int, list[Ints]] = {0: [np.zeros(diagram.classes, dtype=np.int64)]}
    for step in diagram.steps:
        before = dict(ways)
        for move in step:
            taken = np.zeros(diagram.classes, dtype=np.int64)
            taken[move.cls] = move.times
            for source, target in zip(move.source.tolist(), move.target.tolist(), strict=True):
                ways[target] = [*ways.get(target, []), *(z + taken for z in before.get(source, []))]
    return [z for end in diagram.ends.tolist() for z in ways.get(end, [])]
