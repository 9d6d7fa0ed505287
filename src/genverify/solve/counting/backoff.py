"""
Back-off smoothing: how likely a record is, estimated from a sample by margins of several orders, down to equal chances.

Columns are taken one after another. How likely a code is given the columns before it is estimated from the sampled records
that agree with them in some columns; where few do, from those that agree in fewer columns; in the end all codes are alike.
Which columns, and how many records weigh as much as the estimate with one column less (the strength), is chosen by leaving
out one record after another: each is predicted from all others.

Where the groups of a sample are known (blocks, streets, classes), people of a group may be alike: groups are sorted into few
kinds, and a block is of one of these kinds, as often as groups are; records of other kinds then weigh less.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product

import numpy as np

from genverify.model.arrays import Flags, Floats, Ints, positions, row_keys
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
    were given and taken for numbers of sampled records, because they are whole and no record is listed twice. `groups` is
    the group of every record, `kinds` the kind of every group, and `apart` what a record of another kind weighs.
    """

    domain: Domain
    records: Codes
    weights: Floats
    one: Floats
    as_counts: bool = False
    groups: Ints | None = None
    kinds: Ints | None = None
    apart: float = 1.0

    @property
    def times(self) -> Ints:
        """A row that was sampled several times is that many records; one with a weight of its own is one."""
        return np.where(self.one == 1, self.weights, self.one > 0).astype(np.int64)

    def by_kind(self) -> list[tuple[float, "Sample"]]:
        """The sample as each kind of group sees it, and how many of the groups are of this kind."""
        if self.kinds is None or self.groups is None:
            return [(1.0, self)]
        near = [self.kinds[self.groups] == kind for kind in np.unique(self.kinds)]
        weights = [self.weights * np.where(own, 1.0, self.apart) for own in near]
        shares = np.unique(self.kinds, return_counts=True)[1] / len(self.kinds)
        return [(float(s), replace(self, weights=w, kinds=None)) for s, w in zip(shares, weights, strict=True)]

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


def sample_of(domain: Domain, records: Codes, weights: Floats, groups: Ints | None = None) -> Sample:
    """
    Records of a sample. Whole weights, each record listed once (in its group), say how often it was sampled; otherwise a row
    is one record, and its weight says how many people it stands for, of which only the proportions matter.
    """
    rows = records if groups is None else np.column_stack([records, groups])
    kinds, index = np.unique(rows, axis=0, return_inverse=True)
    whole, width = bool((weights % 1 == 0).all()), records.shape[1]
    if whole and (len(kinds) == len(records) or (weights <= 1).all()):
        counts = np.bincount(index.ravel(), weights, minlength=len(kinds)).astype(np.float64)
        listed, own = kinds[:, :width].astype(records.dtype), None if groups is None else kinds[:, width].astype(np.int64)
        return Sample(domain, listed, counts, np.minimum(counts, 1.0), bool((weights > 1).any()), own)
    relative = weights * (np.count_nonzero(weights) / weights.sum())
    return Sample(domain, records, relative, relative, groups=groups)


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


KINDS, APART = (2, 4, 8), (0.3, 0.03)  # tried: more kinds take time in proportion; 0.1 and 0.01 did hardly better
ROUNDS = 12  # of sorting: groups rarely move after five


def sort_groups(sample: Sample, orders: Sequence[Order]) -> Sample:
    """The sample with its groups sorted into kinds: as many as predict every other group best from the rest, or none."""
    if sample.groups is None:
        return sample
    from scipy.special import logsumexp  # a tenth of a second to import, which jobs that fit nothing need not take

    known, asked = (_of_groups(sample, sample.groups % 2 == half) for half in (0, 1))
    best, chosen = float(_likelihoods(known, orders, asked).sum()) + GAIN, (1, 1.0)
    for kinds, apart in product((one for one in KINDS if one <= sample.groups.max() // 4), APART):
        parts = _sorted(known, orders, kinds, apart).by_kind()
        mixed = logsumexp([np.log(share) + _likelihoods(part, orders, asked) for share, part in parts], axis=0)
        best, chosen = max((best, chosen), (float(np.sum(mixed)), (kinds, apart)))
    return _sorted(sample, orders, *chosen) if chosen[0] > 1 else sample


def _of_groups(sample: Sample, chosen: Flags) -> Sample:
    groups = np.unique((sample.groups if sample.groups is not None else chosen)[chosen], return_inverse=True)[1]
    return Sample(sample.domain, sample.records[chosen], sample.weights[chosen], sample.one[chosen], groups=groups)


def _sorted(sample: Sample, orders: Sequence[Order], kinds: int, apart: float) -> Sample:
    """Groups in the kinds that make them likeliest, again and again."""
    start = np.argsort(_likelihoods(sample, orders, sample)).argsort()
    result = replace(sample, kinds=start * kinds // len(start), apart=apart)
    for _ in range(ROUNDS):
        likeliest = np.argmax([_likelihoods(part, orders, sample) for _, part in result.by_kind()], axis=0)
        result = replace(result, kinds=likeliest)
    return result


def _likelihoods(known: Sample, orders: Sequence[Order], asked: Sample) -> Floats:
    """How likely the records of each group are, in nats."""
    chances = chances_of(known, orders, asked.records)
    return (
        np.bincount(asked.groups, asked.times * np.log(chances)).astype(np.float64) if asked.groups is not None else chances
    )
