"""The exact range of every cell: points that attain both ends, recounted, and proofs that nothing lies outside."""

from collections.abc import Callable, Sequence
from math import floor
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.core.sums import OPEN, Sums, as_floats, is_open
from genverify.solve.recount import INTEGRAL, integer_point
from genverify.solve.solvers.base import Answer, Infeasible, IntegerProgram, Optimal
from genverify.solve.solvers.highs import BUSY
from genverify.solve.sums.cases import Cases
from genverify.solve.sums.corner import MOST_ROWS, Corner
from genverify.solve.sums.dive import PROGRAMS, Dives
from genverify.solve.sums.leaf import Ends, exact_leaf, farkas_leaf, whole_multiple
from genverify.solve.sums.lp import CellProgram
from genverify.solve.sums.matrix import fits_as, matrix_of
from genverify.solve.sums.offers import Offers
from genverify.solve.sums.propagate import Known
from genverify.solve.sums.work import Hints, Ranges, Work

ROUNDS = 40  # objectives that pull all open ends at once, before single ends are asked for
IDLE = 3  # of them in a row that brought little
POINTS = 400
UNSHOWN = "whether some cells have an upper end was not shown in whole numbers"
DIVE_FROM = 100  # in smaller systems the solver's own search is quick
FEW_OPEN = 0.01  # of the cells: so many ends are asked for one by one
STOPPED, ONE_PROGRAM = 3, 0.2  # programs that a limit ended before there are no more; the part of all time that one may take
SLOW = 0.05  # of the time left: an objective that takes longer is the last of its kind
OFFER, OFFERS = (
    2e-4,
    0.1,
)  # seconds to state and check what is shown of a cell beside others; the part of all that is kept for it


def find_ranges(
    sums: Sums,
    known: Known,
    work: Work,
    wanted: Flags | None = None,
    start: Sequence[Ints] = (),
    say: Callable[[int], None] = lambda done: None,
    hints: Hints = Hints(),  # noqa: B008  (frozen)
) -> Ranges:
    """The range of every wanted cell of one part, beginning with what rows alone imply and with points that fit."""
    search = _Search(sums, known, work, np.ones(len(sums.cells), dtype=bool) if wanted is None else wanted, say)
    for point in start:
        search.keep(point)
    if hints.cubes is not None and search.points and not known.empty:
        hints.cubes.attain(search, np.flatnonzero(search.wanted).tolist())
    return search.run(hints.rows)


