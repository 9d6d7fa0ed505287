"""
Back-off smoothing: how likely a record is, estimated from a sample by margins of several orders, down to equal chances.

Columns are taken one after another. How likely a code is given the columns before it is estimated from the sampled records
that agree with them in some columns; where few do, from those that agree in fewer columns; in the end all codes are alike.
Which columns, and how many records weigh as much as the estimate with one column less (the strength), is chosen by leaving
out one record after another: each is predicted from all others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from genverify.model.arrays import Floats, positions, row_keys
from genverify.model.claims import Codes
from genverify.model.domain import Domain

STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # below 1 was worse for samples of up to 400 real households
GAIN = 2.0  # nats on the whole sample for one more column: 0.5 to 4 do alike for 100 and more real households


@dataclass(frozen=True)
class Order:
    """A margin of the back-off: a column given others, and the records that the estimate with one column less weighs."""

    column: int
    given: tuple[int, ...]
    strength: float


@dataclass(frozen=True)
class Sample:
    """
    Sampled records with their weights; `one` is how much of a weight goes when one record is left out. `as_counts`: weights
    were given and taken for numbers of sampled records, because they are whole and no record is listed twice.
    """

    domain: Domain
    records: Codes
    weights: Floats
    one: Floats
    as_counts: bool = False

    def agreeing(self, records: Codes, columns: Sequence[int]) -> Floats:
        """The weight of the sampled records that agree with each record in some columns."""
        if not columns:
            return np.full(len(records), self.weights.sum())
        chosen = list(columns)
        known, wanted = row_keys([self.records[:, chosen], records[:, chosen]])
        kinds, index = np.unique(known, return_inverse=True)
        sums = np.append(np.bincount(index.ravel(), self.weights, minlength=len(kinds)), 0.0)
        return np.asarray(sums[positions(kinds, wanted)])

    def margins(self, given: Sequence[int], column: int, records: Codes) -> tuple[Floats, Floats]:
        """What agrees with each record in the given columns, and what agrees in one more column as well."""
        return self.agreeing(records, given), self.agreeing(records, (*given, column))


def sample_of(domain: Domain, records: Codes, weights: Floats) -> Sample:
    """
    Records of a sample. Whole weights, each record listed once, say how often it was sampled; otherwise a row is one record,
    and its weight says how many people it stands for, of which only the proportions matter.
    """
    kinds, index = np.unique(records, axis=0, return_inverse=True)
    whole = bool((weights % 1 == 0).all())
    if whole and (len(kinds) == len(records) or (weights <= 1).all()):
        counts = np.bincount(index.ravel(), weights, minlength=len(kinds)).astype(np.float64)
        return Sample(domain, kinds, counts, np.minimum(counts, 1.0), as_counts=bool((weights > 1).any()))
    relative = weights * (np.count_nonzero(weights) / weights.sum())
    return Sample(domain, records, relative, relative)


def _smoothed(margins: tuple[Floats, Floats], strength: float, coarse: Floats) -> Floats:
    """How likely a code is given some columns, from the estimate with one column less."""
    whole, part = margins
    return (part + strength * coarse) / (whole + strength)


def fit_orders(sample: Sample) -> tuple[Order, ...]:
    """The orders of every column, the coarsest first, chosen by how likely they make each record that is left out."""
    return tuple(order for column in range(len(sample.domain.names)) for order in _orders_of(sample, column))


def _orders_of(sample: Sample, column: int) -> Iterator[Order]:
    chance = np.full(len(sample.records), 1 / len(sample.domain.columns[column].codes))
    best = -np.inf
    tried: list[tuple[int, ...]] = [()]
    while tried:
        choices = []
        for columns in tried:
            # without the record itself; rounding must leave nothing below 0
            whole, part = (np.maximum(sum_ - sample.one, 0) for sum_ in sample.margins(columns, column, sample.records))
            for strength in STRENGTHS:
                likelihood = float(sample.weights @ np.log(_smoothed((whole, part), strength, chance)))
                choices.append((likelihood, strength, columns, (whole, part)))
        likelihood, strength, columns, margins = max(choices, key=lambda choice: choice[:3])
        if likelihood <= best + GAIN:
            return
        best, chance = likelihood, _smoothed(margins, strength, chance)
        yield Order(column, columns, strength)
        tried = [(*columns, other) for other in range(column) if other not in columns]


def chances_of(sample: Sample, orders: Sequence[Order], records: Codes) -> Floats:
    """How likely each record is; the chances of all records of the domain add up to 1."""
    result = np.ones(len(records))
    for column, of_column in groupby(orders, key=lambda order: order.column):
        chance = np.full(len(records), 1 / len(sample.domain.columns[column].codes))
        for order in of_column:
            chance = _smoothed(sample.margins(order.given, column, records), order.strength, chance)
        result *= chance
    return result
