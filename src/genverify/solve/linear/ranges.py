"""The exact range of every cell: points that attain both ends, recounted, and proofs of the rest; part by part."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import floor, inf
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, hstack
from scipy.sparse.csgraph import connected_components

from genverify.model.arrays import Flags, Ints
from genverify.model.linear import EXACT, OPEN, LinearSystem, is_open, select
from genverify.model.work import CLOCK_LIMIT, WORK_LIMIT, WorkBudget
from genverify.solve.bounds import (
    Ends,
    LimitStruck,
    PointFound,
    bound,
    exact_leaf,
    farkas_leaf,
    fits_as,
    weighed,
    whole_multiple,
)
from genverify.solve.linear.search import MOST_ROWS, PROGRAMS, Cases, Corner, Cubes, Dives, Ranges, Work
from genverify.solve.program import INTEGRAL, by_column, integer_point, matrix_of
from genverify.solve.solvers.base import Answer, Infeasible, Limit, Optimal, Stopped, best_point, maximise_integers
from genverify.solve.solvers.highs import CellProgram

# What single rows say of their cells, again and again until nothing changes; every step is a proof of one row.

PASSES = 50  # over all rows: ends that creep are left to the programs that follow
Statement = dict[str, Any]
Check = Callable[[Statement], None]  # a statement is checked when it is made, or later


@dataclass
class KnownEnds:
    """The ends of every cell so far, the statements that show them, and whether no counts fit."""

    sums: LinearSystem
    lo: Ints
    hi: Ints
    statements: list[Statement] = field(default_factory=list)
    empty: bool = False
    check: Check | None = None

    def say(self, cell: int, side: str, value: int, proof: dict[str, Any]) -> None:
        """Another bound with its proof, in effect from here on."""
        self.state({"cell": self.sums.cells[cell], "side": side, "value": int(value), "proof": proof})
        if side == "upper":
            self.hi[cell] = min(self.hi[cell], value)
        else:
            self.lo[cell] = max(self.lo[cell], value)

    def contradict(self, proof: dict[str, Any]) -> None:
        self.state({"side": "empty", "proof": proof})
        self.empty = True

    def state(self, statement: Statement) -> None:
        if self.check is not None:
            self.check(statement)
        self.statements.append(statement)


def propagate(sums: LinearSystem, passes: int = PASSES, check: Check | None = None) -> KnownEnds:
    """The ends that single rows imply; with small weights of 1 on a tree of sums these are the exact ranges."""
    known = KnownEnds(sums, sums.lo.copy(), sums.hi.copy(), check=check)
    for _ in range(passes):
        (up, too_much), (down, too_little) = _room(known, 1), _room(known, -1)
        for impossible, y in ((too_much, 1), (too_little, -1)):
            if len(impossible):
                known.contradict({"y": {sums.rows[impossible[0]]: y}})
                return known
        steps = list(_steps(known, up, down))
        if not steps:
            return known
        for cell, side, value, proof in steps:
            if (value < known.hi[cell]) if side == "upper" else (value > known.lo[cell]):
                known.say(cell, side, value, proof)
                if known.lo[cell] > known.hi[cell]:
                    known.empty = True
                    return known
    return known


Room = tuple[Ints, Flags]  # where the cell of every entry ends by its row, and whether the row says so


def _room(known: KnownEnds, sign: int) -> tuple[Room, Ints]:
    """
    How far the cell of every entry may go when the others of its row add as little as they can, and the rows that cannot be
    met: by the upper ends of the rows (sign 1), or by their lower ends (-1). A row that 64 bits may not hold says nothing.
    """
    sums, row = known.sums, known.sums.row_of
    weights, limit = sign * sums.weights, sums.most if sign > 0 else -sums.least
    ends = np.where(weights > 0, known.lo[sums.columns], known.hi[sums.columns])
    endless = is_open(ends)
    sizes = np.bincount(row, np.abs(weights * np.where(endless, 0.0, ends)), len(sums.rows))
    silent = is_open(limit) | (sizes + np.abs(limit.astype(np.float64)) > EXACT)
    part = np.where(silent[row] | endless, 0, weights) * np.where(silent[row] | endless, 0, ends)
    left = np.where(silent, 0, limit)
    np.subtract.at(left, row, part)
    without = np.bincount(row, endless, len(sums.rows)).astype(np.int64)
    steps = np.sign(weights) * ((left[row] + part) // np.abs(weights))
    return (steps, (without[row] == endless) & ~silent[row]), np.flatnonzero((left < 0) & (without == 0) & ~silent)


def _steps(known: KnownEnds, up: Room, down: Room) -> Iterator[tuple[int, str, int, dict[str, Any]]]:
    """The bounds that rows improve, from the ends as they are now; of several about one end the best."""
    sums, positive = known.sums, known.sums.weights > 0
    for side, ends, better, y in (("upper", known.hi, np.minimum, 1), ("lower", known.lo, np.maximum, -1)):
        value, told = (np.where(positive, *pair) for pair in zip(*((up, down)[::y]), strict=True))
        best = ends.copy()
        better.at(best, sums.columns[told], value[told])
        entries = np.flatnonzero(told & (value == best[sums.columns]) & (value != ends[sums.columns]))
        for entry in entries[np.unique(sums.columns[entries], return_index=True)[1]].tolist():
            proof = {"y": {sums.rows[sums.row_of[entry]]: y if positive[entry] else -y}}
            d = abs(int(sums.weights[entry]))
            yield int(sums.columns[entry]), side, int(value[entry]), proof if d == 1 else {**proof, "d": d}


# Upper ends that the multipliers of one cell's proof show of other cells too, for those that have no proof of their own.


class Offers:
    """
    The best upper end of every cell by the multipliers met so far. y A x is at most `most` (or `least` where y < 0) of its
    rows, so a cell that y A weighs v > 0 is at most that, less the least of all other cells, over v.
    """

    def __init__(self, sums: LinearSystem, ends: Ends) -> None:
        self.sums, self.ends, self.hi = sums, ends, ends.hi.copy()
        self.by = np.full(len(sums.cells), -1)
        self.over = np.ones(len(sums.cells), dtype=np.int64)
        self.leaves = list[dict[str, int]]()

    def add(self, leaf: dict[str, Any]) -> None:
        """Look at every cell with the multipliers of a leaf."""
        Y = np.zeros(len(self.sums.rows), dtype=np.int64)
        for name, y in leaf["y"].items():
            Y[self.sums.row_place[name]] = y
        v = weighed(self.sums, Y)
        if v is None:
            return
        room = bound(self.sums, Y, self.ends, -v)
        if room == inf:
            return
        hi = np.where(v > 0, self.ends.lo + int(room) // np.maximum(v, 1), self.hi)
        better = hi < self.hi
        self.hi[better], self.over[better], self.by[better] = hi[better], v[better], len(self.leaves)
        self.leaves.append(leaf["y"])

    def proof(self, cell: int) -> dict[str, Any]:
        d = int(self.over[cell])
        leaf: dict[str, Any] = {"y": self.leaves[self.by[cell]]}
        return leaf if d == 1 else {**leaf, "d": d}


def apart(sums: LinearSystem, cells: Ints) -> list[int]:
    """Some of these cells, in their order, of which no two lie in one sum."""
    columns = by_column(sums)
    start, rows = columns.indptr.tolist(), columns.indices.tolist()
    used, result = set[int](), list[int]()
    for cell in cells.tolist():
        own = rows[start[cell] : start[cell + 1]]
        if used.isdisjoint(own):
            result.append(cell)
            used.update(own)
    return result


# The exact range of every cell: points that attain both ends, recounted, and proofs that nothing lies outside.

POINTS = 400  # bounds memory: whole tables that fit
UNSHOWN = "whether some cells have an upper end was not shown in whole numbers"
DIVE_FROM = 100  # in smaller systems the solver's own search is quick
STOPPED, ONE_PROGRAM = 3, 0.2  # programs that a limit ended before there are no more; the part of all work that one may take
SLOW = 0.05  # of the work left: an objective that takes more is the last of its kind
SEARCH = 2e-4  # units of an integer search for each entry of its rows, measured: where there are not as many it is not made
RECOUNT = 5e-5, 1e-8  # units to recount a point or to make a proof: any, and for each entry
MATCHED = 0.2  # of the ends that are pulled at together: where fewer give way, single programs with proofs are due


class RangeSearch:
    """The range of every wanted cell of one part, from what rows alone imply."""

    def __init__(
        self, sums: LinearSystem, known: KnownEnds, work: Work, budget: WorkBudget, wanted: Flags, say: Callable[[int], None]
    ) -> None:
        self.sums, self.known, self.work, self.budget, self.wanted, self.say = sums, known, work, budget, wanted, say
        self.least = np.full(len(sums.cells), OPEN, dtype=np.int64)
        self.most = np.full(len(sums.cells), -1, dtype=np.int64)
        self.points: list[Ints] = []
        self.last: Ints | None = None  # the last point that was recounted
        self.limit = ""
        self.by_solver = np.zeros((2, len(sums.cells)), dtype=bool)  # ends that the solver's search calls the best
        self.ends = Ends(known.lo.copy(), known.hi.copy())
        self.corner, self.stopped, self.recount = False, 0, RECOUNT[0] + RECOUNT[1] * len(sums.columns)

    def run(self, enough: Ints | None) -> None:
        """`enough`: rows that say all that the others say, once a point shows that they agree."""
        if not self.known.empty and self.first():
            if enough is not None:
                equations = bool((self.sums.least == self.sums.most)[enough].all())
                self.sums = select(self.sums, np.arange(len(self.sums.cells)), enough)
                self.corner = equations and len(enough) <= MOST_ROWS
                vars(self).pop("lp", None)
            self.offers = Offers(self.sums, self.ends)
            self.without_end()
            self.many()
            self.by_programs()
            self.single()
            self.take_offers()

    def program(self) -> CellProgram:
        """A linear program of the rows as they are."""
        lp = CellProgram(matrix_of(self.sums), self.sums.least, self.sums.most, self.budget)
        lp.set_ends(self.ends.lo, self.ends.hi)
        return lp

    lp = cached_property(program)

    def keep(self, x: Ints) -> None:
        """A point, if it fits when recounted."""
        self.budget.spend(self.recount)
        if not (self.sums.fits(x) if self.last is None else fits_as(self.sums, x, self.last)):
            return
        self.last = x
        self.least, self.most = np.minimum(self.least, x), np.maximum(self.most, x)  # a cell without end keeps OPEN
        if len(self.points) < POINTS:
            self.points.append(x)

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
        cone = CellProgram(csr_array(hstack([matrix, matrix])), *never, self.budget)
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

    def take(self, answer: Answer) -> None:
        x = integer_point(best_point(answer))
        if x is not None:
            self.keep(x)

    def open_ends(self) -> tuple[Flags, Flags]:
        """The lower and the upper ends that no point attains yet."""
        return self.wanted & (self.least > self.known.lo), self.wanted & (self.most < self.known.hi)

    def many(self) -> None:
        """Objectives that pull at open ends no two of which share a sum: nearly all of these give way at once."""
        rng, before = np.random.default_rng(self.work.seed), OPEN
        for sign in (-1, 1):
            open_, before, pulled = np.flatnonzero(self.open_ends()[max(sign, 0)]), OPEN, list[int]()
            while before - len(open_) > MATCHED * len(pulled) and len(open_) and not self.late():
                pulled, before, started = apart(self.sums, rng.permutation(open_)), len(open_), self.budget.left()
                objective = sign * np.bincount(pulled, minlength=len(self.ends.lo)).astype(np.float64)
                self.take(self.lp.maximise(objective, SLOW * started))
                open_ = np.flatnonzero(self.open_ends()[max(sign, 0)])
                self.say(len(self.ends.lo) - len(open_))

    def by_programs(self) -> None:
        """The linear program of every open end, and dives where its vertex is fractional; some cells at a time."""
        if len(self.sums.cells) < DIVE_FROM:
            return
        rng = np.random.default_rng(self.work.seed)
        second = self.program()
        dives, corner = Dives(self, second, rng), Corner(second, rng, self.budget) if self.corner else None
        for cell in np.flatnonzero(self.wanted).tolist():
            for sign in (1, -1):
                if self.late():
                    return
                started = self.budget.left()
                open_ = self.relax(cell, sign)
                if PROGRAMS * (started - self.budget.left()) > started:
                    continue  # programs are so slow here that bounds of other cells are worth more than this one's point
                if open_ and corner is not None:
                    best = self.proved(cell, sign)
                    point = corner.attain(self.lp, self.ends.held(cell, sign, best, fixed=True), cell, sign)
                    if point is not None:
                        self.keep(point)
                dives.attain(cell, sign)
            self.say(cell)

    def single(self) -> None:
        """Every end that is still open, one after the other."""
        for cell in np.flatnonzero(self.wanted).tolist():
            for sign in (1, -1):
                if self.late():
                    self.limit = self.budget.limit or WORK_LIMIT
                    return
                if self.relax(cell, sign):
                    self.by_integers(cell, sign)
            self.say(cell)

    def share(self) -> float:
        """The units of one integer search: a fair part of what is left, and a little more, as most need less."""
        left = self.budget.left()
        return min(left, max(1.0, 4 * left / max(sum(int(ends.sum()) for ends in self.open_ends()), 1)))

    def late(self) -> bool:
        return self.stopped >= STOPPED or bool(self.budget.limit)

    def relax(self, cell: int, sign: int) -> bool:
        """The linear program of an open end: its vertex as a point, its value as a bound; whether the end stays open."""
        self.take_offer(cell, sign)
        proved = self.proved(cell, sign)
        if self.seen(cell, sign) == proved:
            return False
        objective = np.zeros(len(self.sums.cells))
        objective[cell] = sign
        answer = self.lp.maximise(objective, ONE_PROGRAM * self.budget.units)
        if not isinstance(answer, Optimal):
            if sign > 0 and self.known.hi[cell] == OPEN:
                self.limit = UNSHOWN
            else:
                self.stopped += 1
            return False
        self.take(answer)
        self.budget.spend(self.recount)
        best = min(floor(answer.value + INTEGRAL), proved)
        leaf = exact_leaf(self.sums, self.ends, answer.y, objective.astype(np.int64), best)
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
        """What other cells' multipliers show of cells that the work did not suffice for: a fifth of a millisecond each."""
        open_ = np.flatnonzero(self.wanted & (self.offers.hi < self.known.hi))
        for cell in open_[np.argsort(self.offers.by[open_], kind="stable")].tolist():
            self.prove(cell, 1, int(self.offers.hi[cell]), self.offers.proof(cell))

    def by_integers(self, cell: int, sign: int) -> None:
        """The linear program leaves a gap: the solver's own integer search, recounted; then a proof by cases."""
        if SEARCH * len(self.sums.columns) > self.share():
            self.limit = WORK_LIMIT
            return
        answer = self.integer({cell: sign})
        self.take(answer)
        best = self.seen(cell, sign)
        if isinstance(answer, Optimal) and round(answer.value) == best:
            self.by_solver[max(sign, 0), cell] = True
        if best >= self.proved(cell, sign):
            return
        try:
            proof = Cases(self, cell, sign, best).node()
        except PointFound:  # the cases met a point that the solver had missed: asked once more from there
            self.lp.set_ends(self.ends.lo, self.ends.hi)
            if self.relax(cell, sign):
                self.by_integers(cell, sign)
            return
        except LimitStruck:
            proof = None
        self.lp.set_ends(self.ends.lo, self.ends.hi)
        if proof is not None:
            self.prove(cell, sign, best, proof)

    def integer(self, c: dict[int, int]) -> Answer:
        """The best counts by the solver's integer search."""
        objective = np.zeros(len(self.sums.cells))
        for cell, weight in c.items():
            objective[cell] = weight
        system = replace(self.sums, lo=self.ends.lo, hi=self.ends.hi)
        answer = maximise_integers(self.work.solver(self.budget.seconds()), system, objective)
        if isinstance(answer, Stopped) and answer.limit is Limit.TIME:
            self.budget.brake()
        return answer

    def seen(self, cell: int, sign: int) -> int:
        return int(self.most[cell]) if sign > 0 else -int(self.least[cell])

    def proved(self, cell: int, sign: int) -> int:
        return int(self.known.hi[cell]) if sign > 0 else -int(self.known.lo[cell])

    def prove(self, cell: int, sign: int, value: int, proof: dict[str, Any]) -> None:
        self.known.say(cell, "upper" if sign > 0 else "lower", sign * value, proof)


