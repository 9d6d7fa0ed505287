"""Sensitivity of a workload: how much its answers can change when one record joins or leaves (theorem 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Flags, Floats
from genverify.core.domain import Domain
from genverify.core.predicates import Predicate, Rule
from genverify.papers.mechanisms.parameters import PrivacyError

Ints = npt.NDArray[np.int32]
MOST_CELLS = 50_000_000


def l1_sensitivity(matrix: Ints | Floats) -> float:
    """
    The greatest L1 norm of a column of a query matrix (theorem 3).

    >>> l1_sensitivity(np.array([[1, 1, 0], [0, -2, 1]]))
    3.0
    """
    return float(np.abs(matrix).sum(axis=0).max())


def l2_sensitivity(matrix: Ints | Floats) -> float:
    """The greatest L2 norm of a column, what Gaussian noise is measured by."""
    return float(np.sqrt((np.asarray(matrix, dtype=float) ** 2).sum(axis=0).max()))


@dataclass(frozen=True)
class Sensitivity:
    """
    In how many queries a record can lie. Counts are 0 or 1 for a record, so the L1 norm of a column is that number,
    and its L2 norm the square root of it. A record that is exchanged for another changes the answers twice as much at most.
    """

    least: int
    greatest: int
    record: Mapping[str, int]

    @property
    def l1(self) -> int:
        return self.greatest

    @property
    def l2(self) -> float:
        return sqrt(self.greatest)


def memberships(domain: Domain, queries: Sequence[Predicate]) -> Ints:
    """
    In how many queries each record of the domain lies, an axis per column.

    The queries about one set of columns are counted on the product of these columns alone; those small tables are added up.
    So one number is held per record, and never the matrix of queries by records.
    """
    if domain.size > MOST_CELLS:
        raise PrivacyError(f"the domain has {domain.size} records, more than {MOST_CELLS}: merge codes or drop columns")
    total = np.zeros([len(column.codes) for column in domain.columns], dtype=np.int32)
    families: dict[tuple[str, ...], list[Predicate]] = {}
    for query in queries:
        families.setdefault(query.columns, []).append(query)
    for own in families.values():
        total += sum((_box(domain, query) for query in own), np.zeros((), dtype=np.int32))
    return total


def _box(domain: Domain, query: Predicate) -> Ints:
    """Which combinations of its columns a query holds, to be broadcast along the other columns."""
    box = np.ones((1,) * len(domain.columns), dtype=np.int32)
    for name, codes in query.clauses:
        place = domain.names.index(name)
        shape = [-1 if axis == place else 1 for axis in range(len(domain.columns))]
        box = box * np.isin(domain[name].codes, codes).astype(np.int32).reshape(shape)
    return box


def query_sensitivity(domain: Domain, queries: Sequence[Predicate], rules: Sequence[Rule] = ()) -> Sensitivity:
    """The sensitivity of counting queries over the records that break no rule, with a record that attains it."""
    lies_in, possible = memberships(domain, queries), possible_records(domain, rules)
    if not possible.any():
        raise PrivacyError("no record of the domain keeps the structural rules: check the rules of the domain file")
    place = np.unravel_index(int(np.where(possible, lies_in, -1).argmax()), lies_in.shape)
    record = {column.name: column.codes[int(at)] for column, at in zip(domain.columns, place, strict=True)}
    return Sensitivity(int(lies_in[possible].min()), int(lies_in[place]), record)


def possible_records(domain: Domain, rules: Sequence[Rule]) -> Flags:
    """Which records of the domain break no structural rule, an axis per column."""
    possible: Flags = np.ones([len(column.codes) for column in domain.columns], dtype=bool)
    for rule in rules:
        allowed = ~_box(domain, rule.when).astype(bool)
        for option in rule.one_of:
            allowed = allowed | _box(domain, option).astype(bool)
        possible &= allowed
    return possible


def query_matrix(domain: Domain, queries: Sequence[Predicate]) -> Ints:
    """The matrix Q written out, a row per query and a column per record: for small domains."""
    if domain.size * len(queries) > MOST_CELLS:
        raise PrivacyError(f"{len(queries)} queries on {domain.size} records are too many to write out: use memberships")
    shape = [len(column.codes) for column in domain.columns]
    rows = [np.broadcast_to(_box(domain, query), shape).ravel() for query in queries]
    return np.array(rows, dtype=np.int32).reshape(len(queries), domain.size)
