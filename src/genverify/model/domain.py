"""What a record can be: columns and codes, predicates (conjunctions of sets of codes), universe and structural rules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Flags
from genverify.model.errors import MALFORMED, DataError, naming, nearest, refuse_unknown, refusing
from genverify.model.files import read_yaml

# Conditions on a record: predicates (conjunctions of sets of codes) and structural rules.

Records = Mapping[str, Any]  # column name: codes, one per record


@dataclass(frozen=True)
class Predicate:
    """
    The condition phi of a counting query: every named column takes one of the listed codes.

    >>> renting = Predicate.of({"TEN": [3, 4]})
    >>> alone = Predicate.of({"HHSIZE": [1]})
    >>> print(renting & alone)
    HHSIZE=1 and TEN=3|4
    >>> (renting & alone).matches({"TEN": np.array([3, 1]), "HHSIZE": np.array([1, 1])}).tolist()
    [True, False]
    """

    clauses: tuple[tuple[str, tuple[int, ...]], ...]

    @classmethod
    def of(cls, where: Mapping[str, Iterable[int]]) -> "Predicate":
        return cls(tuple((name, tuple(sorted(set(where[name])))) for name in sorted(where)))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.clauses)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.clauses)

    @cached_property
    def where(self) -> dict[str, tuple[int, ...]]:
        return dict(self.clauses)

    def __and__(self, other: "Predicate") -> "Predicate":
        both = self.where.copy()
        for name, codes in other.clauses:
            both[name] = tuple(code for code in both[name] if code in codes) if name in both else codes
        return Predicate(tuple(sorted(both.items())))

    def __str__(self) -> str:
        return " and ".join(f"{name}={'|'.join(map(str, codes))}" for name, codes in self.clauses) or "every record"

    def matches(self, records: Records) -> Flags:
        length = len(next(iter(records.values())))
        flags: Flags = np.ones(length, dtype=bool)
        for name, codes in self.clauses:
            column = np.asarray(records[name])
            flags &= column == codes[0] if len(codes) == 1 else np.isin(column, codes)  # isin is slow for few records
        return flags


EVERY = Predicate(())


@dataclass(frozen=True)
class Rule:
    """A structural rule: a record that matches `when` must match one of `one_of`."""

    name: str
    when: Predicate
    one_of: tuple[Predicate, ...]

    def excludes(self, records: Records) -> Flags:
        flags = self.when.matches(records)
        for option in self.one_of:
            flags &= ~option.matches(records)
        return flags

    def changed(self, change: Callable[[Predicate], Predicate]) -> "Rule":
        """The rule with every condition changed."""
        return Rule(self.name, change(self.when), tuple(map(change, self.one_of)))


class Exclusions:
    """Which of some rules exclude which records: every condition is looked at once, whatever number of rules names it."""

    def __init__(self, domain: "Domain", rules: Sequence[Rule]) -> None:
        conditions = list(dict.fromkeys(p for rule in rules for p in (rule.when, *rule.one_of)))
        row = {predicate: index for index, predicate in enumerate(conditions)}
        self.when = [row[rule.when] for rule in rules]
        self.one_of = {number: [row[p] for p in rule.one_of] for number, rule in enumerate(rules) if rule.one_of}
        codes = {column.name: range(max(column.codes) + 1) for column in domain.columns}
        self.allowed = allowed_codes(conditions, codes) > 0
        self.start = np.cumsum([0, *map(len, codes.values())])[:-1]

    def of(self, records: npt.NDArray[np.int64]) -> Flags:
        """Whether each rule excludes each record, a row of codes."""
        met: Flags = np.asarray(self.allowed[:, records + self.start].all(axis=2))
        excluded: Flags = met[self.when]
        for number, rows in self.one_of.items():
            excluded[number] &= ~met[rows].any(axis=0)
        return excluded


def allowed_codes(predicates: Sequence[Predicate], columns: Mapping[str, Sequence[int]]) -> npt.NDArray[np.float32]:
    """
    Per condition and code of each column, 1 where it allows the code; a column that it does not name allows all its codes.
    Products of such rows count codes: where one condition lies inside another, it allows no code that the other excludes.

    >>> rows = allowed_codes([Predicate.of({"A": [1]}), Predicate.of({"A": [1, 2]})], {"A": (1, 2, 3), "B": (0, 1)})
    >>> (rows @ (1 - rows).T == 0).tolist()
    [[True, True], [False, True]]
    """
    ends = np.cumsum([0, *(len(codes) for codes in columns.values())]).tolist()
    start = dict(zip(columns, ends, strict=False))
    flags = np.ones((len(predicates), ends[-1]), dtype=np.float32)
    for row, predicate in zip(flags, predicates, strict=True):
        for name, codes in predicate.clauses:
            row[start[name] : start[name] + len(columns[name])] = [code in codes for code in columns[name]]
    return flags


# What a record can be: columns, their codes, the universe that a study is about, and structural rules.

LARGEST_CODE, LARGEST_STORED = 2**15 - 1, 2**7 - 1


@dataclass(frozen=True)
class Column:
    """A discrete column: its name, codes and meanings; `sets`: the words (races) that each code stands for, if any."""

    name: str
    label: str
    codes: tuple[int, ...]
    meanings: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def meaning(self) -> Mapping[int, str]:
        return dict(zip(self.codes, self.meanings, strict=True))

    @cached_property
    def set_of(self) -> Mapping[int, tuple[str, ...]]:
        return dict(zip(self.codes, self.sets, strict=True)) if self.sets else {}

    def restrict(self, codes: Sequence[int]) -> "Column":
        for code in codes:
            if code not in self.codes:
                raise DataError(f"column {self.name} has no code {code} ({nearest(code, list(self.codes))})")
        rest = tuple(code for code in self.codes if code in codes)
        sets = tuple(self.set_of[code] for code in rest) if self.sets else ()
        return replace(self, codes=rest, meanings=tuple(self.meaning[code] for code in rest), sets=sets)


@dataclass(frozen=True)
class Domain:
    """
    The set X of records that can exist, a product of discrete columns.

    >>> sex = Column("SEX", "sex", (1, 2), ("male", "female"))
    >>> domain = Domain((sex, Column("AGE", "age", (0, 1), ("young", "old"))))
    >>> domain.size, domain.names
    (4, ('SEX', 'AGE'))
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        """Codes are kept in sixteen bits: others would silently become wrong ones."""
        for column in self.columns:
            wrong = [code for code in column.codes if not 0 <= code <= LARGEST_CODE]
            if wrong:
                what = f"the code {wrong[0]}, not 0 to {LARGEST_CODE} (of {len(column.codes)})"
                raise DataError(f"column {column.name} has {what}; number them from 0, or merge some")
            if len(set(column.codes)) < len(column.codes):
                raise DataError(f"column {column.name} lists a code twice; give each code once")

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def size(self) -> int:
        return prod(len(column.codes) for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        if name not in self.names:
            raise DataError(f"the domain has no column {name!r}: {nearest(name, list(self.names))}")
        return self.columns[self.names.index(name)]

    def restrict(self, codes: Mapping[str, Sequence[int]]) -> "Domain":
        for name in codes:
            self[name]
        return Domain(tuple(c.restrict(codes[c.name]) if c.name in codes else c for c in self.columns))

    def check_small(self) -> None:
        """Microdata are stored with eight bits to a code."""
        for column in self.columns:
            if max(column.codes, default=0) > LARGEST_STORED:
                stored = f"microdata are stored with eight bits to a code, 0 to {LARGEST_STORED}"
                what = f"column {column.name} has the code {max(column.codes)}"
                raise DataError(f"{what}, but {stored}; merge some codes, or use fewer bins")

    def check(self, predicate: Predicate, where: str) -> Predicate:
        """The predicate itself; an error that names `where` if it speaks of a column or a code that does not exist."""
        with naming(where):
            for name, codes in predicate.clauses:
                self[name].restrict(codes)
        return predicate

    def check_rule(self, rule: Rule) -> Rule:
        return rule.changed(lambda predicate: self.check(predicate, f"rule {rule.name}"))


@dataclass(frozen=True)
class Universe:
    """Which records a study is about: a condition on records, the codes they can hold, rules that always hold."""

    name: str
    keeps: Predicate
    codes: Mapping[str, tuple[int, ...]]
    rules: tuple[str, ...]


@dataclass(frozen=True)
class DomainFile:
    """A domain file: the columns as they stand in the data, the universes and the structural rules."""

    domain: Domain
    universes: Mapping[str, Universe]
    rules: Mapping[str, Rule]

    def universe(self, name: str) -> Universe:
        refuse_unknown(name, self.universes, f"unknown universe {name!r}")
        return self.universes[name]


EVERYTHING = Universe("everything", EVERY, {}, ())


def read_domain(path: Path) -> DomainFile:
    with refusing(MALFORMED, f"{path}: not a domain file", "see data/census/domain.yaml for the form"):
        return parse_domain(read_yaml(path))


def parse_domain(text: Mapping[str, Any]) -> DomainFile:
    domain = Domain(tuple(_column(str(name), entry) for name, entry in text["columns"].items()))
    listed = ((name, entry.get("if", {}), entry["one_of"]) for name, entry in text.get("rules", {}).items())
    rules = {name: domain.check_rule(Rule(name, Predicate.of(when), tuple(map(Predicate.of, one_of))))
             for name, when, one_of in listed}  # fmt: skip
    universes = {name: _universe(domain, rules, name, entry or {}) for name, entry in text.get("universes", {}).items()}
    return DomainFile(domain, {EVERYTHING.name: EVERYTHING, **universes}, rules)


def _column(name: str, entry: Mapping[str, Any]) -> Column:
    """A column from its `codes`, a `range` of numbers, or the `subsets_of` some words; exactly one of the three."""
    label = str(entry.get("label", name))
    kinds = [kind for kind in ("codes", "range", "subsets_of") if kind in entry]
    if len(kinds) != 1:
        given = " and ".join(kinds) or "none"
        raise DataError(f"column {name}: give codes, range or subsets_of, one of the three, not {given}")
    if "range" in entry:
        first, last = entry["range"]
        codes = tuple(range(int(first), int(last) + 1))
        return Column(name, label, codes, tuple(f"{code} {entry.get('unit', '')}".strip() for code in codes))
    if "subsets_of" in entry:
        words = {str(word): str(meaning) for word, meaning in entry["subsets_of"].items()}
        sets = tuple(chain.from_iterable(combinations(words, size) for size in range(1, len(words) + 1)))
        meanings = tuple("; ".join(words[word] for word in chosen) for chosen in sets)
        return Column(name, label, tuple(range(1, len(sets) + 1)), meanings, sets)
    known = {int(code): str(meaning) for code, meaning in entry["codes"].items()}
    return Column(name, label, tuple(known), tuple(known.values()))


def _universe(domain: Domain, rules: Mapping[str, Rule], name: str, entry: Mapping[str, Any]) -> Universe:
    keeps = domain.check(Predicate.of(entry.get("keeps", {})), f"universe {name}")
    codes = {column: tuple(values) for column, values in entry.get("codes", {}).items()}
    domain.restrict(codes)
    for rule in entry.get("rules", []):
        refuse_unknown(rule, rules, f"universe {name}: unknown rule {rule!r}")
    return Universe(name, keeps, codes, tuple(entry.get("rules", [])))
