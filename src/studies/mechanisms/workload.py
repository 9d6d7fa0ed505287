"""A workload of counting queries on a product of columns: its parts, and its sensitivity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.domain import Domain, Predicate, Rule
from studies.mechanisms.randomized_response import PrivacyError

# A workload of counting queries on a product of columns, seen from its parts: sizes, overlaps and tables, in integers.
#
# A query takes a set of codes in each column that it names, so it is the product of one indicator per column. Whatever is a
# product too (sizes, overlaps, shares that a table explains) follows column by column, and the matrix Q is never built.

Columns = frozenset[str]
PRIMES = (2_147_483_629, 2_147_483_587)


@dataclass(frozen=True)
class Workload:
    """
    Queries on a domain. Columns with one code, and clauses that take every code, say nothing and are left out.

    >>> from genverify.model.domain import Column
    >>> domain = Domain((Column("PET", "pet", (1, 2, 3), ("", "", "")), Column("HOME", "home", (1, 2), ("", ""))))
    >>> work = Workload(domain, (Predicate.of({"PET": [1, 2]}), Predicate.of({"HOME": [1]}), Predicate.of({"HOME": []})))
    >>> work.sizes, work.gram[0, 1], [sorted(columns) for columns in work.families]
    ([4, 3, 0], np.int64(2), [['PET'], ['HOME']])
    """

    domain: Domain
    queries: tuple[Predicate, ...]

    @cached_property
    def codes(self) -> dict[str, int]:
        """How many codes each column has that distinguishes records."""
        return {column.name: len(column.codes) for column in self.domain.columns if len(column.codes) > 1}

    @cached_property
    def parts(self) -> tuple[dict[str, frozenset[int]], ...]:
        """The clauses of each query that say something; a query that nobody can meet keeps its empty clause."""
        return tuple(self._part(query) for query in self.queries)

    def _part(self, query: Predicate) -> dict[str, frozenset[int]]:
        part = {name: frozenset(codes) & frozenset(self.domain[name].codes) for name, codes in query.clauses}
        return {name: codes for name, codes in part.items() if len(codes) < len(self.domain[name].codes)}

    @cached_property
    def sizes(self) -> list[int]:
        """How many records of the domain lie in each query: the sums of the rows of Q."""
        return [_size(self.domain, part) for part in self.parts]

    @cached_property
    def families(self) -> list[Columns]:
        """The sets of columns that the queries are about, in the order in which they first stand."""
        return list(dict.fromkeys(frozenset(part) for part, size in zip(self.parts, self.sizes, strict=True) if size))

    @cached_property
    def gram(self) -> Ints:
        """Q Q^T: how many records of the domain lie in both of two queries, column by column of the domain."""
        overlaps = np.ones((len(self.parts), len(self.parts)), dtype=np.int64)
        for column in self.domain.columns:
            held = [part.get(column.name, frozenset(column.codes)) for part in self.parts]
            flags = np.array([[code in codes for code in column.codes] for codes in held], dtype=np.int64)
            overlaps *= flags @ flags.T
        return overlaps


def _size(domain: Domain, part: dict[str, frozenset[int]]) -> int:
    return prod(len(part.get(column.name, column.codes)) for column in domain.columns)


def exact_rank(matrix: Ints) -> int:
    """
    The rank of an integer matrix: the greatest of its ranks modulo large primes.

    No prime gives more than the rank, and one that gives less must divide every minor of that size.

    >>> exact_rank(np.array([[2, 4], [1, 2]])), exact_rank(np.array([[2, 4], [1, 3]]))
    (1, 2)
    """
    return max(_rank_modulo(matrix, prime) for prime in PRIMES)


def _rank_modulo(matrix: Ints, prime: int) -> int:
    """Gauss elimination modulo a prime below 2^31, so that no product leaves 64 bits."""
    rest, rank = np.asarray(matrix, dtype=np.int64) % prime, 0
    for column in range(rest.shape[1]):
        result = np.flatnonzero(rest[rank:, column])
        if not len(result):
            continue
        pivot = rank + int(result[0])
        rest[[rank, pivot]] = rest[[pivot, rank]]
        row = rest[rank, column:] * pow(int(rest[rank, column]), -1, prime) % prime
        below = rest[rank + 1 :, column:]  # what stands before is 0 already
        below[:] = (below - below[:, :1] * row) % prime
        rank += 1
        if rank == len(rest):
            break
    return rank


def chain(order: Sequence[str]) -> list[Columns]:
    """
    Tables that refine each other column by column, from the total to all columns.

    >>> [sorted(columns) for columns in chain(["PET", "HOME"])]
    [[], ['PET'], ['HOME', 'PET']]
    """
    return [frozenset(order[:length]) for length in range(len(order) + 1)]


# Sensitivity of a workload: how much its answers can change when one record joins or leaves (theorem 3).

SmallInts = npt.NDArray[np.int32]
MOST_CELLS = 50_000_000  # bounds memory: four bytes for each, 200 MB


def l1_sensitivity(matrix: SmallInts | Floats) -> float:
    """
    The greatest L1 norm of a column of a query matrix (theorem 3).

    >>> l1_sensitivity(np.array([[1, 1, 0], [0, -2, 1]]))
    3.0
    """
    return float(np.abs(matrix).sum(axis=0).max())


def l2_sensitivity(matrix: SmallInts | Floats) -> float:
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


def memberships(domain: Domain, queries: Sequence[Predicate]) -> SmallInts:
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
    for family in families.values():
        total += sum((_box(domain, query) for query in family), np.zeros((), dtype=np.int32))
    return total


def _box(domain: Domain, query: Predicate) -> SmallInts:
    """Which combinations of its columns a query holds, to be broadcast along the other columns."""
    box = np.ones((1,) * len(domain.columns), dtype=np.int32)
    for name, codes in query.clauses:
        index = domain.names.index(name)
        shape = [-1 if axis == index else 1 for axis in range(len(domain.columns))]
        box = box * np.isin(domain[name].codes, codes).astype(np.int32).reshape(shape)
    return box


def query_sensitivity(domain: Domain, queries: Sequence[Predicate], rules: Sequence[Rule] = ()) -> Sensitivity:
    """The sensitivity of counting queries over the records that break no rule, with a record that attains it."""
    lies_in, possible = memberships(domain, queries), possible_records(domain, rules)
    if not possible.any():
        raise PrivacyError("no record of the domain keeps the structural rules: check the rules of the domain file")
    index = np.unravel_index(int(np.where(possible, lies_in, -1).argmax()), lies_in.shape)
    record = {column.name: column.codes[int(at)] for column, at in zip(domain.columns, index, strict=True)}
    return Sensitivity(int(lies_in[possible].min()), int(lies_in[index]), record)


def possible_records(domain: Domain, rules: Sequence[Rule]) -> Flags:
    """Which records of the domain break no structural rule, an axis per column."""
    possible: Flags = np.ones([len(column.codes) for column in domain.columns], dtype=bool)
    for rule in rules:
        allowed = ~_box(domain, rule.when).astype(bool)
        for option in rule.one_of:
            allowed = allowed | _box(domain, option).astype(bool)
        possible &= allowed
    return possible


def query_matrix(domain: Domain, queries: Sequence[Predicate]) -> SmallInts:
    """The matrix Q written out, a row per query and a column per record: for small domains."""
    if domain.size * len(queries) > MOST_CELLS:
        raise PrivacyError(f"{len(queries)} queries on {domain.size} records are too many to write out: use memberships")
    shape = [len(column.codes) for column in domain.columns]
    rows = [np.broadcast_to(_box(domain, query), shape).ravel() for query in queries]
    return np.array(rows, dtype=np.int32).reshape(len(queries), domain.size)
