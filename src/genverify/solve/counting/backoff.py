"""
Back-off smoothing: how likely a record is, estimated from a sample by margins of several orders, down to equal chances.

Columns are taken one after another. How likely a code is given the columns before it is estimated from the sampled records
that agree with them in some columns; where few do, from those that agree in fewer columns, and in the end all codes are alike.
Which columns, and how many records weigh as much as the estimate with one column less (the strength), is chosen by leaving
out one record after another: each is predicted from all others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from genverify.model.arrays import Flags, Floats, positions, row_keys
from genverify.model.claims import Codes
from genverify.model.domain import Domain

STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # less than 1 was worse for every sample of under 400 real households
GAIN = 2.0  # nats on the whole sample for one more column: 0.5 to 4 do alike for 100 and more real households


@dataclass(frozen=True)
class Order:
    """A margin of the back-off: a column given others, and the records that the estimate with one column less weighs."""

    column: int
    given: tuple[int, ...]
    strength: float


@dataclass(frozen=True)
class Sample:
    """Sampled records with their weights; `one` is how much of a weight goes when one record is left out."""

    domain: Domain
    records: Codes
    weights: Floats
    one: Floats

    def agreeing(self, records: Codes, columns: Sequence[int]) -> Floats:
        """The weight of the sampled records that agree with each record in some columns."""
        if not columns:
            return np.full(len(records), self.weights.sum())
        chosen = list(columns)
        known, wanted = row_keys([self.records[:, chosen], records[:, chosen]])
        kinds, index = np.unique(known, return_inverse=True)
        sums = np.append(np.bincount(index.ravel(), self.weights, minlength=len(kinds)), 0.0)
        return np.asarray(sums[positions(kinds, wanted)])

    def smoothed(self, order: Order, records: Codes, coarse: Floats, left_out: Floats | float = 0.0) -> Floats:
        """How likely the code of each record is given an order, from the estimate with one column less."""
        whole = self.agreeing(records, order.given) - left_out
        part = self.agreeing(records, (*order.given, order.column)) - left_out
        return np.asarray((np.maximum(part, 0) + order.strength * coarse) / (np.maximum(whole, 0) + order.strength))


def sample_of(domain: Domain, records: Codes, weights: Floats) -> Sample:
    """
    Records of a sample. Whole weights, each record listed once, say how often it was sampled; otherwise a row is one record,
    and its weight says how many people it stands for, of which only the proportions matter.
    """
    once = len(np.unique(records, axis=0)) == len(records)
    counts: Flags = weights % 1 == 0
    if once and counts.all():
        return Sample(domain, records, weights, np.minimum(weights, 1.0))
    relative = weights * (np.count_nonzero(weights) / weights.sum())
    return Sample(domain, records, relative, relative)


def fit_orders(sample: Sample) -> tuple[Order, ...]:
    """The orders of every column, the coarsest first, chosen by how likely they make each record that is left out."""
    return tuple(order for column in range(len(sample.domain.names)) for order in _orders_of(sample, column))


def _orders_of(sample: Sample, column: int) -> Iterator[Order]:
    chance = np.full(len(sample.records), 1 / len(sample.domain.columns[column].codes))
    best, given = -np.inf, tuple[int, ...]()
    tried: list[tuple[int, ...]] = [()]
    while tried:
        orders = [Order(column, columns, strength) for columns in tried for strength in STRENGTHS]
        chances = [sample.smoothed(order, sample.records, chance, sample.one) for order in orders]
        likelihoods = [float(sample.weights @ np.log(one)) for one in chances]
        index = int(np.argmax(likelihoods))
        if likelihoods[index] <= best + (GAIN if given or np.isfinite(best) else 0.0):
            return
        best, chance, given = likelihoods[index], chances[index], orders[index].given
        yield orders[index]
        tried = [(*given, other) for other in range(column) if other not in given]


def chances_of(sample: Sample, orders: Sequence[Order], records: Codes) -> Floats:
    """How likely each record is; the chances of all records of the domain add up to 1."""
    result = np.ones(len(records))
    for column, of_column in groupby(orders, key=lambda order: order.column):
        chance = np.full(len(records), 1 / len(sample.domain.columns[column].codes))
        for order in of_column:
            chance = sample.smoothed(order, records, chance)
        result *= chance
    return result
