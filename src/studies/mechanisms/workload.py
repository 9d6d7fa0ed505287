"""
A workload of counting queries on a product of columns, seen from its parts: sizes, overlaps and tables, in integers.

A query takes a set of codes in each column that it names, so it is the product of one indicator per column. Whatever is a
product too (sizes, overlaps, shares that a table explains) follows column by column, and the matrix Q is never built.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from genverify.core.arraytypes import Ints
from genverify.core.domain import Domain
from genverify.core.predicates import Predicate

Columns = frozenset[str]
PRIMES = (2_147_483_629, 2_147_483_587)


@dataclass(frozen=True)
class Workload:
    """
    Queries on a domain. Columns with one code, and clauses that take every code, say nothing and are left out.

    >>> from genverify.core.domain import Column
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
        own = {name: frozenset(codes) & frozenset(self.domain[name].codes) for name, codes in query.clauses}
        return {name: codes for name, codes in own.items() if len(codes) < len(self.domain[name].codes)}

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
        found = np.flatnonzero(rest[rank:, column])
        if not len(found):
            continue
        pivot = rank + int(found[0])
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
