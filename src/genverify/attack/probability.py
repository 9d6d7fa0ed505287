"""How likely is what is not certain: exact probabilities of claims and rows given a release and a prior, exact draws."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.core.claims import Codes
from genverify.core.errors import ReleaseError
from genverify.solve.counting.counts import count_distribution, count_probability, no_match
from genverify.solve.counting.diagram import BUDGET, Budget, Diagram, draw_diagram
from genverify.solve.counting.draw import draw_vectors
from genverify.solve.counting.passes import Forward, class_counts, count_datasets, count_vectors, forward
from genverify.solve.counting.prior import Masses, Prior, lay_on
from genverify.solve.counting.weights import UnlikelyRelease, Weights, prior_weights, records_of_classes, rounding
from genverify.solve.program import Program


@dataclass(frozen=True)
class Counted:
    """The datasets that fit a release, counted: how many class vectors and datasets there are, in exact integers."""

    program: Program
    diagram: Diagram

    @cached_property
    def vectors(self) -> int:
        return count_vectors(self.diagram)

    @cached_property
    def datasets(self) -> int:
        return count_datasets(self.diagram, records_of_classes(self.program))

    def posterior(self, prior: Prior) -> "Posterior":
        """What follows for records that are drawn from the prior; an error where the prior rules the release out."""
        masses = lay_on(prior, self.program)
        weights = prior_weights(self.diagram, masses.of_classes, self.program.n)
        found = forward(self.diagram, weights)
        if not found.total > 0:
            raise _unlikely(self.program, masses, prior)
        return Posterior(self.program, self.diagram, prior, masses, weights, found)


def count_release(program: Program, budget: Budget = BUDGET) -> Counted:
    """Count the datasets that fit a program, within a budget; an error where none does."""
    diagram = draw_diagram(program, budget)
    if not len(diagram.ends):
        raise ReleaseError(
            f"block {program.release.block}: no dataset fits the published counts, so nothing has a probability"
        )
    return Counted(program, diagram)


def _unlikely(program: Program, masses: Masses, prior: Prior) -> UnlikelyRelease:
    """Which published cell asks for records that the prior gives no weight, where one does."""
    without = (masses.of_classes[None, :] * program.A).sum(axis=1) == 0
    cells = [program.rows[row] for row in np.flatnonzero(without & (program.lo > 0))]
    where = (
        f"cell {cells[0]} counts records, and all that it could hold" if cells else "some record of every dataset that fits"
    )
    return UnlikelyRelease(
        f"block {program.release.block}: prior {prior.name} gives probability 0 to the release: {where} has weight 0 there. "
        "Give every record that can exist some weight (a floor)."
    )


@dataclass(frozen=True)
class Posterior:
    """All datasets that fit a release, weighed by a prior: N records drawn independently, given the published counts."""

    program: Program
    diagram: Diagram
    prior: Prior
    masses: Masses
    weights: Weights
    found: Forward

    @property
    def error(self) -> float:
        """A bound on the relative error of every probability: a quotient of two sums of positive terms over all states."""
        return 2 * rounding(self.diagram) + self.diagram.states * float(np.finfo(np.float64).eps)

    def distribution(self, codes: Codes, top: int) -> Floats:
        """P(COUNT = 0), ..., P(COUNT = top), P(COUNT > top) of every row of codes."""
        return count_distribution(self.diagram, self.weights, self.masses.shares(codes), top)

    def probabilities(self, codes: Codes, m: Ints) -> Floats:
        """P(R(a, m)) of every claim: 1 exactly if it is certain, below 1 if not."""
        found = np.zeros(len(m))
        for top in np.unique(m).tolist():
            asked = np.flatnonzero(m == top)
            shares = self.masses.shares(codes[asked])
            found[asked] = count_probability(self.diagram, self.weights, shares, top, self.found.total)
        return found

    def present(self, codes: Codes) -> Floats:
        """The probability that at least one record matches: 1 exactly if that is certain, below 1 if not."""
        absent = no_match(self.diagram, self.weights, self.masses.shares(codes), self.found.total)
        return np.where(absent > 0, np.clip(1 - absent, 0, np.nextafter(1.0, 0.0)), 1.0)

    @cached_property
    def class_counts(self) -> Floats:
        """The distribution of every class count, a row per class."""
        return class_counts(self.diagram, self.weights, self.found)

    def rows(self, most: int) -> tuple[Codes, Floats]:
        """
        The records that are most likely to be in the block, with the probability that at least one is, the likeliest first.

        Records of a class that have the floor's weight alone are equally likely: only a number of them are listed.
        """
        records, shares, classes = self.masses.listed(self.class_counts[:, 0] < 1, most)
        counts = np.arange(self.class_counts.shape[1])
        absent = (self.class_counts[classes] * (1 - shares[:, None]) ** counts).sum(axis=1)
        order = np.lexsort((*records.T[::-1], -(1 - absent)))[:most]
        return records[order], np.clip(1 - absent[order], 0, 1)

    def draw(self, draws: int, rng: np.random.Generator) -> Codes:
        """Independent datasets, each with its probability: shape (draws, N, columns), the records of each sorted."""
        vectors = draw_vectors(self.diagram, self.weights, self.found, draws, rng)
        return np.array([self.masses.draw(z, rng) for z in vectors])
