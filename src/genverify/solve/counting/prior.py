"""A prior: how likely a record is before the release is seen. Weights with a floor for what they do not list; a sample."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice

import numpy as np

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.claims import ANY, Codes, matches
from genverify.model.domain import Domain
from genverify.model.errors import DataError
from genverify.solve.counting.backoff import Order, Sample, chances_of, fit_orders, sample_of, sort_groups
from genverify.solve.datasets import classes_of_records, draw_dataset, records_of_type
from genverify.solve.program import Program

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
