"""
Which more cells to withhold, so that none of the withheld ones is known too well: cells that can move together.

A withheld cell can take another value only if other withheld or unprinted cells make up for it in every sum. So for each
cell that is known too well: the cheapest set of printed cells that lets it move by the wanted width, by a small program; at
the end all ranges are computed again, and a cell that turns out to be needless is printed again. That is greedy; where the
smaller sets are few, all of them are tried, and the answer says whether it is the fewest.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from genverify.core.sums import OPEN, as_floats
from genverify.disclosure.exposed import Exposed, opened
from genverify.solve.solvers.base import IntegerProgram, Optimal
from genverify.solve.sums.parts import all_ranges
from genverify.solve.sums.work import Ranges, Work

ROUNDS = 6
SETS, SECONDS = 400, 5.0  # smaller sets that are tried at the end, if they are that few, and how long
FEWEST, GREEDY = "no fewer would do: all smaller sets were tried", "found step by step: perhaps not the fewest"
TOTALS, ZEROS = 4.0, 1.5  # a total, or a 0, is rather printed than an inner cell


@dataclass(frozen=True)
class Complement:
    """The cells to withhold as well, those still known too well, the ranges then, and whether the time was enough."""

    cells: tuple[int, ...]
    left: tuple[int, ...]
    ranges: Ranges
    in_time: bool
    fewest: str = GREEDY


def complement(exposed: Exposed, targets: Sequence[int], width: int, work: Work) -> Complement:
    """Cells to withhold besides the targets so that counts of each that fit are at least `width` apart, as points show."""
    search = _Search(exposed, width, work)
    open_, ranges = list(targets), exposed.ranges
    if exposed.linked.beside:  # the percentages beside withheld counts go first
        ranges = search.ranges()
        open_ = [cell for cell in targets if ranges.moves[cell] < width]
    for _ in range(ROUNDS if open_ else 0):
        for cell in open_:
            search.free(cell)
        ranges = search.ranges()
        open_ = [cell for cell in [*targets, *sorted(search.added)] if ranges.moves[cell] < width]
        open_ = [cell for cell in open_ if cell not in search.stuck]
        if not open_ or search.late():
            break
    ranges = search.prune(list(targets), ranges)
    left = [cell for cell in [*targets, *sorted(search.added)] if ranges.moves[cell] < width]
    fewest = GREEDY
    if not left:
        ranges, fewest = search.smaller(list(targets), ranges)
    return Complement(tuple(sorted(search.added)), tuple(left), ranges, not search.late(), fewest)


def still_narrow(
    exposed: Exposed, targets: Sequence[int], cells: Sequence[int], width: int, work: Work
) -> tuple[list[int], str]:
    """The targets and cells whose range is too narrow when the cells are withheld, and the limit that was met."""
    search = _Search(exposed, width, work)
    search.added = set(cells)
    ranges = search.ranges()
    return [cell for cell in (*targets, *cells) if ranges.hi[cell] - ranges.lo[cell] < width], ranges.limit


class _Search:
    def __init__(self, exposed: Exposed, width: int, work: Work) -> None:
        self.exposed, self.width, self.work = exposed, width, work
        self.sums, self.linked = opened(exposed.linked, ()), exposed.linked
        self.deadline = time.monotonic() + work.seconds
        self.added, self.stuck = set[int](), set[int]()
        self.printed = np.zeros(len(self.sums.cells), dtype=bool)
        self.printed[list(exposed.printed.values())] = True
        shape = (len(self.sums.rows), len(self.sums.cells))
        self.A = csr_array((self.sums.weights.astype(np.float64), self.sums.columns, self.sums.start), shape=shape)
        self.totals = np.zeros(len(self.sums.cells), dtype=bool)
        self.totals[self.sums.columns[self.sums.weights < 0]] = True
        point = exposed.ranges.point
        self.x = np.zeros(len(self.sums.cells), dtype=np.int64) if point is None else point
        self.possible = point is not None

    def late(self) -> bool:
        return time.monotonic() > self.deadline

    def free(self, target: int) -> None:
        """Withhold the cheapest printed cells that let the target move by the wanted width, up or down."""
        if self.late() or not self.possible:
            return
        moves = [self._move(target, sign) for sign in (1, -1)]
        found = [move for move in moves if move is not None]
        if not found:
            self.stuck.add(target)
            return
        _, cells = min(found, key=lambda move: (move[0], sorted(move[1])))
        self.added |= cells

    def _move(self, target: int, sign: int) -> tuple[float, set[int]] | None:
        sums, n = self.sums, len(self.sums.cells)
        fixed = self.printed & (sums.lo == sums.hi)
        fixed[list(self.added)] = False
        free = opened(self.linked, [*np.flatnonzero(fixed).tolist(), *self.added, target])
        cost = np.where(fixed, np.where(self.totals, TOTALS, np.where(self.x == 0, ZEROS, 1.0)), 1e-4)
        cost[target] = 0
        up, down = as_floats(free.hi) - self.x, (self.x - free.lo).astype(np.float64)
        room = 4.0 * self.width
        moved = np.zeros((1, n))
        moved[0, target] = 1
        A = csr_array(hstack([self.A, -self.A]))
        one = csr_array(np.hstack([moved, -moved]))
        activity = sums.activity(self.x)
        kept = [row for row, cell in self.linked.beside.items() if fixed[cell]]
        rows = csr_array(vstack([A + self._unless(kept, room), one]))
        least, most = as_floats(free.least), as_floats(free.most)
        least[kept], most[kept] = as_floats(sums.least[kept]), as_floats(sums.most[kept])
        lo, hi = np.append(least - activity, sign * self.width), np.append(most - activity, sign * self.width)
        upper = np.minimum(np.concatenate([up, down]), room).clip(min=0)
        program = IntegerProgram(rows, lo, hi, upper, -np.concatenate([cost, cost]))
        answer = self.work.solver(min(10.0, max(self.deadline - time.monotonic(), 0.1))).solve(program)
        if not isinstance(answer, Optimal):
            return None
        used = np.flatnonzero((answer.z[:n] + answer.z[n:] > 0.5) & fixed)
        return float(cost[used].sum()), set(used.tolist())

    def _unless(self, kept: Sequence[int], room: float) -> csr_array:
        """A percentage beside a printed count holds unless that count is withheld: whatever moves, its row is then met."""
        n = len(self.sums.cells)
        enough = room * abs(self.A[kept]).sum(axis=1) * np.where(self.sums.most[kept] == OPEN, 1, -1)
        cells = np.array([self.linked.beside[row] for row in kept], dtype=np.int64)
        places = (np.tile(kept, 2), np.concatenate([cells, n + cells]))
        return csr_array((np.tile(enough, 2), places), shape=(len(self.sums.rows), 2 * n))

    def ranges(self) -> Ranges:
        seconds = max(self.deadline - time.monotonic(), 1.0)
        wanted = self.exposed.unclear.copy()
        wanted[list(self.added)] = True
        return all_ranges(opened(self.linked, self.added), replace(self.work, seconds=seconds), wanted)

    def prune(self, targets: list[int], ranges: Ranges) -> Ranges:
        """Print again what is not needed, one cell after the other, while there is time."""

        def narrow(found: Ranges) -> int:
            cells = [*targets, *self.added]
            return int((found.moves[cells] < self.width).sum())

        for cell in sorted(self.added, key=lambda at: (-float(self.totals[at]), at)):
            if self.late() or len(self.added) < 2:
                break
            before = narrow(ranges)
            self.added.discard(cell)
            tried = self.ranges()
            if narrow(tried) > before:
                self.added.add(cell)
            else:
                ranges = tried
        return ranges

    def smaller(self, targets: list[int], ranges: Ranges) -> tuple[Ranges, str]:
        """A set of fewer cells that does as well, if all smaller sets are few enough to be tried."""
        greedy, started = self.added, time.monotonic()
        candidates = np.flatnonzero(self.printed & (self.sums.lo == self.sums.hi)).tolist()
        if sum(comb(len(candidates), size) for size in range(1, len(greedy))) > SETS:
            return ranges, GREEDY
        for chosen in (own for size in range(1, len(greedy)) for own in combinations(candidates, size)):
            if self.late() or time.monotonic() > started + SECONDS:
                self.added = greedy
                return ranges, GREEDY
            self.added = set(chosen)
            tried = self.ranges()
            cells = [*targets, *chosen]
            if (tried.moves[cells] >= self.width).all():
                return tried, FEWEST
        self.added = greedy
        return ranges, FEWEST
