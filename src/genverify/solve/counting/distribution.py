"""The distribution of COUNT(a) over the datasets that fit, and draws of them: exact, or by a Markov chain if too many."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Floats, Ints, positions
from genverify.solve.counting import diagram as counting

# The distribution of COUNT(a) for any claims: every way through a diagram, by how many records match.

Masses = npt.NDArray[np.floating]
CELLS_AT_ONCE = 4_000_000  # bounds memory: states times places times claims
CLAIMS_AT_ONCE = 48  # a group is carried from the first step of any of its claims to the last: more claims, more steps


def count_distribution(diagram: counting.Diagram, weights: counting.Weights, shares: Floats, top: int) -> Floats:
    """
    P(COUNT = 0), ..., P(COUNT = top), P(COUNT > top): a row per claim. `shares` holds what part of each class matches.

    A class of which a part matches takes its binomial share: within a class, records are drawn by the prior's proportions. A
    probability is 0 or 1 exactly where no class vector says otherwise; below that it is never rounded up to 1.
    """
    asked, which = np.unique(shares, axis=0, return_inverse=True)
    mass = _Counting(diagram, weights, asked, top, above=True).masses()
    total = mass.sum(axis=1, keepdims=True)
    result = np.asarray(mass / np.where(total > 0, total, 1), dtype=np.float64)
    open_ = np.count_nonzero(mass, axis=1) > 1
    result = np.minimum(result, np.where(open_, np.nextafter(1.0, 0.0), 1.0)[:, None])
    return result[which.ravel()]


def count_probability(diagram: counting.Diagram, weights: counting.Weights, shares: Floats, m: int, total: Any) -> Floats:
    """P(COUNT = m) of every claim; counts above m are asked for only where none below it is possible (it may be 1)."""
    asked, which = np.unique(shares, axis=0, return_inverse=True)
    mass = _Counting(diagram, weights, asked, m, above=False).masses()
    result = np.minimum(np.asarray(mass[:, m] / total, dtype=np.float64), np.nextafter(1.0, 0.0))
    perhaps = np.flatnonzero((mass[:, :m] == 0).all(axis=1) & (mass[:, m] > 0))
    if len(perhaps):
        result[perhaps] = count_distribution(diagram, weights, asked[perhaps], m)[:, m]
    return result[which.ravel()]


class _Counting:
    """
    The weight of all class vectors by the number of matching records. A claim needs its own sums only between the first and
    the last step that it has a part in: the ways to the first and from the last are the same for all claims.
    """

    def __init__(self, diagram: counting.Diagram, weights: counting.Weights, shares: Floats, top: int, above: bool) -> None:
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
        result = np.zeros((len(self.shares), self.places), dtype=self.kind)
        groups = list(self._groups())
        wanted = {int(self.last[group].max()) + 1 for group in groups}
        steps = range(len(self.diagram.steps), -1, -1)
        back = zip(steps, counting.backward(self.diagram, self.weights), strict=True)
        ahead = {step: ways.copy() for step, ways in back if step in wanted}
        behind, at = np.zeros(self.diagram.states, dtype=self.kind), 0
        behind[0] = 1
        for group in groups:
            start, end = int(self.first[group].min()), int(self.last[group].max()) + 1
            for step in range(at, start):
                counting.advance(behind, self.diagram.steps[step], self.weights)
            at = start
            result[group] = self._between(group, behind, start, end, ahead[end])
        return result

    def _groups(self) -> Iterator[Ints]:
        """Claims that begin at nearly the same step, a number of them at a time."""
        order = np.lexsort((self.last, self.first))
        size = max(1, min(CLAIMS_AT_ONCE, CELLS_AT_ONCE // (self.diagram.states * self.places)))
        for index in range(0, len(order), size):
            yield order[index : index + size]

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
        result: Masses = (ahead @ values.reshape(len(values), -1)).reshape(len(group), self.places)
        return result


def _shifted(ways: Masses, share: Floats, times: int, above: bool) -> Masses:
    """The ways after `times` records that match with the chance `share`; those beyond the last place in it, or given up."""
    result = np.zeros_like(ways)
    last = ways.shape[2] - 1
    for hits in range(times + 1 if above else min(times, last) + 1):
        part = comb(times, hits) * share**hits * (1 - share) ** (times - hits)
        if not part.any():
            continue
        moved = ways * part[None, :, None]
        low = min(hits, last)
        result[:, :, low:] += moved[:, :, : last + 1 - low]
        if low and above:
            result[:, :, last] += moved[:, :, last + 1 - low :].sum(axis=2)
    return result


# Exact draws: class vectors that fit, each with its probability under the weights, independent of each other.


def draw_vectors(
    diagram: counting.Diagram, weights: counting.Weights, result: counting.Forward, draws: int, rng: np.random.Generator
) -> Ints:
    """Class vectors, one row each: walked back from an end, every step with the weight of the ways that lead to it."""
    vectors = np.zeros((draws, diagram.classes), dtype=np.int64)
    values = result.values.copy()
    ends = np.cumsum(values[diagram.ends])
    at = diagram.ends[_pick(ends[None, :] / ends[-1], rng.random(draws))].astype(np.int64)
    for step, before, stayed in zip(reversed(diagram.steps), reversed(result.before), reversed(result.stayed), strict=True):
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


def _came(
    step: tuple[counting.Moves, ...], before: tuple[npt.NDArray[np.floating], ...], weights: counting.Weights, at: Ints
) -> Ints:
    """For every move of a step, the weight of the ways that reach each state by it."""
    rows = []
    for move, came in zip(step, before, strict=True):
        index = positions(move.target, at)
        rows.append(np.where(index >= 0, came[index] * weights[move.cls][move.times], 0))
    return np.array(rows)


def _pick(shares: npt.NDArray[np.floating], dice: npt.NDArray[np.float64]) -> Ints:
    """For each die, the first index whose running share lies above it."""
    indices: Ints = np.minimum((shares <= dice[:, None]).sum(axis=1), shares.shape[1] - 1)
    return indices


# A Markov chain on the datasets that fit, for programs that are too large to count: some records at a time are drawn
# again, exactly, given the others.
#
# Every step leaves the posterior as it is (Gibbs): records whose diagram is too large stay as they are, and whether it is
# depends on the other records only. How many are drawn again is set while the first draws are left out, and then stays.
# Whether every dataset is reached from every other is not proved: exchanges of few records may not connect them. A chain
# whose step draws all records again is irreducible; it is then plain sampling.

SMALL = counting.Budget(states=counting.FIRST_RACE, moves=100_000, seconds=30.0)
MORE = 1.25  # records that a step draws again, for those before: tried as long as the diagrams stay small


@dataclass(frozen=True)
class Step:
    """Class counts after a step of a chain, and before it without the records that it drew again, from a diagram if any."""

    z: Ints
    remaining: Ints
    useful: Ints
    diagram: counting.Diagram | None
    weights: counting.Weights

    def chance(self, shares: Floats, m: int) -> float:
        """P(COUNT = m) given the records that were not drawn again; `shares`: what part of each class matches."""
        result = np.eye(1, m + 1)[0]
        for cls in np.flatnonzero(self.remaining * shares).tolist():
            times, share = int(self.remaining[cls]), float(shares[cls])
            hits = np.array([comb(times, h) * share**h * (1 - share) ** (times - h) for h in range(min(times, m) + 1)])
            result = np.convolve(result, hits)[: m + 1]
        if self.diagram is None:
            return float(result[m])
        drawn = count_distribution(self.diagram, self.weights, shares[None, self.useful], m)[0, : m + 1]
        return float(result @ drawn[::-1])


def _redraw(rows: counting.System, mass: Floats, z: Ints, records: int, rng: np.random.Generator) -> Step:
    """Some records are drawn again, given the others; none where counting them is too much."""
    chosen = rng.choice(np.repeat(np.arange(len(z)), z), records, replace=False)
    remaining = z - np.bincount(chosen, minlength=len(z))
    counts = rows.A @ remaining
    lo, hi = np.maximum(rows.lo - counts, 0), rows.hi - counts
    useful = np.flatnonzero((hi[:, None] >= rows.A).all(axis=0) & (mass > 0))
    A = rows.A[:, useful]
    open_ = A.any(axis=1)  # the other rows have all their records; those that are drawn again fitted into these
    try:
        diagram = counting.draw_diagram(counting.System(A[open_], lo[open_], hi[open_]), SMALL)
    except counting.TooManyStates:
        return Step(z, z, useful, None, [])
    weights = counting.prior_weights(diagram, mass[useful], len(chosen))
    fresh = remaining.copy()
    fresh[useful] += draw_vectors(diagram, weights, counting.forward(diagram, weights), 1, rng)[0]
    return Step(fresh, remaining, useful, diagram, weights)


def run_chain(
    system: counting.System, mass: Floats, start: Ints, records: int, draws: int, between: int, rng: np.random.Generator
) -> Iterator[Step]:
    """Every `between`th step of a chain, the first of its draws left out as long as half of them."""
    most, z, counted = int(start.sum()), start, 1
    for number in range((draws + draws // 2) * between):
        burnt_in = number >= draws // 2 * between
        step = _redraw(system, mass, z, min(counted if burnt_in else records, most), rng)
        if not burnt_in:
            counted = counted if step.diagram is None else min(records, most)
            records = max(1, int(records / MORE)) if step.diagram is None else int(records * MORE) + 1
        elif (number + 1) % between == 0:
            yield step
        z = step.z
