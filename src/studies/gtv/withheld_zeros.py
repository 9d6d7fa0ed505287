"""A greedy search for few gaps in the release that would make withheld zeros as costly as they were to the paper."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.core.release import Release
from genverify.papers.gtv.tables.households import PAPER_K
from genverify.papers.gtv.zeros.decide import publish_less, survivors
from genverify.papers.gtv.zeros.gaps import NO_GAP, Gap
from genverify.papers.gtv.zeros.households import COMPARED, BlockClaims, distance, losses
from genverify.papers.gtv.zeros.settings import SearchRound
from genverify.solve.settings import ProgramSettings

ZEROS = (0,)


@dataclass(frozen=True)
class Row:
    """What a gap does: households by k with zeros published and withheld, and the complete release's for comparison."""

    gap: Gap
    complete: Ints
    published: Ints
    withheld: Ints

    def apart(self, paper: Floats, queries: int) -> "Apart":
        """How far a release with this gap is from the paper's."""
        spoilt = np.nan_to_num(losses(self.complete, self.published))[: len(COMPARED)].mean()
        table5 = distance(losses(self.published, self.withheld), paper)
        return Apart(table5, 100 * float(spoilt), 100 * len(self.gap.cells) / queries)


@dataclass(frozen=True)
class Apart:
    """
    The three ways in which a gap can contradict the paper, in points: losses of withheld zeros that differ from Table 5's,
    households lost while zeros are published (Table 4 has them), and lines missing of the number of queries that it states.
    """

    table5: float
    table4: float
    queries: float

    @property
    def score(self) -> float:
        return self.table5 + self.table4 + self.queries


class Lab:
    """Blocks on which gaps are tried; what was decided about a block is kept and not decided again."""

    def __init__(
        self, releases: Sequence[Release], claims: Mapping[str, BlockClaims], settings: ProgramSettings, check: bool
    ) -> None:
        self.releases, self.claims, self.settings, self.check = releases, claims, settings, check
        self.known: dict[tuple[str, bytes], Flags] = {}
        self.undecided = 0

    def households(self, gap: Gap, withhold: Collection[int], first: int | None = None) -> Ints:
        """Households singled out in each block, by k; on request only in the first blocks."""
        rows = [self._block(release, gap.cells, withhold) for release in self.releases[:first]]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(PAPER_K))

    def row(self, gap: Gap) -> Row:
        """What the gap does on all blocks together."""
        kinds = ((NO_GAP, ()), (gap, ()), (gap, ZEROS))
        return Row(gap, *(self.households(own, withhold).sum(axis=0) for own, withhold in kinds))

    def _block(self, release: Release, missing: Collection[int], withhold: Collection[int]) -> Ints:
        """Two gaps that leave the same counts of a block published ask the same question."""
        own = self.claims.get(release.block)
        if own is None:
            return np.zeros(len(PAPER_K), dtype=np.int64)
        less = publish_less(release, withhold, missing)
        key = release.block, less.cells.tobytes()
        if key not in self.known:
            found = survivors(less, own.claims, self.settings, self.check)
            self.undecided += found.undecided
            self.known[key] = found.verified
        return own.count(self.known[key])


@dataclass(frozen=True)
class Step:
    """A set of gaps that was tried, and how far it leaves the release from the paper's."""

    size: int
    row: Row
    apart: Apart


@dataclass(frozen=True)
class Search:
    """
    A greedy search: the best gap, then the best one to add to it, and so on. In every round the gaps are tried on a few
    blocks, zeros withheld, and the best go on to the next round; the last are tried on all blocks, zeros also published.
    """

    lab: Lab
    paper: Floats
    queries: int
    rounds: Sequence[SearchRound]

    def steps(self, gaps: Sequence[Gap], size: int) -> Iterator[list[Step]]:
        """For every size the sets of the last round, best first; every one holds the best set of the size before."""
        found = NO_GAP
        for number in range(1, size + 1):
            larger = [found | gap for gap in gaps if not gap.cells & found.cells]
            ranked = sorted((self._step(number, gap) for gap in self._last(larger, found)), key=_order)
            if not ranked:
                return
            yield ranked
            found = ranked[0].row.gap

    def _step(self, number: int, gap: Gap) -> Step:
        row = self.lab.row(gap)
        return Step(number, row, row.apart(self.paper, self.queries))

    def _last(self, gaps: Sequence[Gap], before: Gap) -> Sequence[Gap]:
        """The gaps that are left after all rounds; those that add nothing to the one before go first."""
        for settings in self.rounds:
            number = settings.blocks
            complete = self.lab.households(NO_GAP, (), number).sum(axis=0)
            kept = self.lab.households(before, ZEROS, number)
            gaps = [gap for gap in gaps if (self.lab.households(gap, ZEROS, number) != kept).any()] or gaps
            far = [(self._far(gap, complete, number), len(gap.cells), gap.name, gap) for gap in gaps]
            gaps = [gap for *_, gap in sorted(far, key=itemgetter(0, 1, 2))[: settings.keep]]
        return gaps

    def _far(self, gap: Gap, complete: Ints, blocks: int) -> float:
        lost = losses(complete, self.lab.households(gap, ZEROS, blocks).sum(axis=0))
        return distance(lost, self.paper) + 100 * len(gap.cells) / self.queries


def _order(step: Step) -> tuple[float, int, str]:
    return step.apart.score, len(step.row.gap.cells), step.row.gap.name
