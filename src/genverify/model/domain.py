"""What a record can be: columns, their codes, the universe that a study is about, and structural rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations
from math import prod
from pathlib import Path
from typing import Any

from genverify.core.errors import DataError, nearest
from genverify.core.files import read_yaml
from genverify.core.predicates import EVERY, Predicate, Rule

LARGEST_CODE, LARGEST_STORED = 2**15 - 1, 2**7 - 1


@dataclass(frozen=True)
class Column:
    """
    A discrete column: its name, its codes and what they mean.

    Where a code stands for a set of words (a person's races), `sets` holds the set of each code.

    >>> tenure = Column("TEN", "tenure", (1, 2, 3), ("owned", "mortgaged", "rented"))
    >>> tenure.meaning[3], tenure.restrict([1, 2]).codes
    ('rented', (1, 2))
    """

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
        unknown = [code for code in codes if code not in self.codes]
        if unknown:
            raise DataError(f"column {self.name} has no code {unknown[0]} ({nearest(unknown[0], list(self.codes))})")
        kept = tuple(code for code in self.codes if code in codes)
        sets = tuple(self.set_of[code] for code in kept) if self.sets else ()
        return replace(self, codes=kept, meanings=tuple(self.meaning[code] for code in kept), sets=sets)


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
                raise DataError(
                    f"column {column.name} has the code {wrong[0]}, not 0 to {LARGEST_CODE} (of {len(column.codes)}); "
                    "number them from 0, or merge some"
                )
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
        """The same columns with only the given codes."""
        for name in codes:
            self[name]
        return Domain(tuple(c.restrict(codes[c.name]) if c.name in codes else c for c in self.columns))

    def check_small(self) -> None:
        """Microdata are stored with eight bits to a code."""
        for column in self.columns:
            if max(column.codes, default=0) > LARGEST_STORED:
                raise DataError(
                    f"column {column.name} has the code {max(column.codes)}, but microdata are stored with eight bits to a "
                    f"code, 0 to {LARGEST_STORED}; merge some codes, or use fewer bins"
                )

    def check(self, predicate: Predicate, where: str) -> Predicate:
        """The predicate itself; an error that names `where` if it speaks of a column or a code that does not exist."""
        for name, codes in predicate.clauses:
            try:
                self[name].restrict(codes)
            except DataError as error:
                raise DataError(f"{where}: {error}") from None
        return predicate


@dataclass(frozen=True)
class Universe:
    """
    Which records a study is about: a condition on records, the codes they can hold, rules that always hold.

    >>> occupied = Universe("occupied", Predicate.of({"VACS": [0]}), {"TEN": (1, 2, 3)}, ())
    >>> print(occupied.keeps)
    VACS=0
    """

    name: str
    keeps: Predicate
    codes: Mapping[str, tuple[int, ...]]
    rules: tuple[str, ...]


@dataclass(frozen=True)
class DomainFile:
    """
    A domain file: the columns as they stand in the data, the universes and the structural rules.

    >>> everybody = Universe("everybody", EVERY, {}, ())
    >>> file = DomainFile(Domain((Column("SEX", "sex", (1, 2), ("male", "female")),)), {"everybody": everybody}, {})
    >>> file.universe("everybody").name
    'everybody'
    """

    domain: Domain
    universes: Mapping[str, Universe]
    rules: Mapping[str, Rule]

    def universe(self, name: str) -> Universe:
        if name not in self.universes:
            raise DataError(f"unknown universe {name!r}: {nearest(name, list(self.universes))}")
        return self.universes[name]


EVERYTHING = Universe("everything", EVERY, {}, ())


def read_domain(path: Path) -> DomainFile:
    """A domain file: columns with codes and meanings, universes, rules."""
    try:
        return parse_domain(read_yaml(path))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: not a domain file ({error!r}); see data/census/domain.yaml for the form") from None


def parse_domain(text: Mapping[str, Any]) -> DomainFile:
    """A domain file from its parsed YAML."""
    domain = Domain(tuple(_column(str(name), entry) for name, entry in text["columns"].items()))
    rules = {name: _rule(domain, name, entry) for name, entry in text.get("rules", {}).items()}
    universes = {name: _universe(domain, rules, name, entry or {}) for name, entry in text.get("universes", {}).items()}
    return DomainFile(domain, {EVERYTHING.name: EVERYTHING, **universes}, rules)


def _column(name: str, entry: Mapping[str, Any]) -> Column:
    """A column from its `codes`, a `range` of numbers, or the `subsets_of` some words; exactly one of the three."""
    label = str(entry.get("label", name))
    kinds = [kind for kind in ("codes", "range", "subsets_of") if kind in entry]
    if len(kinds) != 1:
        raise DataError(
            f"column {name}: give codes, range or subsets_of, one of the three, not {' and '.join(kinds) or 'none'}"
        )
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


def _rule(domain: Domain, name: str, entry: Mapping[str, Any]) -> Rule:
    rule = Rule(name, Predicate.of(entry.get("if", {})), tuple(Predicate.of(option) for option in entry["one_of"]))
    for predicate in (rule.when, *rule.one_of):
        domain.check(predicate, f"rule {name}")
    return rule


def _universe(domain: Domain, rules: Mapping[str, Rule], name: str, entry: Mapping[str, Any]) -> Universe:
    keeps = domain.check(Predicate.of(entry.get("keeps", {})), f"universe {name}")
    codes = {column: tuple(values) for column, values in entry.get("codes", {}).items()}
    domain.restrict(codes)
    for rule in entry.get("rules", []):
        if rule not in rules:
            raise DataError(f"universe {name}: unknown rule {rule!r}: {nearest(rule, list(rules))}")
    return Universe(name, keeps, codes, tuple(entry.get("rules", [])))
