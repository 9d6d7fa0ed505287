"""Conditions on a record: predicates (conjunctions of sets of codes) and structural rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Flags

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

    @cached_property
    def masks(self) -> dict[str, int]:
        """The codes of each named column as bits, so that sets of codes are compared in one step."""
        return {name: sum(1 << code for code in codes) for name, codes in self.clauses}

    def __and__(self, other: "Predicate") -> "Predicate":
        both = self.where.copy()
        for name, codes in other.clauses:
            both[name] = tuple(code for code in both[name] if code in codes) if name in both else codes
        return Predicate(tuple(sorted(both.items())))

    def __str__(self) -> str:
        return " and ".join(f"{name}={'|'.join(map(str, codes))}" for name, codes in self.clauses) or "every record"

    def matches(self, records: Records) -> Flags:
        """Whether each record satisfies the condition."""
        length = len(next(iter(records.values())))
        flags: Flags = np.ones(length, dtype=bool)
        for name, codes in self.clauses:
            column = np.asarray(records[name])
            flags &= column == codes[0] if len(codes) == 1 else np.isin(column, codes)  # isin is slow for few records
        return flags


EVERY = Predicate(())


@dataclass(frozen=True)
class Rule:
    """
    A structural rule: a record that matches `when` must match one of `one_of`.

    >>> rule = Rule("old", Predicate.of({"AGE": [9]}), (Predicate.of({"TP65": [1]}),))
    >>> rule.excludes({"AGE": np.array([9, 9, 1]), "TP65": np.array([0, 1, 0])}).tolist()
    [True, False, False]
    """

    name: str
    when: Predicate
    one_of: tuple[Predicate, ...]

    def excludes(self, records: Records) -> Flags:
        """Whether each record breaks the rule."""
        flags = self.when.matches(records)
        for option in self.one_of:
            flags &= ~option.matches(records)
        return flags


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
