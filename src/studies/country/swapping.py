"""
Targeted swapping (subsidized housing, section 4.2 and footnote 6): records at risk change places with similar ones nearby.

A record stands in a block; ids of blocks sort in geographic order. Two records are as near as the ranks of their blocks: a
stand-in for distance, since ids are all that is known of where blocks lie.

Who is swapped. Records are ranked by risk: how rare their attributes are in their tract, and how few people live in their
block, both with equal weight (the sum of the two ranks). The footnote's strata give relative chances c (1, 0.6, 0.3, 0.1).
A record is chosen if u < s c, u uniform; the common scale s grows from zero until the share of records that have moved,
partners included, is the swap rate. So the rate is met in expectation (fewer only where no partner is left), chances are in
the stated proportions for s <= 1, and at most 1. Whoever moved as a partner is not chosen again: every record moves once.

Partner. One at random of the five nearest records in other blocks with the same key that have not moved yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genverify.model.arrays import Floats, Ints
from genverify.model.errors import ConfigError, DataError
from genverify.model.work import derive_seed

NEAREST = 5  # candidates for the partner of a record: the nearest alone
FAR = 2**62  # beyond any distance of two households: nobody is left on that side


@dataclass(frozen=True)
class Stratum:
    """Thousandths of the records, next in order of risk, and their relative chance of being swapped in per cent."""

    thousandths: int
    chance: int


FOOTNOTE_6 = (Stratum(5, 100), Stratum(195, 60), Stratum(300, 30), Stratum(500, 10))


@dataclass(frozen=True)
class Records:
    """What swapping sees of the records, one entry each; blocks and tracts are numbers that sort in geographic order."""

    block: Ints
    tract: Ints
    key: Ints  # columns that partners share
    attributes: Ints  # columns whose combination makes a record rare
    persons: Ints  # for block populations

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in vars(self).items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"swapping: one entry per record is needed in every column, not {lengths}")

    def of(self, rows: Ints) -> "Records":
        return Records(*(column[rows] for column in vars(self).values()))


def swap(records: Records, rate: float, rng: np.random.Generator, strata: Sequence[Stratum] = FOOTNOTE_6) -> Ints:
    """
    `source`: after swapping, place i holds record source[i]. A partner's partner is oneself: source[source[i]] = i.
    """
    if not 0 <= rate <= 1:
        raise ConfigError(f"swap rate {rate}: it is the share of records that change places; give a number from 0 to 1")
    n = len(records.block)
    source = np.arange(n)
    wanted = rate * n / 2
    pairs = int(wanted) + int(rng.random() < wanted % 1)  # a fraction of a pair is a chance of one more
    chance = chances(risk_order(records, rng), strata)
    order = np.argsort(rng.random(n) / chance, kind="stable")
    if not pairs:
        return source
    open_ = _Neighbours(records, rng)
    picks, left_first = rng.random(n), rng.random(n) < 0.5
    for step, record in enumerate(order.tolist()):  # each that has not moved changes places, until enough pairs have
        index = open_.place[record]
        near = [] if open_.moved(index) else open_.nearest(index, bool(left_first[step]))
        if near:
            partner = near[int(picks[step] * len(near))]
            other = int(open_.order[partner])
            source[record], source[other] = other, record
            open_.remove(index)
            open_.remove(partner)
            pairs -= 1
        if pairs == 0:
            break
    return source


def swap_areas(area: Ints, records: Records, rate: float, seed: int) -> Ints:
    """Swapping within each area (state) on its own, with a seed of its own: an area's result depends on no other area."""
    source = np.arange(len(area))
    order = np.argsort(area, kind="stable")
    names, begins = np.unique(area[order], return_index=True)
    for name, rows in zip(names.tolist(), np.split(order, begins[1:]), strict=False):
        rng = np.random.default_rng(derive_seed(seed, "swap", str(name)))
        source[rows] = rows[swap(records.of(rows), rate, rng)]
    return source


def rarity(tract: Ints, attributes: Ints) -> Ints:
    """How many records of its tract share all attributes of a record, itself included: 1 for one that is unique there."""
    kinds = combined(tract, attributes)
    return np.bincount(kinds)[kinds] if len(kinds) else kinds


