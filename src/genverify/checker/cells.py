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
        self.published, self.lo, self.hi, self.domain = release.published, release.lo, release.hi, release.schema.domain
        self.queries, self.place = self.published.queries, self.published.place
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
        zero = np.flatnonzero(self.hi == 0).tolist()
        if not self.published.summed:
            return [self.published.predicates[place] for place in zero]
        return [self[self.queries[place].id].adding(self.domain) for place in zero]
