"""
The attack on protected counts of a block: claims verified from the release, which need not be true of the private block.

Exact counts are attacked as in the study. Ranges leave so many record types open that the program may be too large to build.
So datasets that fit are searched first, each made to contradict a claim that is still a candidate: where none is left,
nothing can be verified. Only otherwise is the program built; if it is too large, what is left is undecided.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from genverify.attack.block import Verified, verify_block
from genverify.attack.generate import generate_block
from genverify.attack.verify import Verdict
from genverify.core.arraytypes import Flags, Ints
from genverify.core.claims import ATTACKED, CONTRADICTORY, UNDECIDED, Codes, candidate_claims, false_claims, matches
from genverify.core.errors import NoDatasetError
from genverify.core.release import Release
from genverify.papers.gtv.protected.kinds import Kinds
from genverify.papers.gtv.protected.search import Search, Wanted
from genverify.solve.leaves import certificate_of
from genverify.solve.settings import ProgramSettings
from genverify.solve.types import TooManyTypes

FAILURES = 20
KICKS = 3


@dataclass(frozen=True)
class Attacked:
    """
    What became of a block: attacked, with the claims that are verified (None: no candidate is left) and the number of those
    that stayed undecided; contradictory, where it is proved that no dataset fits; or undecided, where none was found.
    `certificate` proves the claims, or the contradiction, and was checked; otherwise it is empty.
    """

    status: str
    certificate: Mapping[str, Any]
    verified: Verified | None = None
    undecided: int = 0


@dataclass(frozen=True)
class Attack:
    """The attack's settings, and the kinds of records that searches use; they are built when ranges are first met."""

    program: ProgramSettings
    datasets: int
    min_k: int
    make_kinds: Callable[[], Kinds]

    def block(self, release: Release, seed: int) -> Attacked:
        """Generate, then verify; every proof is checked."""
        self.program.proving("The attack on protected counts")
        datasets, nothing = None, certificate_of(release)
        if (release.lo < release.hi).any():
            datasets = self._searched(release, seed)
        try:
            if datasets is None:
                datasets = generate_block(release, self.program, self.datasets, seed).records
            left = len(candidate_claims(datasets, self.min_k)[1])
            return self._verified(release, datasets) if left else Attacked(ATTACKED, nothing)
        except NoDatasetError as error:
            return Attacked(CONTRADICTORY, error.certificate) if error.certificate else Attacked(UNDECIDED, nothing)
        except TooManyTypes:
            return Attacked(UNDECIDED, nothing) if datasets is None else Attacked(ATTACKED, nothing, undecided=left)

    def _verified(self, release: Release, datasets: Codes) -> Attacked:
        found = verify_block(release, datasets, self.program, self.min_k)
        open_ = [d for d in found.decisions if d.verdict in (Verdict.UNDECIDED, Verdict.UNCERTIFIED)]
        return Attacked(ATTACKED, found.certificate, found, len(open_))

    def _searched(self, release: Release, seed: int) -> Codes | None:
        """Datasets that fit and leave few candidates; None where no dataset was found that way."""
        return Refuting(release, self.make_kinds(), self.min_k, np.random.default_rng(seed)).datasets()


class Refuting:
    """Datasets that fit the ranges of a release, each found so as to contradict a claim that all before it share."""

    def __init__(self, release: Release, kinds: Kinds, min_k: int, rng: np.random.Generator) -> None:
        self.kinds, self.n, self.min_k, self.rng = kinds, release.n, min_k, rng
        queries = len(release.schema.queries)
        lo, hi = np.zeros(queries, dtype=np.int64), np.full(queries, release.n, dtype=np.int64)
        lo[release.cells], hi[release.cells] = release.lo, release.hi
        self.wanted = Wanted(lo, hi)

    def datasets(self) -> Codes | None:
        """All that were found; the search ends when no candidate is left, or after a number of failures in a row."""
        first = self._fitting(self._seek(None), None)
        if first is None:
            return None
        found, records = [first], [self.kinds.records(first, self.rng)]
        codes, m = candidate_claims(np.array(records), self.min_k)
        failures = 0
        while len(m) and failures < FAILURES:
            other = self._contradicting(codes[self.rng.integers(len(m))], found)
            failures += 1
            if other is not None:
                found.append(other)
                records.append(self.kinds.records(other, self.rng))
                kept = ~false_claims(matches(codes, records[-1]), m)
                failures = failures if kept.all() else 0
                codes, m = codes[kept], m[kept]
        return np.array(records)

    def _contradicting(self, claim: Codes, found: list[Ints]) -> Ints | None:
        """
        A dataset with another number of records that can match the claim than a known one has: one is taken out of it, or
        one put in for another; for the rest of the search no other such record moves.
        """
        matching = self.kinds.matching(claim)
        base = found[self.rng.integers(len(found))]
        others = np.flatnonzero(~matching[base])
        if len(others) and self.rng.random() < 0.5:
            start = self._seek(~matching).added(np.delete(base, self.rng.choice(others)))
        else:
            start = np.delete(base, self.rng.choice(np.flatnonzero(matching[base])))
        return self._fitting(self._seek(matching), start)

    def _seek(self, barred: Flags | None) -> Search:
        return Search(self.kinds, self.wanted, self.n, self.rng, barred)

    def _fitting(self, search: Search, start: Ints | None) -> Ints | None:
        records = search.nearest(start, KICKS)
        return records if search.error(records) == 0 else None


def limited(program: ProgramSettings, max_types: int) -> ProgramSettings:
    """The program's settings with a lower limit of record types."""
    return program.but(max_types=min(program.max_types, max_types))