# A system of sums, part by part: cells that are known exactly tie nothing together, so the rest falls into pieces.

Say = Callable[[int, int], None]


def quiet(done: int, of: int) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Contradiction:
    """Rows that no counts can meet together, and the cells in them."""

    rows: tuple[str, ...]
    cells: tuple[str, ...]


def all_ranges(
    sums: LinearSystem,
    work: Work,
    wanted: Flags | None = None,
    start: Sequence[Ints] = (),
    say: Say = quiet,
    check: Check | None = None,
    cubes: Cubes | None = None,
    enough: Ints | None = None,
) -> Ranges:
    """
    The range of every wanted cell of a system; the statements are in an order in which they can be checked, and in which
    `check` gets them as they are made. Where the rows are the marginals of one table, `cubes` are steps from one point to
    others, and `enough` are rows that say all that the others say, if they agree, which a point that fits shows.
    """
    wanted = np.ones(len(sums.cells), dtype=bool) if wanted is None else wanted
    budget = work.budget()
    known = propagate(sums, check=check)
    statements: list[dict[str, Any]] = list(known.statements)
    lo, hi = known.lo.copy(), known.hi.copy()
    least, most = lo - 1, hi - 1  # nothing is attained yet
    fixed = (lo == hi) | ~np.isin(np.arange(len(lo)), sums.columns)  # a cell of no sum attains its own ends
    least[fixed], most[fixed] = lo[fixed], hi[fixed]
    empty, limits, done, given = known.empty, list[str](), 0, fixed.copy()
    point: Ints | None = lo.copy()
    rest = replace(sums, lo=lo, hi=hi) if cubes is not None else _without_known(sums, lo, hi)
    for cells, rows in [] if empty else _pieces(rest):
        part = select(rest, cells, rows)
        asked = wanted[cells] & (part.lo < part.hi)
        own_known = KnownEnds(part, part.lo.copy(), part.hi.copy(), check=check)

        def told(cell: int, before: int = done) -> None:
            say(before + cell, len(sums.cells))

        search = RangeSearch(part, own_known, work, budget, asked, told)
        for fitting in start:
            search.keep(fitting[cells])
        if cubes is not None and len(cells) == len(sums.cells) and search.points and not own_known.empty:
            cubes.attain(search, np.flatnonzero(asked).tolist())
        search.run(None if enough is None else np.flatnonzero(np.isin(rows, enough)))
        statements += own_known.statements
        lo[cells], hi[cells] = own_known.lo, own_known.hi
        if search.points:
            least[cells], most[cells] = search.least, search.most
        given[cells] = (np.array([least == lo, most == hi])[:, cells] | search.by_solver).all(axis=0)
        empty, done = empty or own_known.empty, done + len(cells)
        point = point if search.points else None
        if point is not None:
            point[cells] = search.points[0]
        limits += [search.limit] if search.limit else []
    limits = [CLOCK_LIMIT] if budget.seconds() < 0 else limits
    limit, point = limits[0] if limits else "", None if empty else point
    return Ranges(lo, hi, least, most, tuple(statements), empty, limit, point, given)


