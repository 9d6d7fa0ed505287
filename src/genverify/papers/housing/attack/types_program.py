"""Datasets over listed household types: z counts each type, lo <= A z <= hi, and each type has a cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from genverify.core.arraytypes import Flags, Ints
from genverify.core.release import TOTAL, Release
from genverify.solve.solvers.base import IntegerProgram


@dataclass(frozen=True)
class TypeProgram:
    """
    All datasets of n households that fit what is published, and what each type of household costs.

    `codes` holds the types, one column per name; the first row of A is N. `free` are the columns that the cost does not
    depend on. Costs are integers, so that two datasets are equally likely or are not.
    """

    names: tuple[str, ...]
    codes: Ints
    rows: tuple[str, ...]
    A: Ints
    lo: Ints
    hi: Ints
    cost: Ints
    free: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return int(self.lo[0])

    @property
    def types(self) -> int:
        return len(self.codes)

    @cached_property
    def columns(self) -> Ints:
        """What a household of each type adds to every row."""
        return np.ascontiguousarray(self.A.T)

    def counted(self, z: Ints) -> Ints:
        """What a dataset counts in every row."""
        used = np.flatnonzero(z)
        counts: Ints = self.A[:, used] @ z[used]
        return counts

    def misses(self, z: Ints) -> Ints:
        """By how much each row of a dataset falls short of its range (below 0), or exceeds it."""
        counts = self.counted(z)
        return counts - np.clip(counts, self.lo, self.hi)

    def fits(self, z: Ints) -> bool:
        """Whether a dataset is within the range of every row, recounted in integers."""
        return bool((z >= 0).all() and not self.misses(z).any())

    def keep(self, types: Flags | Ints) -> "TypeProgram":
        """The same program with only some of the types."""
        return replace(self, codes=self.codes[types], A=self.A[:, types], cost=self.cost[types])

    def possible(self) -> "TypeProgram":
        """Without the types of which a single household exceeds a row."""
        within: Flags = np.all(self.hi[:, None] >= self.A, axis=0)
        return self.keep(within)

    def as_integer_program(self) -> IntegerProgram:
        """Least cost over the datasets that fit."""
        sides = (self.lo.astype(np.float64), self.hi.astype(np.float64))
        upper = np.full(self.types, float(self.n))
        return IntegerProgram(csr_array(self.A.astype(np.float64)), *sides, upper, -self.cost.astype(np.float64))


def list_program(release: Release, codes: Ints, cost: Ints, free: Sequence[str] = ()) -> TypeProgram:
    """The program of a release over listed types, with a row for N and one for each query."""
    names = release.schema.domain.names
    records = {name: codes[:, column] for column, name in enumerate(names)}
    A: list[Ints] = [np.ones(len(codes), dtype=np.int64)]
    for query in release.queries:
        inside = query.predicate.matches(records).astype(np.int64)
        A.append(inside * records[query.sums] if query.sums else inside)
    lo, hi = (np.append(release.n, side).astype(np.int64) for side in (release.lo, release.hi))
    rows = (TOTAL, *(query.id for query in release.queries))
    return TypeProgram(names, codes.astype(np.int64), rows, np.array(A), lo, hi, cost.astype(np.int64), tuple(free))