def risk_order(records: Records, rng: np.random.Generator) -> Ints:
    """The records, those most at risk first: rare in their tract and in a block of few persons; ties at random."""
    blocks = combined(records.block)
    population = np.bincount(blocks, weights=records.persons).astype(np.int64)[blocks] if len(blocks) else records.persons
    risk = _ranks(rarity(records.tract, records.attributes)) + _ranks(population)
    return np.lexsort((rng.random(len(risk)), risk))


def chances(order: Ints, strata: Sequence[Stratum] = FOOTNOTE_6) -> Floats:
    """The relative chance of each record, given the records in order of risk."""
    if sum(one.thousandths for one in strata) != 1000 or not all(0 < one.chance <= 100 for one in strata):
        must = "strata must add up to 1000 thousandths with chances of 1 to 100 per cent"
        raise ConfigError(f"swapping: {must}, not {strata}")
    ends = np.cumsum([one.thousandths for one in strata]) * len(order)
    stratum = np.searchsorted(ends, 1000 * np.arange(len(order)), side="right")
    chance = np.empty(len(order))
    chance[order] = np.array([one.chance for one in strata])[stratum] / 100
    return chance


def combined(*columns: Ints) -> Ints:
    """One number per distinct combination of columns (arrays of one or two dimensions), in their order."""
    number: Ints = np.zeros(len(columns[0]), dtype=np.int64)
    if not len(number):
        return number
    for column in (one for block in columns for one in block.reshape(len(block), -1).T):
        ranks = _dense(column - column.min())
        number = _dense(number * (int(ranks.max()) + 1) + ranks)
    return number


def _dense(values: Ints) -> Ints:
    """The values as 0, 1, 2, ... in their order; without sorting where they are small."""
    if values.max() > 8 * len(values):
        return np.unique(values, return_inverse=True)[1]
    dense: Ints = (np.cumsum(np.bincount(values) > 0) - 1)[values]
    return dense


def _ranks(values: Ints) -> Ints:
    """Twice the mean rank of each value: equal values share one."""
    number = combined(values)
    counts = np.bincount(number)
    ranks: Ints = (2 * np.cumsum(counts) - counts)[number]
    return ranks


class _Neighbours:
    """The records that have not moved, by key and block: who is nearest to whom."""

    def __init__(self, records: Records, rng: np.random.Generator) -> None:
        key, group = combined(records.key), combined(records.key, records.block)
        self.order = np.lexsort((rng.random(len(group)), group))  # at random within a block: none is preferred
        index = np.empty_like(group)
        index[self.order] = np.arange(len(group))
        self.place = index.data  # single entries of a memoryview are read and written much faster than those of an array
        self.number = combined(records.block)[self.order].data
        self.begin, self.end = _runs(group[self.order])
        self.first, self.last = _runs(key[self.order])
        # links that lead to 1 + the last place before, and to the first place from here on, that has not moved
        self.before = np.arange(len(group) + 1).data
        self.after = np.arange(len(group) + 1).data

    def moved(self, index: int) -> bool:
        return self.after[index] != index

    def remove(self, index: int) -> None:
        self.after[index] = index + 1
        self.before[index + 1] = index

    def nearest(self, index: int, left_first: bool) -> list[int]:
        """Places of the nearest records with the same key in other blocks; a tie goes to the left or to the right."""
        here, first, last = self.number[index], self.first[index], self.last[index]
        left = _follow(self.before, self.begin[index]) - 1
        right = _follow(self.after, self.end[index])
        near: list[int] = []
        while len(near) < NEAREST and (left >= first or right < last):
            to_left = here - self.number[left] if left >= first else FAR
            to_right = self.number[right] - here if right < last else FAR
            if to_left < to_right or (to_left == to_right and left_first):
                near.append(left)
                left = _follow(self.before, left) - 1
            else:
                near.append(right)
                right = _follow(self.after, right + 1)
        return near


def _runs(values: Ints) -> tuple[memoryview, memoryview]:
    """Where the run of equal values around each entry begins, and where the next one does."""
    sizes = np.bincount(values)
    ends = np.cumsum(sizes)
    return (ends - sizes)[values].data, ends[values].data


def _follow(link: memoryview, at: int) -> int:
    """The end of a chain of links; each on the way is bent to the one after the next, as in union-find."""
    while link[at] != at:
        link[at] = link[link[at]]
        at = link[at]
    return at
