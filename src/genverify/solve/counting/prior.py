"""A prior: how likely a record is before the release is seen; weights with a floor, or a sample smoothed by back-off."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby, islice, product

import numpy as np

from genverify.model.arrays import Flags, Floats, Ints, positions, row_keys
from genverify.model.claims import ANY, Codes, matches
from genverify.model.domain import Domain
from genverify.model.errors import DataError
from genverify.solve.datasets import classes_of_records, draw_dataset, records_of_type
from genverify.solve.program import Program

# Back-off smoothing: how likely a record is, estimated from a sample by margins of several orders, down to equal chances.
#
# Columns are taken one after another. How likely a code is given the columns before it is estimated from the sampled records
# that agree with them in some columns; where few do, from those that agree in fewer columns; in the end all codes are alike.
# Which columns, and how many records weigh as much as the estimate with one column less (the strength), is chosen by leaving
# out one record after another: each is predicted from all others. Where the groups of a sample are known (blocks, streets),
# people of a group may be alike: groups are sorted into few kinds, a block is of one of these, as often as groups are, and
# records of other kinds then weigh less.

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


# Weights of record types, with a floor for those that they do not list, or of a sample; and a prior laid on a program.


MOST_RECORDS = 500_000  # kinds that a sample weighs one by one: some 200 MB while the classes are weighed


@dataclass(frozen=True)
class Prior:
    """
    Weights of record types, any positive multiple of their probabilities: those of the table (records, one row of codes
    each), and `floor` for every record of the domain that it does not list. With a `sample`, these are its records and
    weights, and every record of the domain weighs what back-off smoothing makes of them.

    It must not come from the private records of the block in question.
    """

    name: str
    domain: Domain
    records: Codes
    weights: Floats
    floor: float
    sample: Sample | None = None
    orders: tuple[Order, ...] = ()

    def __post_init__(self) -> None:
        if self.records.shape != (len(self.weights), len(self.domain.names)):
            raise DataError(
                f"prior {self.name}: {self.records.shape[0]} records of {self.records.shape[1]} columns and "
                f"{len(self.weights)} weights; a weight per record, and the columns {', '.join(self.domain.names)}"
            )
        if not (np.isfinite(self.weights).all() and (self.weights >= 0).all() and np.isfinite(self.floor)):
            raise DataError(f"prior {self.name}: weights are numbers from 0 on, and finite")
        if not (self.floor > 0 or (self.floor == 0 and (self.weights > 0).any())):
            raise DataError(f"prior {self.name}: no record has a weight above 0")
        for index, column in enumerate(self.domain.columns):
            wrong = np.setdiff1d(self.records[:, index], column.codes)
            if len(wrong):
                raise DataError(f"prior {self.name}: column {column.name} has no code {wrong[0]}")
        if self.sample is None and len(np.unique(self.records, axis=0)) < len(self.records):
            raise DataError(f"prior {self.name}: a record is listed twice; give its weight once")

    @property
    def title(self) -> str:
        """Its name, and what was made of the groups of a sample."""
        if self.sample is None or self.sample.groups is None:
            return self.name
        kinds = self.sample.kinds
        return f"{self.name}, groups " + ("not alike" if kinds is None else f"of {kinds.max() + 1} kinds")

    def by_kind(self) -> list[tuple[float, "Prior"]]:
        """A prior of independent records for each kind of group, and how many groups are of this kind."""
        parts = self.sample.by_kind() if self.sample else []
        return [(share, replace(self, sample=part)) for share, part in parts] or [(1.0, self)]

    @property
    def rules_nothing_out(self) -> bool:
        """Whether every record of the domain has a weight above 0."""
        return self.sample is not None or (self.floor > 0 and bool((self.weights > 0).all()))


def uniform(domain: Domain) -> Prior:
    """Every record of the domain is equally likely."""
    nothing = np.zeros((0, len(domain.names)), dtype=np.int16)
    return Prior("uniform", domain, nothing, np.zeros(0), 1.0)


def sample_prior(name: str, domain: Domain, records: Codes, weights: Floats, groups: Ints | None = None) -> Prior:
    """What a sample says of every record of the domain, by back-off smoothing; how weights are taken: `sample_of`."""
    # an error where they are no weights
    Prior(name, domain, records, weights, 0.0, Sample(domain, records, weights, weights))
    return _fitted(name, sample_of(domain, records, weights, groups))


def recoded(prior: Prior, domain: Domain, records: Codes) -> Prior:
    """The prior of a sample whose records have other codes now: orders and strengths are chosen anew."""
    return _fitted(prior.name, replace(prior.sample, domain=domain, records=records)) if prior.sample else prior


def _fitted(name: str, sample: Sample) -> Prior:
    orders = fit_orders(sample)
    sample = sort_groups(sample, orders)
    return Prior(name, sample.domain, sample.records, sample.weights, 0.0, sample=sample, orders=orders)


@dataclass(frozen=True)
class Masses:
    """A prior laid on a program: the class of every record of its table that is not ruled out, and the weight of classes."""

    program: Program
    classes: Ints
    records: Codes
    weights: Floats
    floor: float
    of_classes: Floats

    def shares(self, codes: Codes) -> Floats:
        """What part of each class matches each claim: a row per claim, a column per class."""
        some, matched = self._matching(codes)
        [whole], _ = self._matching(np.full((1, codes.shape[1]), ANY, dtype=codes.dtype))
        shares = np.divide(matched, self.of_classes, out=np.zeros_like(matched), where=self.of_classes > 0)
        # rounding must not make a part of a class the whole of it, nor the reverse: records with a weight are counted
        part = np.minimum(shares, np.nextafter(1.0, 0.0))
        return np.where(some == whole, 1.0, np.where(some == 0, 0.0, part))

    def _matching(self, codes: Codes) -> tuple[Floats, Floats]:
        """Of the records of each class that match each claim: how many have a weight above 0, and what all of them weigh."""
        free = self._raw(codes)
        listed, some = np.zeros_like(free), np.zeros_like(free)
        for claim, hit in enumerate(matches(codes, self.records)) if len(self.records) else ():
            classes, weights = self.classes[hit], self.weights[hit]
            listed[claim] = np.bincount(classes, weights, minlength=self.program.classes)
            some[claim] = np.bincount(classes[weights > 0], minlength=self.program.classes)
            free[claim] -= np.bincount(classes, minlength=self.program.classes)
        return some + free if self.floor else some, self.floor * free + listed

    def listed(self, wanted: Flags, most: int) -> tuple[Codes, Floats, Ints]:
        """
        Records of the wanted classes: those of the table, and where there is a floor also some that the table lacks, up to
        `most` of each class; what part of its class each is, and the class.
        """
        extra = self._unlisted(wanted, most) if self.floor else self.records[:0]
        records = np.concatenate([self.records[wanted[self.classes]], extra])
        weights = np.concatenate([self.weights[wanted[self.classes]], np.full(len(extra), self.floor)])
        classes = _classes(self.program, records)
        return records, np.minimum(weights / self.of_classes[classes], 1.0), classes

    def _unlisted(self, wanted: Flags, most: int) -> Codes:
        """Records of the wanted classes that are not in the table, up to `most` of each."""
        known = {record.tobytes() for record in np.ascontiguousarray(self.records)}
        order, starts, sizes = self.program.grouped
        result = []
        for c in np.flatnonzero(wanted).tolist():
            every = chain.from_iterable(
                records_of_type(self.program, t) for t in order[starts[c] : starts[c] + sizes[c]].tolist()
            )
            arrays = (np.array(record, dtype=np.int16) for record in every)
            result += list(islice((record for record in arrays if record.tobytes() not in known), most))
        return np.array(result, dtype=np.int16).reshape(-1, self.records.shape[1])

    def draw(self, z: Ints, rng: np.random.Generator) -> Codes:
        """A dataset with the given class counts: within a class, records by the prior's proportions; sorted records."""
        records = draw_dataset(self.program, z, rng, by_raw=True)
        if not len(self.records):
            return records
        classes = classes_of_records(self.program, records[None])[0]
        for c in np.unique(classes).tolist():
            listed = np.flatnonzero(self.classes == c)
            mass = self.weights[listed].sum()
            known = indices = np.flatnonzero(classes == c)
            if self._free[c]:
                known = indices[rng.random(len(indices)) * self.of_classes[c] < mass]
                rest = np.setdiff1d(indices, known)
                records[rest] = self._draw_unlisted(c, records[rest], rng)
            if len(known):
                records[known] = self.records[rng.choice(listed, len(known), p=self.weights[listed] / mass)]
        return records[np.lexsort(records.T[::-1])]

    def _draw_unlisted(self, c: int, records: Codes, rng: np.random.Generator) -> Codes:
        """Records of a class, those of the table replaced by others, all of which are equally likely."""
        known = {record.tobytes() for record in np.ascontiguousarray(self.records[self.classes == c])}
        wrong = np.array([record.tobytes() in known for record in np.ascontiguousarray(records)], dtype=bool)
        if not wrong.any():
            return records
        only: Flags = np.arange(self.program.classes) == c
        if len(known) >= self._free[c]:  # trying again would take long, and the class is no more than twice the table
            others = self._unlisted(only, int(self._free[c]))
            records[wrong] = others[rng.integers(0, len(others), wrong.sum())]
            return records
        records[wrong] = draw_dataset(self.program, only * int(wrong.sum()), rng, by_raw=True)
        return self._draw_unlisted(c, records, rng)

    @cached_property
    def _free(self) -> Floats:
        return self.program.raw.astype(np.float64) - np.bincount(self.classes, minlength=self.program.classes)

    def _raw(self, codes: Codes) -> Floats:
        """How many records of the domain each class holds that match each claim."""
        types = self.program.types
        matching = np.ones((len(codes), len(types)))
        for column, atoms in enumerate(types.atoms):
            sizes = np.array([len(atom) for atom in atoms], dtype=np.float64)
            asked, row = np.unique(codes[:, column], return_inverse=True)
            shares = np.array([[code in atom for atom in atoms] if code != ANY else sizes for code in asked.tolist()])
            matching *= shares.astype(np.float64)[:, types.table[:, column]][row]
        order, starts, _ = self.program.grouped
        return np.add.reduceat(matching[:, order], starts, axis=1) if len(types) else matching


