"""What a release says, as the checker reads it: the published cells, by id."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from genverify.core.domain import Domain
from genverify.core.predicates import EVERY, Predicate
from genverify.core.release import TOTAL, Release


class Cell(NamedTuple):
    """A published cell: lo <= COUNT(predicate) <= hi; with `sums`, the sum of the records' codes in a column lies there."""

    predicate: Predicate
    lo: int
    hi: int
    sums: str | None = None

    def adding(self, domain: Domain) -> Predicate:
        """The records that add to the cell."""
        if self.sums is None:
            return self.predicate
        return self.predicate & Predicate.of({self.sums: [code for code in domain[self.sums].codes if code > 0]})


class Cells(Mapping[str, Cell]):
    """
    All that is known: N and the published cells, by id. Most are zeros that no proof names, so a cell is made when it is
    asked for.
    """

    def __init__(self, release: Release) -> None:
        self.queries, self.lo, self.hi, self.domain = release.queries, release.lo, release.hi, release.schema.domain
        self.place = {query.id: place for place, query in enumerate(self.queries)}
        self.made = {TOTAL: Cell(EVERY, int(release.n), int(release.n))}

    def __getitem__(self, name: str) -> Cell:
        if name not in self.made:
            place = self.place[name]
            query, lo, hi = self.queries[place], int(self.lo[place]), int(self.hi[place])
            self.made[name] = Cell(query.predicate, lo, hi, query.sums)
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        yield from (*self.place, TOTAL)

    def __len__(self) -> int:
        return len(self.place) + 1

    @property
    def empty(self) -> list[Predicate]:
        """The conditions that nobody meets: those of cells that count nobody."""
        zero = [self.queries[place] for place in np.flatnonzero(self.hi == 0).tolist()]
        return [self[query.id].adding(self.domain) if query.sums else query.predicate for query in zero]
