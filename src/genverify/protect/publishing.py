"""Protections of a release: what the counts still say after suppression or rounding, and fewer tables."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from genverify.model.arrays import Flags, Ints
from genverify.model.errors import DataError, ReleaseError
from genverify.model.release import Release, refuse_sums

if TYPE_CHECKING:  # the page in a browser reads this file, and has no pandas
    import pandas as pd

    from genverify.model.release import Schema
    from genverify.model.settings import ReleaseSettings

SUPPRESSED = -1  # no count is below 0


@dataclass(frozen=True)
class Publishing:
    """
    How counts are published. Counts below `suppress` are not shown (zeros are, if `zeros`); what is shown is rounded to
    the nearest multiple of `base` (halves up), or to one of the two nearest at random (random_nonzero: a count above 0 never
    to 0), or to the middle of its interval of `base` counts from 1 on (midpoint), or is off by at most `base`.

    >>> Publishing(rounding="midpoint", base=6).known(np.array([0, 3, 9]))
    (array([0, 1, 7]), array([ 0,  6, 12]))
    >>> Publishing(rounding="random_nonzero", base=3).known(np.array([0, 3, 6]))
    (array([0, 1, 4]), array([0, 5, 8]))
    """

    suppress: int = 0
    zeros: bool = True
    rounding: str = "none"
    base: int = 1

    def published(self, counts: Ints, rng: np.random.Generator) -> Ints:
        """What is printed for true counts; SUPPRESSED where nothing is."""
        hidden = (counts < self.suppress) & ~((counts == 0) & self.zeros)
        return np.where(hidden, SUPPRESSED, self._rounded(counts, rng))

    def _rounded(self, counts: Ints, rng: np.random.Generator) -> Ints:
        if self.rounding == "nearest":
            return counts - (counts + self.base // 2) % self.base + self.base // 2
        if self.rounding in ("random", "random_nonzero"):
            over, small = counts % self.base, (counts > 0) & (counts < self.base)
            up = (rng.integers(0, self.base, size=len(counts)) < over) | (small & (self.rounding == "random_nonzero"))
            return counts - over + self.base * up
        if self.rounding == "midpoint":
            return np.where(counts == 0, 0, -(-counts // self.base) * self.base - self.base // 2)
        if self.rounding == "stated":
            return (counts + rng.integers(-self.base, self.base + 1, size=len(counts))).clip(min=0)
        return counts

    def known(self, values: Ints) -> tuple[Ints, Ints]:
        """The least and the greatest true count behind each printed value."""
        below, above = {
            "none": (0, 0),
            "nearest": (self.base // 2, (self.base + 1) // 2 - 1),
            "random": (self.base - 1, self.base - 1),
            "random_nonzero": (self.base - 1, self.base - 1),
            "midpoint": ((self.base + 1) // 2 - 1, self.base // 2),
            "stated": (self.base, self.base),
        }[self.rounding]
        lo, hi = values - below, values + above
        if self.rounding in ("random_nonzero", "midpoint"):  # a printed 0 is a 0, and nothing else is
            lo, hi = np.where(values == 0, 0, np.maximum(lo, 1)), np.where(values == 0, 0, hi)
        zero = self.zeros & (lo <= 0)
        lo = np.where((lo < self.suppress) & ~zero, self.suppress, np.maximum(lo, 0))
        hi = np.where(hi < self.suppress, np.where(zero, 0, SUPPRESSED), hi)
        wrong = (values != SUPPRESSED) & (lo > hi)
        if wrong.any():
            what = f"a count of {values[wrong][0]} is shown"
            raise ReleaseError(f"{what}, but counts below {self.suppress} are to be suppressed")
        hidden = values == SUPPRESSED
        return np.where(hidden, int(self.zeros), lo), np.where(hidden, max(self.suppress - 1, 0), hi)

    def possible(self, values: Ints) -> Flags:
        """Whether each value can be printed at all: rounded counts are multiples of the base."""
        if self.rounding == "midpoint":
            return np.asarray((values == 0) | ((values + self.base // 2) % self.base == 0))
        if self.rounding in ("nearest", "random", "random_nonzero"):
            return np.asarray(values % self.base == 0)
        return np.ones(len(values), dtype=bool)


def publish(release: Release, how: Publishing, rng: np.random.Generator, exempt: Collection[str] = ()) -> Release:
    """The release as readers see it, from exact counts; tables in `exempt` stay exact, and so does N."""
    refuse_sums(release.schema)
    if (release.lo != release.hi).any():
        raise DataError(f"area {release.block}: its counts are known only to a range, so they cannot be protected once more")
    lo, hi = how.known(how.published(release.lo, rng))
    open_ = np.array([query.table in exempt for query in release.queries], dtype=bool)
    return replace(release, lo=np.where(open_, release.lo, lo), hi=np.where(open_, release.hi, np.minimum(hi, release.n)))


def publish_counts(counts: "pd.DataFrame", schema: "Schema", settings: "ReleaseSettings") -> "pd.DataFrame":
    """Rows (block, query, count) with lo and hi in place of count where the settings suppress, or round up to a multiple."""
    from genverify.model.release import TOTAL

    if not settings.round and not settings.suppress:
        return counts
    refuse_sums(schema)
    base, true = settings.round or 1, counts["count"].to_numpy(dtype=np.int64)
    how = Publishing(suppress=settings.suppress or 0, rounding="midpoint" if base > 1 else "none", base=base)
    # nothing is drawn; a 0 stays exact: were it open, hardly a kind of record could be ruled out
    known = how.known(how.published(true, np.random.default_rng(0)))
    lo, hi = (np.where(counts["query"] == TOTAL, true, side).astype(np.int32) for side in known)
    return counts.drop(columns="count").assign(lo=lo, hi=hi)


def without(release: Release, cells: Collection[str] = (), tables: Collection[str] = ()) -> Release:
    """The release without the named cells, and without the named tables."""
    rest = np.array([query.id not in cells and query.table not in tables for query in release.queries], dtype=bool)
    return replace(release, cells=release.cells[rest], lo=release.lo[rest], hi=release.hi[rest])