def lay_on(prior: Prior, program: Program) -> Masses:
    """The prior's weight of every class of a program; an error where the prior speaks of another domain."""
    domain = program.types.domain
    if [(c.name, c.codes) for c in prior.domain.columns] != [(c.name, c.codes) for c in domain.columns]:
        raise DataError(
            f"prior {prior.name} is about {_columns(prior.domain)}, the release about {_columns(domain)}; "
            "a prior needs the columns and codes of the release"
        )
    if prior.sample is not None:
        records = _admissible(program, prior)
        prior = Prior(prior.name, domain, records, chances_of(prior.sample, prior.orders, records), 0.0)
    classes = _classes(program, prior.records)
    live = classes >= 0
    weights, records = prior.weights[live], prior.records[live]
    mass = np.bincount(classes[live], weights, minlength=program.classes).astype(np.float64)
    if prior.floor:
        mass += prior.floor * (program.raw - np.bincount(classes[live], minlength=program.classes))
    return Masses(program, classes[live], records, weights, prior.floor, mass)


def _admissible(program: Program, prior: Prior) -> Codes:
    """Every record that some dataset can hold."""
    if program.types.records is not None:
        return program.types.records[0]
    number = int(program.raw.sum())
    if number > MOST_RECORDS:
        raise DataError(
            f"prior {prior.name}: {number:,} kinds of records are possible, a sample weighs at most {MOST_RECORDS:,}. "
            "Leave out columns that the tables hardly tell apart, or give weights with a floor."
        )
    every = chain.from_iterable(records_of_type(program, t) for t in range(len(program.types)))
    return np.array(list(every), dtype=np.int16)


def _columns(domain: Domain) -> str:
    return ", ".join(f"{column.name} ({len(column.codes)} codes)" for column in domain.columns)


def _classes(program: Program, records: Codes) -> Ints:
    return classes_of_records(program, records[None])[0] if len(records) else np.zeros(0, dtype=np.int64)
