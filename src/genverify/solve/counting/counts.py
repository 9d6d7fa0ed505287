"""The distribution of COUNT(a) for any claims: every way through a diagram, told apart by how many records match."""

from math import comb

import numpy as np
import numpy.typing as npt

from genverify.solve.counting.diagram import Diagram
from genverify.solve.counting.weights import Weights

Floats = npt.NDArray[np.float64]
CELLS_AT_ONCE = 6_000_000


def count_distribution(diagram: Diagram, weights: Weights, shares: Floats, top: int) -> Floats:
    """
    P(COUNT = 0), ..., P(COUNT = top), P(COUNT > top): a row per claim. `shares` holds what part of each class matches.

    A class of which a part matches takes its binomial share: within a class, records are drawn by the prior's proportions. A
    probability is 0 or 1 exactly where no class vector says otherwise; below that it is never rounded up to 1.
    """
    asked, which = np.unique(shares, axis=0, return_inverse=True)
    step = max(1, CELLS_AT_ONCE // (diagram.states * (top + 2)))
    parts = [_masses(diagram, weights, asked[at : at + step], top) for at in range(0, len(asked), step)]
    mass = np.concatenate(parts) if parts else np.zeros((0, top + 2))
    total = mass.sum(axis=1, keepdims=True)
    found = np.asarray(mass / np.where(total > 0, total, 1), dtype=np.float64)
    open_ = np.count_nonzero(mass, axis=1) > 1
    found = np.minimum(found, np.where(open_, np.nextafter(1.0, 0.0), 1.0)[:, None])
    return found[which.ravel()]


def _masses(diagram: Diagram, weights: Weights, shares: Floats, top: int) -> npt.NDArray[np.floating]:
    """The weight of all class vectors by the number of matching records."""
    values = np.zeros((diagram.states, len(shares), top + 2), dtype=weights[0].dtype if weights else np.float64)
    values[0, :, 0] = 1
    for step in diagram.steps:
        cls = step[0].cls
        matched = np.flatnonzero(shares[:, cls])
        came = [values[move.source] for move in step]
        for move, ways in zip(step, came, strict=True):
            ways *= weights[cls][move.times]
            if len(matched):
                ways[:, matched] = _shifted(ways[:, matched], shares[matched, cls], move.times)
            values[move.target] += ways
    mass: npt.NDArray[np.floating] = values[diagram.ends].sum(axis=0)
    return mass


def _shifted(ways: npt.NDArray[np.floating], share: Floats, times: int) -> npt.NDArray[np.floating]:
    """The ways after `times` records, each of which matches with the probability `share`; the last place holds all above."""
    found = np.zeros_like(ways)
    last = ways.shape[2] - 1
    for hits in range(times + 1):
        part = comb(times, hits) * share**hits * (1 - share) ** (times - hits)
        if not part.any():
            continue
        moved = ways * part[None, :, None]
        low = min(hits, last)
        found[:, :, low:] += moved[:, :, : last + 1 - low]
        if low:
            found[:, :, last] += moved[:, :, last + 1 - low :].sum(axis=2)
    return found
