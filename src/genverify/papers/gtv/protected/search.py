"""Datasets near given counts, by local search: noisy counts made consistent, and datasets that fit ranges of counts."""

from dataclasses import dataclass

import numpy as np

from genverify.core.arraytypes import Flags, Ints
from genverify.papers.gtv.protected.kinds import Kinds

KICKS = 20
DROPPED = 5
NEVER = 2**60


@dataclass(frozen=True)
class Wanted:
    """
    Ranges that counts should lie in; the error of a count is the square of its distance to its range.

    >>> Wanted(np.array([2, 0]), np.array([2, 1])).errors(np.array([0, 1])).tolist()
    [4, 0]
    """

    lo: Ints
    hi: Ints

    def errors(self, counts: Ints) -> Ints:
        """The error of every count."""
        away: Ints = np.maximum(np.maximum(self.lo - counts, counts - self.hi), 0)
        return away * away


class Search:
    """
    Looks for n records whose counts have a small error, replacing one at a time by a kind that leaves the smallest, ties at
    random. Kinds that are `barred` are not put in, and where they stand already they are left alone.
    """

    def __init__(self, kinds: Kinds, wanted: Wanted, n: int, rng: np.random.Generator, barred: Flags | None = None) -> None:
        self.kinds, self.wanted, self.n, self.rng = kinds, wanted, n, rng
        self.barred: Flags = np.zeros(kinds.program.classes, dtype=bool) if barred is None else barred
        self.rates = np.zeros(len(wanted.lo), dtype=np.int64)
        self.scores = np.where(self.barred, NEVER, 0)

    def nearest(self, start: Ints | None = None, kicks: int = KICKS) -> Ints:
        """The kinds of n records: filled up and improved, then shaken a few times; the best that was met."""
        best = self._improved(self._filled(np.zeros(0, dtype=np.int64) if start is None else start))
        for _ in range(kicks):
            if self.error(best) == 0:
                break
            tried = self._improved(self._filled(self.rng.permutation(best)[DROPPED:]))
            best = tried if self.error(tried) <= self.error(best) else best
        return best

    def error(self, records: Ints) -> int:
        """All errors of the counts of records together."""
        return int(self.wanted.errors(self.kinds.counts(records)).sum())

    def added(self, records: Ints) -> Ints:
        """The records and one more, the best."""
        return np.append(records, self._pick(self._changes(records)))

    def _filled(self, records: Ints) -> Ints:
        """The records and as many more as are missing, each the best at its turn."""
        while len(records) < self.n:
            records = self.added(records)
        return records

    def _improved(self, records: Ints) -> Ints:
        """The records after replacements, until a round of them lowers the error no more."""
        records, before = records.copy(), self.error(records) + 1
        while self.error(records) < before:
            before = self.error(records)
            for place in self.rng.permutation(np.flatnonzero(~self.barred[records])):
                records[place] = self._pick(self._changes(np.delete(records, place)))
        return records

    def _changes(self, records: Ints) -> Ints:
        """By how much one more record of each kind would change the error; brought up to date where a count has changed."""
        counts = self.kinds.counts(records)
        rates = self.wanted.errors(counts + 1) - self.wanted.errors(counts)
        for query in np.flatnonzero(rates != self.rates):
            self.scores[self.kinds.lying_in[query]] += rates[query] - self.rates[query]
        self.rates = rates
        return self.scores

    def _pick(self, changes: Ints) -> int:
        return int(self.rng.choice(np.flatnonzero(changes == changes.min())))