def _without_known(sums: LinearSystem, lo: Ints, hi: Ints) -> LinearSystem:
    """The same sums of the open cells alone, if 64 bits hold what the known ones add: multipliers say the same of both."""
    sums, open_, counts = replace(sums, lo=lo, hi=hi), (lo < hi)[sums.columns], np.where(lo < hi, 0, lo)
    if not sums.countable(counts):
        return sums
    added, start = sums.activity(counts), np.append(0, np.cumsum(np.bincount(sums.row_of[open_], minlength=len(sums.rows))))
    least, most = (np.where(is_open(ends), ends, ends - added) for ends in (sums.least, sums.most))
    columns, weights = sums.columns[open_], sums.weights[open_]
    return replace(sums, start=start, columns=columns, weights=weights, least=least, most=most)


def _pieces(sums: LinearSystem) -> list[tuple[Ints, Ints]]:
    """The open cells that rows tie together, with the known cells of their rows; small pieces first."""
    free = (sums.lo < sums.hi)[sums.columns]
    entries, rows = sums.columns[free], sums.row_of[free]
    size = len(sums.cells) + len(sums.rows)
    ties = coo_array((np.ones(len(entries)), (entries, rows + len(sums.cells))), shape=(size, size))
    _, label = connected_components(ties, directed=False)
    of_row = label[len(sums.cells) :]
    of_entry, named = of_row[sums.row_of], np.unique(of_row[rows])
    order = np.argsort(of_entry, kind="stable")
    cuts = np.searchsorted(of_entry[order], [named, named + 1]).T.tolist()
    pieces = [(np.unique(sums.columns[order[at:end]]), np.unique(sums.row_of[order[at:end]])) for at, end in cuts]
    return sorted(pieces, key=lambda piece: len(piece[0]))


def contradiction(sums: LinearSystem, statements: Sequence[dict[str, Any]]) -> Contradiction:
    """The rows and cells that the proof of a contradiction rests on, those of the bounds that it uses included."""
    needed: dict[str, None] = {}
    cells: dict[str, None] = {}
    for statement in reversed(statements):
        last = not needed
        if last or statement.get("cell") in cells:
            for row in rows_of(statement["proof"]):
                needed[row] = None
                at = sums.row_place[row]
                span = slice(sums.start[at], sums.start[at + 1])
                cells |= dict.fromkeys(sums.cells[cell] for cell in sums.columns[span].tolist())
    return Contradiction(tuple(needed), tuple(cells))


def rows_of(proof: dict[str, Any]) -> list[str]:
    """The rows that a proof uses."""
    if "at" in proof:
        return [*rows_of(proof["below"]), *rows_of(proof["above"])]
    return list(proof.get("y", {}))