class _Search:
    def __init__(self, sums: Sums, known: Known, work: Work, wanted: Flags, say: Callable[[int], None]) -> None:
        self.sums, self.known, self.work, self.wanted, self.say = sums, known, work, wanted, say
        self.end_of_all = work.now() + work.seconds
        self.least = np.full(len(sums.cells), OPEN, dtype=np.int64)
        self.most = np.full(len(sums.cells), -1, dtype=np.int64)
        self.points: list[Ints] = []
        self.last: Ints | None = None  # the last point that was recounted
        self.limit = ""
        self.told = set[tuple[int, int]]()  # ends that the solver's search calls the best
        self.ends = Ends(known.lo.copy(), known.hi.copy())
        self.offers = Offers(sums, self.ends)
        self.corner, self.stopped = False, 0

    def run(self, enough: Ints | None) -> Ranges:
        """`enough`: rows that say all that the others say, once a point shows that they agree."""
        if not self.known.empty:
            if enough is None or not self.points:
                self.open(None)
            if self.first():
                self.without_end()
                if enough is not None:
                    self.open(enough)
                self.many()
                self.by_programs()
                self.single()
                self.take_offers()
        lo, hi = self.known.lo, self.known.hi
        least, most = (self.least, self.most) if self.points else (lo - 1, hi - 1)
        point = self.points[0] if self.points else None
        return Ranges(
            lo, hi, least, most, tuple(self.known.statements), self.known.empty, self.limit, point, self.ends_told()
        )

    def open(self, rows: Ints | None) -> None:
        """The linear program of some rows, or all."""
        self.lp = CellProgram(matrix_of(self.sums), self.sums.least, self.sums.most, self.left, rows)
        self.to_ends(self.ends)
        equations = bool((self.sums.least == self.sums.most)[self.lp.rows].all())
        self.corner = rows is not None and equations and len(rows) <= MOST_ROWS

    @property
    def deadline(self) -> float:
        """The end of the search: what was found beside is still to be stated, and checked."""
        kept = min(OFFERS * self.work.seconds, OFFER * len(self.sums.cells)) if self.offers.leaves else 0.0
        return self.end_of_all - kept

    def left(self) -> float:
        """Seconds left to a linear program, by the clock."""
        return (BUSY if self.work.cpu else 1.0) * (self.deadline - self.work.now())

    def ends_told(self) -> Flags:
        """The cells whose ends are both attained and proved, or told by the solver."""
        low, high = self.least == self.known.lo, self.most == self.known.hi
        for cell, sign in self.told:
            (high if sign > 0 else low)[cell] = True
        return np.asarray(low & high)

    def to_ends(self, ends: Ends) -> None:
        self.lp.set_ends(ends.lo, ends.hi)

    def keep(self, x: Ints) -> bool:
        """A point that fits, recounted; whether it attains more than those before it."""
        if not (self.sums.fits(x) if self.last is None else fits_as(self.sums, x, self.last)):
            return False
        self.last = x
        new = bool(((x < self.least) | (x > self.most))[self.wanted].any())
        self.least, self.most = np.minimum(self.least, x), np.maximum(self.most, x)  # a cell without end keeps OPEN
        if len(self.points) < POINTS:
            self.points.append(x)
        return new

    def first(self) -> bool:
        """Whether some point fits; a contradiction is shown, a limit is noted."""
        if self.points:
            return True
        answer = self.lp.maximise(np.zeros(len(self.sums.cells)))
        if isinstance(answer, Infeasible):
            self.contradict(answer)
            return False
        self.take(answer)
        if not self.points:
            self.take(self.integer({}))
        if not self.points and not self.known.empty:
            self.limit = "no counts that fit were found within the limits"
        return bool(self.points)

    def without_end(self) -> None:
        """
        The cells that nothing bounds: a direction raises them that can be added to counts that fit again and again. As such
        directions add up, one program finds one for all of these cells: each counts once, however far it is raised. It is
        recounted in integers.
        """
        free, n = is_open(self.known.hi), len(self.sums.cells)
        if not free.any():
            return
        never = np.where(is_open(self.sums.least), -OPEN, 0), np.where(is_open(self.sums.most), OPEN, 0)
        matrix = matrix_of(self.sums)
        cone = CellProgram(csr_array(hstack([matrix, matrix])), *never, self.left)
        cone.set_ends(np.zeros(2 * n, dtype=np.int64), np.concatenate([free, np.where(free, OPEN, 0)]))
        answer = cone.maximise(np.repeat([1.0, 0.0], n))
        step = None if not isinstance(answer, Optimal) else whole_multiple(answer.z[:n] + answer.z[n:])
        if step is not None and self.sums.countable(step):
            moved = self.sums.activity(step)
            if (moved >= never[0]).all() and (moved <= never[1]).all():
                self.most[step > 0] = OPEN

    def contradict(self, answer: Infeasible) -> None:
        leaf = farkas_leaf(self.sums, self.ends, answer.y)
        if leaf is None:
            self.limit = "no counts fit, by the solver, but without an exact proof"
        else:
            self.known.contradict(leaf)

    def take(self, answer: Answer) -> bool:
        point = answer.z if isinstance(answer, Optimal) else getattr(answer, "incumbent", None)
        x = integer_point(point) if point is not None else None
        return x is not None and self.keep(x)

    def open_ends(self) -> tuple[Flags, Flags]:
        """The lower and the upper ends that no point attains yet."""
        return self.wanted & (self.least > self.known.lo), self.wanted & (self.most < self.known.hi)

    def many(self) -> None:
        """Objectives that pull at all open ends at once: a vertex often attains many of them."""
        rng, idle = np.random.default_rng(self.work.seed), 0
        for _ in range(ROUNDS):
            down, up = self.open_ends()
            before = int(down.sum() + up.sum())
            if before <= FEW_OPEN * self.wanted.sum() or idle >= IDLE or self.late():
                return
            started = self.work.now()
            most = SLOW * (self.deadline - started)
            up_too = rng.random(len(up)) < 0.5
            objective = np.where(up & (up_too | ~down), 1.0, np.where(down, -1.0, 0.0)) * rng.uniform(0.5, 1.5, len(up))
            self.take(self.lp.maximise(objective, most))
            after = sum(int(own.sum()) for own in self.open_ends())
            idle = idle + 1 if before - after <= max(1, before // 50) else 0
            if self.work.now() - started > most:
                return

    def by_programs(self) -> None:
        """The linear program of every open end, and dives where its vertex is fractional; some cells at a time."""
        if len(self.sums.cells) < DIVE_FROM:
            return
        rng = np.random.default_rng(self.work.seed)
        second = CellProgram(matrix_of(self.sums), self.sums.least, self.sums.most, self.left, self.lp.rows)
        dives, corner = Dives(self, second, rng), Corner(second, rng) if self.corner else None
        for cell in np.flatnonzero(self.wanted).tolist():
            for sign in (1, -1):
                if self.late():
                    return
                started = self.work.now()
                open_ = self.relax(cell, sign)
                if PROGRAMS * (self.work.now() - started) > self.deadline - started:
                    continue  # programs are so slow here that bounds of other cells are worth more than this one's point
                if open_ and corner is not None:
                    best = self.proved(cell, sign)
                    point = corner.attain(self.lp, self.ends.held(cell, sign, best, fixed=True), cell, sign)
                    if point is not None:
                        self.keep(point)
                dives.attain([(cell, sign)])
            self.say(cell)

    def single(self) -> None:
        """Every end that is still open, one after the other."""
        for cell in np.flatnonzero(self.wanted).tolist():
            for sign in (1, -1):
                if self.late():
                    self.limit = "time limit"
                    return
                self.end(cell, sign)
            self.say(cell)

    def share(self) -> float:
        """The seconds of one integer search: a fair part of what is left, and a little more, as most need less."""
        left = self.deadline - self.work.now()
        return min(left, max(1.0, 4 * left / max(sum(int(own.sum()) for own in self.open_ends()), 1)))

    def late(self) -> bool:
        return self.stopped >= STOPPED or self.work.now() > self.deadline

    def best_ends(self) -> Ends:
        return Ends(self.known.lo, self.known.hi)

    def relax(self, cell: int, sign: int) -> bool:
        """The linear program of an open end: its vertex as a point, its value as a bound; whether the end stays open."""
        self.take_offer(cell, sign)
        proved = self.proved(cell, sign)
        if self.seen(cell, sign) == proved:
            return False
        objective = np.zeros(len(self.sums.cells))
        objective[cell] = sign
        answer = self.lp.maximise(objective, ONE_PROGRAM * self.work.seconds)
        if not isinstance(answer, Optimal):
            if sign > 0 and self.known.hi[cell] == OPEN:
                self.limit = UNSHOWN
            else:
                self.stopped += 1
            return False
        self.take(answer)
        best = min(floor(answer.value + INTEGRAL), proved)
        leaf = exact_leaf(self.sums, self.ends, answer.y, {cell: sign}, best)
        if leaf is None and proved == OPEN:
            self.limit = UNSHOWN
        if leaf is not None and best < proved:
            self.prove(cell, sign, best, leaf)
            if sign > 0:
                self.offers.add(leaf)
        return self.seen(cell, sign) < best

    def take_offer(self, cell: int, sign: int) -> None:
        """Another cell's multipliers show the end that a point attains: no program is needed."""
        if sign > 0 and self.known.hi[cell] > self.offers.hi[cell] == self.seen(cell, sign):
            self.prove(cell, sign, int(self.offers.hi[cell]), self.offers.proof(cell))

    def take_offers(self) -> None:
        """What other cells' multipliers show of cells that the time did not suffice for."""
        open_ = np.flatnonzero(self.wanted & (self.offers.hi < self.known.hi))
        for cell in open_[np.argsort(self.offers.by[open_], kind="stable")].tolist():
            if self.work.now() > self.end_of_all:
                return
            self.prove(cell, 1, int(self.offers.hi[cell]), self.offers.proof(cell))

    def end(self, cell: int, sign: int) -> None:
        """The most of sign x[cell]: attained and proved, or left as it is."""
        if self.relax(cell, sign):
            self.by_integers(cell, sign)

    def by_integers(self, cell: int, sign: int) -> None:
        """The linear program leaves a gap: the solver's own integer search, recounted; then a proof by cases."""
        answer = self.integer({cell: sign})
        self.take(answer)
        best = self.seen(cell, sign)
        if isinstance(answer, Optimal) and round(answer.value) == best:
            self.told.add((cell, sign))
        if best >= self.proved(cell, sign):
            return
        finder = Cases(self, cell, sign, best)
        proof = finder.node(self.ends, 0)
        self.to_ends(self.ends)
        if finder.better:  # the cases met a point that the solver had missed: asked once more from there
            self.end(cell, sign)
        elif proof is not None:
            self.prove(cell, sign, best, proof)

    def integer(self, c: dict[int, int]) -> Answer:
        """The best counts by the solver's integer search; cells from 0, as it wants them."""
        lo, hi = self.ends.lo, self.ends.hi
        shift: Floats = self.sums.activity(lo).astype(np.float64)
        objective = np.zeros(len(lo))
        for cell, own in c.items():
            objective[cell] = own
        least, most, rows = as_floats(self.sums.least) - shift, as_floats(self.sums.most) - shift, self.lp.rows
        program = IntegerProgram(self.lp.A.tocsr(), least[rows], most[rows], as_floats(hi) - lo, objective)
        answer = self.work.solver(self.share()).solve(program)
        if isinstance(answer, Optimal):
            return Optimal(answer.value + float(objective @ lo), answer.z + lo)
        if isinstance(answer, Infeasible):
            return answer
        met = None if answer.incumbent is None else answer.incumbent + lo
        return type(answer)(answer.limit, met, answer.bound)

    def seen(self, cell: int, sign: int) -> int:
        return int(self.most[cell]) if sign > 0 else -int(self.least[cell])

    def proved(self, cell: int, sign: int) -> int:
        return int(self.known.hi[cell]) if sign > 0 else -int(self.known.lo[cell])

    def prove(self, cell: int, sign: int, value: int, proof: dict[str, Any]) -> None:
        self.known.say(cell, "upper" if sign > 0 else "lower", sign * value, proof)
