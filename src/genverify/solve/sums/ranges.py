"""The exact range of every cell: points that attain both ends, recounted, and proofs that nothing lies outside."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, inf
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.core.sums import CEILING, Sums
from genverify.solve.recount import INTEGRAL, integer_point
from genverify.solve.solvers.base import Answer, Infeasible, IntegerProgram, Optimal, Solver, WorkLimits
from genverify.solve.solvers.choose import make_solver
from genverify.solve.sums.cases import Cases
from genverify.solve.sums.cubes import Cubes
from genverify.solve.sums.dive import Dives
from genverify.solve.sums.leaf import Ends, exact_leaf, farkas_leaf
from genverify.solve.sums.lp import CellProgram
from genverify.solve.sums.propagate import Known

ROUNDS = 40  # objectives that pull all open ends at once, before single ends are asked for
IDLE = 3  # of them in a row that brought little
POINTS = 400
TOGETHER = 8  # cells whose ends are asked for before the next ones
DIVE_FROM = 100  # in smaller systems the solver's own search is quick


@dataclass(frozen=True)
class Work:
    """
    How much work a set of cells may take: seconds in all (of the clock, or of the processor where `cpu`, so that a busy
    machine counts the same), nodes of an integer search, leaves of one proof.
    """

    seconds: float = 120.0
    nodes: int = 2_000
    leaves: int = 200
    seed: int = 1
    cpu: bool = False

    def now(self) -> float:
        return time.process_time() if self.cpu else time.monotonic()

    def solver(self, seconds: float) -> Solver:
        return make_solver("highs", WorkLimits(200_000, self.nodes, max(seconds, 0.01)))


@dataclass(frozen=True)
class Ranges:
    """
    What became of some cells: the proved ends (`lo`, `hi`), what points that fit attain (`least`, `most`), the statements
    with their proofs in order, whether it was shown that nothing fits, and some counts that fit. Where both agree a range is
    exact. A cell of `told` has ends that agree, or that a solver's search calls the best, without a proof.
    """

    lo: Ints
    hi: Ints
    least: Ints
    most: Ints
    statements: tuple[dict[str, Any], ...]
    empty: bool
    limit: str = ""
    point: Ints | None = None
    told: Flags | None = None

    @property
    def exact(self) -> Flags:
        return np.asarray((self.lo == self.least) & (self.hi == self.most))

    @property
    def uncertified(self) -> Flags:
        """The cells whose range a solver found, but of which no proof was found."""
        return np.zeros(len(self.lo), dtype=bool) if self.told is None else np.asarray(self.told & ~self.exact)


def find_ranges(
    sums: Sums,
    known: Known,
    work: Work,
    wanted: Flags | None = None,
    start: Sequence[Ints] = (),
    say: Callable[[int], None] = lambda done: None,
    cubes: Cubes | None = None,
) -> Ranges:
    """The range of every wanted cell of one part, beginning with what rows alone imply and with points that fit."""
    search = _Search(sums, known, work, np.ones(len(sums.cells), dtype=bool) if wanted is None else wanted, say)
    for point in start:
        search.keep(point)
    if cubes is not None and search.points and not known.empty:
        cubes.attain(search, np.flatnonzero(search.wanted).tolist())
    return search.run()


class _Search:
    def __init__(self, sums: Sums, known: Known, work: Work, wanted: Flags, say: Callable[[int], None]) -> None:
        self.sums, self.known, self.work, self.wanted, self.say = sums, known, work, wanted, say
        self.deadline = work.now() + work.seconds
        self.least = np.full(len(sums.cells), CEILING * 2, dtype=np.int64)
        self.most = np.full(len(sums.cells), -1, dtype=np.int64)
        self.points: list[Ints] = []
        self.limit = ""
        self.told = set[tuple[int, int]]()  # ends that the solver's search calls the best
        shape = (len(sums.rows), len(sums.cells))
        self.A = csr_array((sums.weights.astype(np.float64), sums.columns, sums.start), shape=shape)
        self.ends = Ends(known.lo.copy(), known.hi.copy())

    def run(self) -> Ranges:
        if not self.known.empty:
            self.lp = CellProgram(self.A, self.sums.least, self.sums.most, inf if self.work.cpu else self.work.seconds)
            self.to_ends(self.ends)
            if self.first():
                self.many()
                self.by_programs()
                self.single()
        lo, hi = self.known.lo, self.known.hi
        least, most = (self.least, self.most) if self.points else (lo - 1, hi + 1)
        point = self.points[0] if self.points else None
        return Ranges(
            lo, hi, least, most, tuple(self.known.statements), self.known.empty, self.limit, point, self.ends_told()
        )

    def ends_told(self) -> Flags:
        """The cells whose ends are both attained and proved, or told by the solver."""
        low, high = self.least == self.known.lo, self.most == self.known.hi
        for cell, sign in self.told:
            (high if sign > 0 else low)[cell] = True
        return np.asarray(low & high)

    @property
    def leaves(self) -> int:
        return self.work.leaves

    def to_ends(self, ends: Ends) -> None:
        self.lp.set_ends(ends.lo, ends.hi)

    def keep(self, x: Ints) -> bool:
        """A point that fits, recounted; whether it attains more than those before it."""
        if not self.sums.fits(x):
            return False
        new = bool(((x < self.least) | (x > self.most))[self.wanted].any())
        self.least, self.most = np.minimum(self.least, x), np.maximum(self.most, x)
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
            if not before or idle >= IDLE or self.late():
                return
            up_too = rng.random(len(up)) < 0.5
            objective = np.where(up & (up_too | ~down), 1.0, np.where(down, -1.0, 0.0)) * rng.uniform(0.5, 1.5, len(up))
            self.take(self.lp.maximise(objective))
            after = sum(int(own.sum()) for own in self.open_ends())
            idle = idle + 1 if before - after <= max(1, before // 50) else 0

    def by_programs(self) -> None:
        """The linear program of every open end, and dives where its vertex is fractional; some cells at a time."""
        dives = Dives(self, np.random.default_rng(self.work.seed))
        cells = np.flatnonzero(self.wanted)
        for own in np.array_split(cells, -(-len(cells) // TOGETHER)) if len(cells) else []:
            for sign in (1, -1):
                ends = [(cell, sign) for cell in own.tolist()]
                for end in ends:
                    if self.late():
                        return
                    self.relax(*end)
                if len(self.sums.cells) >= DIVE_FROM:
                    dives.attain(ends)
                    self.to_ends(self.ends)
            self.say(int(own[-1]))

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
        return self.work.now() > self.deadline

    def best_ends(self) -> Ends:
        return Ends(self.known.lo, self.known.hi)

    def relax(self, cell: int, sign: int) -> bool:
        """The linear program of an open end: its vertex as a point, its value as a bound; whether the end stays open."""
        proved = self.proved(cell, sign)
        if self.seen(cell, sign) == proved:
            return False
        objective = np.zeros(len(self.sums.cells))
        objective[cell] = sign
        answer = self.lp.maximise(objective)
        if not isinstance(answer, Optimal):
            return False
        self.take(answer)
        relaxed = floor(answer.value + INTEGRAL)
        leaf = exact_leaf(self.sums, self.ends, answer.y, {cell: sign}, min(relaxed, proved))
        if leaf is not None and relaxed < proved:
            self.prove(cell, sign, relaxed, leaf)
        return self.seen(cell, sign) < min(relaxed, proved)

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
        program = IntegerProgram(self.A, self.sums.least - shift, self.sums.most - shift, (hi - lo).astype(float), objective)
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
