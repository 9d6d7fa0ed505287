"""The distribution of COUNT(a) for any claims: every way through a diagram, by how many records match."""

from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Floats, Ints
from genverify.solve.counting.diagram import Diagram
from genverify.solve.counting.weights import Weights

Masses = npt.NDArray[np.floating]
CELLS_AT_ONCE = 4_000_000
CLAIMS_AT_ONCE = 48


def count_distribution(diagram: Diagram, weights: Weights, shares: Floats, top: int) -> Floats:
    """
    P(COUNT = 0), ..., P(COUNT = top), P(COUNT > top): a row per claim. `shares` holds what part of each class matches.

    A class of which a part matches takes its binomial share: within a class, records are drawn by the prior's proportions. A
    probability is 0 or 1 exactly where no class vector says otherwise; below that it is never rounded up to 1.
    """
    asked, which = np.unique(shares, axis=0, return_inverse=True)
    mass = _Counting(diagram, weights, asked, top, above=True).masses()
    total = mass.sum(axis=1, keepdims=True)
    found = np.asarray(mass / np.where(total > 0, total, 1), dtype=np.float64)
    open_ = np.count_nonzero(mass, axis=1) > 1
    found = np.minimum(found, np.where(open_, np.nextafter(1.0, 0.0), 1.0)[:, None])
    return found[which.ravel()]


def count_probability(diagram: Diagram, weights: Weights, shares: Floats, m: int, total: Any) -> Floats:
    """
    P(COUNT = m) of every claim, from the weight of all class vectors. Counts above m are asked for only where none below it
    is possible: nowhere else can the claim be certain.
    """
    asked, which = np.unique(shares, axis=0, return_inverse=True)
    mass = _Counting(diagram, weights, asked, m, above=False).masses()
    found = np.minimum(np.asarray(mass[:, m] / total, dtype=np.float64), np.nextafter(1.0, 0.0))
    perhaps = np.flatnonzero((mass[:, :m] == 0).all(axis=1) & (mass[:, m] > 0))
    if len(perhaps):
        found[perhaps] = count_distribution(diagram, weights, asked[perhaps], m)[:, m]
    return found[which.ravel()]


def no_match(diagram: Diagram, weights: Weights, shares: Floats, total: Any) -> Floats:
    """P(COUNT = 0) of every claim, 0 exactly where some record matches in every class vector."""
    asked, which = np.unique(shares, axis=0, return_inverse=True)
    mass = _Counting(diagram, weights, asked, 0, above=False).masses()[:, 0]
    return np.asarray(mass / total, dtype=np.float64)[which.ravel()]


class _Counting:
    """
    The weight of all class vectors by the number of matching records. A claim needs its own sums only between the first and
    the last step that it has a part in: the ways to the first and from the last are the same for all claims.
    """

    def __init__(self, diagram: Diagram, weights: Weights, shares: Floats, top: int, above: bool) -> None:
        self.diagram, self.weights, self.shares = diagram, weights, shares
        self.places, self.above = top + 1 + above, above
        self.kind = weights[0].dtype if weights else np.dtype(np.float64)
        classes = [step[0].cls for step in diagram.steps]
        matched = shares[:, classes] > 0 if classes else np.zeros((len(shares), 1), dtype=bool)
        steps = len(classes)
        self.first = np.where(matched.any(axis=1), matched.argmax(axis=1), steps)
        self.last = np.where(matched.any(axis=1), steps - 1 - matched[:, ::-1].argmax(axis=1), steps - 1)

    def masses(self) -> Masses:
        """A row per claim: the weight of 0, 1, ..., top matches, and, where it is asked for, of more."""
        found = np.zeros((len(self.shares), self.places), dtype=self.kind)
        groups = list(self._groups())
        ahead = self._ahead({int(self.last[group].max()) + 1 for group in groups})
        behind, at = np.zeros(self.diagram.states, dtype=self.kind), 0
        behind[0] = 1
        for group in groups:
            start, end = int(self.first[group].min()), int(self.last[group].max()) + 1
            for step in range(at, start):
                self._walk(behind, step)
            at = start
            found[group] = self._between(group, behind, start, end, ahead[end])
        return found

    def _groups(self) -> Iterator[Ints]:
        """Claims that begin at nearly the same step, a number of them at a time."""
        order = np.lexsort((self.last, self.first))
        size = max(1, min(CLAIMS_AT_ONCE, CELLS_AT_ONCE // (self.diagram.states * self.places)))
        for place in range(0, len(order), size):
            yield order[place : place + size]

    def _walk(self, behind: Masses, step: int) -> None:
        moves = self.diagram.steps[step]
        for move, came in zip(moves, [behind[move.source] for move in moves], strict=True):
            behind[move.target] += came * self.weights[move.cls][move.times]

    def _ahead(self, wanted: set[int]) -> dict[int, Masses]:
        """The weight of all ways from each state to an end, before each of the wanted steps."""
        ahead = np.zeros(self.diagram.states, dtype=self.kind)
        ahead[self.diagram.ends] = 1
        found = {}
        for step in range(len(self.diagram.steps), -1, -1):
            if step < len(self.diagram.steps):
                moves = self.diagram.steps[step]
                for move, goes in zip(moves, [ahead[move.target] for move in moves], strict=True):
                    ahead[move.source] += goes * self.weights[move.cls][move.times]
            if step in wanted:
                found[step] = ahead.copy()
        return found

    def _between(self, group: Ints, behind: Masses, start: int, end: int, ahead: Masses) -> Masses:
        shares = self.shares[group]
        values = np.zeros((self.diagram.states, len(group), self.places), dtype=self.kind)
        values[:, :, 0] = behind[:, None]
        for moves in self.diagram.steps[start:end]:
            cls = moves[0].cls
            matched = np.flatnonzero(shares[:, cls])
            for move, ways in zip(moves, [values.take(move.source, axis=0) for move in moves], strict=True):
                ways *= self.weights[cls][move.times]
                if len(matched):
                    ways[:, matched] = _shifted(ways[:, matched], shares[matched, cls], move.times, self.above)
                values[move.target] += ways
        found: Masses = (ahead @ values.reshape(len(values), -1)).reshape(len(group), self.places)
        return found


def _shifted(ways: Masses, share: Floats, times: int, above: bool) -> Masses:
    """
    The ways after `times` records, each of which matches with the probability `share`. Ways with more matches than there are
    places are in the last place (above), or given up.
    """
    found = np.zeros_like(ways)
    last = ways.shape[2] - 1
    for hits in range(times + 1 if above else min(times, last) + 1):
        part = comb(times, hits) * share**hits * (1 - share) ** (times - hits)
        if not part.any():
            continue
        moved = ways * part[None, :, None]
        low = min(hits, last)
        found[:, :, low:] += moved[:, :, : last + 1 - low]
        if low and above:
            found[:, :, last] += moved[:, :, last + 1 - low :].sum(axis=2)
    return found
