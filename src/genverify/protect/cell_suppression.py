"""
Cell suppression: the cheapest printed cells to suppress as well, so that each sensitive cell can still be what it must.

The exact method is that of Fischetti and Salazar. A master program chooses cells; for a sensitive cell that the choice does
not protect, the dual of the linear program of its largest (or least) count is a row of the master that every protecting
choice meets. A linear program may promise counts that no whole numbers attain, so each sensitive cell is shown at the end by
two whole tables that fit; a choice that integers do not protect is cut off, with all that it holds. A heuristic gives the
first choice: for each cell in turn the cheapest others that move with it. Then the relaxed master, whose rows come from
fractional choices, gives a bound, prices for a second and better choice, and the cells that no cheaper choice has (reduced
costs); what is left goes to integer programs. All limits but one are in work: answers repeat.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, inf
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.linear import OPEN, LinearSystem, as_floats
from genverify.solve.linear.ranges import MATCHED, apart
from genverify.solve.program import WrongAnswer, integer_point, matrix_of
from genverify.solve.solvers.base import (
    Infeasible,
    IntegerProgram,
    Optimal,
    Stopped,
    WorkLimits,
    best_point,
    make_solver,
    maximise_integers,
)
from genverify.solve.solvers.highs import ITERATIONS, HighsProgram

SMALL = 1e-7  # multipliers and violations below this are noise of the solver
VIOLATED = 1e-3  # of the right side: rows that are met less than this are not worth another program
TOTALS = 1.01  # of the cost, for the heuristic alone: of two choices that cost the same, the one without totals
PERCENT = 1e4  # rows of percentages have weights of about this size: what they miss counts by so much less
POOL = 20_000_000  # changed counts of points that are stored: bounds memory
NARROW, CHEAP = 6_000, 12  # in tables of more cells linear programs have the so many cheapest cells of each sum
EXACT = 30_000  # cells of tables beyond which only the heuristic runs: a round of rows takes minutes there
SURE = 0.99, 0.3  # shares of the relaxed master above which a cell is chosen before the heuristic completes the choice
GROUPS = 8  # of other cells that are tried with a choice that integers do not protect: the row about it gets shorter
STOPPED = 2  # master programs that the limit of nodes ended: another one would end there too
REPAIRS = 6  # choices of the master that are completed to protecting ones: each may be cheaper than the best


@dataclass(frozen=True)
class Requirement:
    """What must stay possible of a cell: a count of `high` or more, one of `low` or less, two counts `width` apart."""

    cell: int
    high: int = 0
    low: int = OPEN
    width: int = 1


@dataclass(frozen=True)
class PatternWork:
    """Limits of a search: linear programs, rounds of rows from fractional choices, master programs and their nodes."""

    programs: int = 40_000
    rounds: int = 40
    masters: int = 40
    nodes: int = 300
    checks: int = 600  # of a master program, by the solver: its first node may take most of the work
    seconds: float = inf  # of one core, for all of it: a safety net, and the answer says where it held

    def scaled(self, cells: int) -> "PatternWork":
        """The same, less for tables of more than a thousand cells: what a program takes grows with them."""
        part = min(1.0, 1_000 / max(cells, 1))
        masters, nodes = (max(ceil(part * most), 4) for most in (self.masters, self.nodes))
        return replace(self, masters=masters, nodes=nodes) if cells <= EXACT else replace(self, rounds=0, masters=0)


@dataclass(frozen=True)
class SuppressionProblem:
    """
    What is published before more is suppressed, some counts that fit it, what each cell costs (below 0: it stays printed),
    what is required, and the rows that say nothing once a cell is suppressed (`beside`: the percentage of a count). A
    suppressed cell that is not sensitive must have two counts `everywhere` apart.
    """

    system: LinearSystem
    counts: Ints
    cost: Ints
    requirements: tuple[Requirement, ...]
    beside: Mapping[int, int] = field(default_factory=dict)
    everywhere: int = 1

    @cached_property
    def closable(self) -> Flags:
        """The cells that are printed exactly and may be suppressed."""
        return np.asarray((self.system.lo == self.system.hi) & (self.cost >= 0))

    @cached_property
    def primary(self) -> Flags:
        flags = np.zeros(len(self.counts), dtype=bool)
        flags[[one.cell for one in self.requirements]] = True
        return np.asarray(flags & self.closable)


@dataclass(frozen=True)
class SuppressionPattern:
    """
    The cells to suppress, sensitive ones included; the cost of the others, and a cost below which no choice protects; for
    each sensitive cell the points with its least and its greatest count; the cells that nothing protects; the limit met.
    """

    cells: tuple[int, ...]
    cost: int
    bound: int
    points: tuple[Ints, ...] = ()
    of: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    unmet: tuple[int, ...] = ()
    limit: str = ""

    @property
    def optimal(self) -> bool:
        return self.bound >= self.cost


def suppressed(system: LinearSystem, beside: Mapping[int, int], cells: Collection[int]) -> LinearSystem:
    """The system with some cells suppressed, and the percentages beside suppressed cells: none says anything."""
    ends = dict.fromkeys(cells, (0, OPEN))
    return system.relaxed(ends, [row for row, cell in beside.items() if cell in ends or system.lo[cell] != system.hi[cell]])


def find_pattern(problem: SuppressionProblem, work: PatternWork | None = None) -> SuppressionPattern:
    """The cheapest cells that protect, or good ones with a bound; cells that no choice protects are left aside and named."""
    if not problem.system.fits(problem.counts):
        raise WrongAnswer("the counts to protect do not fit what is published; nothing is reported")
    return PatternSearch(problem, work or PatternWork().scaled(len(problem.counts))).run()


class OutOfWork(Exception):
    """A limit of the search was met."""


@dataclass(frozen=True)
class Cut:
    """A row of the master: the sum of coefficient times chosen is at least so much."""

    cells: Ints
    coefficients: Floats
    least: float

    def missing(self, chosen: Floats) -> float:
        return float(self.least - self.coefficients @ chosen[self.cells])


def make_cut(cells: Ints, coefficients: Floats, of: int = -1) -> Cut:
    """The sum is at least 1, or only if a cell (`of`) is chosen."""
    if of < 0:
        return Cut(cells, coefficients, 1.0)
    return Cut(np.append(cells, of), np.append(coefficients, -1.0), 0.0)


Side = tuple[float, Floats | None]  # how far a cell goes, and multipliers that say why not further
Row = tuple[Floats, float] | None  # what each cell adds once it is suppressed, and what there is without any


@dataclass(frozen=True, eq=False)
class Point:
    """Whole counts that fit once the cells that it `needs` are suppressed: where they differ from the true ones, and how."""

    cells: Ints
    deltas: Ints
    needs: Ints

    def counts(self, x: Ints) -> Ints:
        result = x.copy()
        result[self.cells] += self.deltas
        return result


class CellMoves:
    """
    Linear programs about how far cells can go from the counts, when some cells are suppressed, wholly or in part. Their
    columns are those cells that can move at all: the ones that `within` names, and what is open anyway.
    """

    def __init__(self, problem: SuppressionProblem, within: Flags) -> None:
        self.problem, self.x, system = problem, problem.counts, problem.system
        self.n, rows = len(system.cells), [row for row, cell in problem.beside.items() if problem.closable[cell]]
        entries = np.ones(len(rows)), (rows, np.arange(len(rows)))
        slack = csr_array(entries, shape=(len(system.rows), len(rows)))  # what a row may miss once its cell is suppressed
        self.A = csr_array(hstack([matrix_of(system).astype(np.float64), slack]))
        self.turned = csr_array(self.A.T)
        self.owner = np.append(np.where(problem.closable, np.arange(self.n), -1), [problem.beside[row] for row in rows])
        self.owner = self.owner.astype(np.int64)
        self.own = self.owner >= 0
        shift = system.activity(self.x)
        self.least, self.most = as_floats(system.least) - shift, as_floats(system.most) - shift
        self.down = np.append(as_floats(system.lo) - self.x, np.zeros(len(rows)))  # of constant columns, from the counts
        self.up = np.append(as_floats(system.hi) - self.x, np.zeros(len(rows)))
        self.open_down = np.append(-self.x.astype(np.float64), np.full(len(rows), -inf))
        self.solved = 0
        self.focus(within)

    def focus(self, within: Flags) -> None:
        """Programs over other cells."""
        self.within = within
        moving = np.where(self.own, within[self.owner], self.down < self.up)
        moving[[one.cell for one in self.problem.requirements]] = True
        self.columns = np.flatnonzero(moving)
        self.place = np.full(len(self.owner), -1, dtype=np.int64)
        self.place[self.columns] = np.arange(len(self.columns))
        A = csr_array(self.A.tocsc()[:, self.columns])
        self.lp = HighsProgram(A, self.least, self.most, ITERATIONS)
        self.mover = HighsProgram(csr_array(hstack([A, -A])), self.least, self.most, ITERATIONS)

    def ends(self, chosen: Floats, reach: float) -> tuple[Floats, Floats]:
        """How far down and up each column may go, by how much of its cell is suppressed (0 to 1)."""
        at = self.columns
        own, open_down = self.own[at], self.open_down[at]
        share = np.where(own, chosen[self.owner[at]], 0.0)
        wide = reach * np.where(at < self.n, 1.0, PERCENT)
        part = np.maximum(open_down, -wide) * share
        down = np.where(share >= 1, open_down, np.where(own, part, self.down[at]))
        up = np.where(share >= 1, inf, np.where(own, wide * share, self.up[at]))
        return down, up

    def extreme(self, chosen: Floats, cell: int | Ints, sign: int, most: Any) -> Optimal:
        """
        The furthest that a cell, or several together, go up (or down), each at most so far. One that is suppressed in part
        may go so far by that part: fractional choices then break rows of their own, however wide other requirements are.
        """
        down, up = self.ends(chosen, np.max(most))
        (up if sign > 0 else down)[self.place[cell]] = sign * most
        objective = np.zeros(len(down))
        objective[self.place[cell]] = sign
        return self.solve(self.lp, objective, down, up)

    def cheapest(self, chosen: Flags, cost: Floats, cell: int, delta: int) -> Optimal | None:
        """The cheapest move of a cell by delta, if there is any: cells that are not yet suppressed cost by the unit."""
        down, up = self.ends(np.ones(self.n), 1.0)
        upper = np.concatenate([up, -down])
        lower, here = np.zeros(len(upper)), int(self.place[cell])
        at, against = (here, len(up) + here) if delta > 0 else (len(up) + here, here)
        lower[at] = upper[at] = abs(delta)
        upper[against] = 0
        owner = self.owner[self.columns]
        price = np.where(self.own[self.columns] & ~chosen[owner], cost[owner], 0.0) + SMALL
        price[self.columns >= self.n] /= PERCENT
        try:
            answer = self.solve(self.mover, -np.concatenate([price, price]), lower, upper)
        except OutOfWork:
            return None
        return replace(answer, z=answer.z[: len(up)] - answer.z[len(up) :])

    def solve(self, program: HighsProgram, objective: Floats, lower: Floats, upper: Floats) -> Optimal:
        program.set_bounds(lower, upper)
        answer = program.maximise(objective)
        self.solved += 1
        if not isinstance(answer, Optimal):
            raise OutOfWork("a linear program did not end")
        return answer

    def used(self, answer: Optimal) -> Ints:
        """The cells that must be suppressed for a move."""
        at = self.columns[np.abs(answer.z) > SMALL]
        return self.owner[at[self.own[at]]]

    def point(self, answer: Optimal) -> Ints | None:
        """The counts of a move, where all of it is whole."""
        cells = self.columns < self.n
        moved = integer_point(answer.z[cells])
        return None if moved is None else Point(self.columns[cells], moved, self.columns).counts(self.x)

    def row(self, y: Floats | None, cell: int, sign: int) -> Row:
        """
        What each cell, once suppressed, adds at most to how far the cell goes, and what it goes without any: by the row
        multipliers y, whatever they are; none where they say nothing.
        """
        if y is None:
            return None
        objective = np.zeros(len(self.owner))
        objective[cell] = sign
        y = np.where(np.abs(y) > SMALL, y, 0.0)
        d = objective - self.turned @ y
        d = np.where(np.abs(d) > SMALL, d, 0.0)
        own = self.own.copy()
        own[cell] = False  # it is suppressed in every choice that is asked for
        down, up = self.down.copy(), self.up.copy()
        if self.own[cell]:
            down[cell], up[cell] = self.open_down[cell], inf
        with np.errstate(invalid="ignore"):
            rows = np.where(y > 0, y * self.most, np.where(y < 0, y * self.least, 0.0)).sum()
            fixed = np.where(own | (d == 0), 0.0, np.where(d > 0, d * up, d * down)).sum()
            added = np.where(own & (d != 0), np.where(d > 0, inf, d * self.open_down), 0.0)
        if not np.isfinite(rows + fixed):
            return None
        coefficients = np.bincount(self.owner[own], added[own], self.n).astype(np.float64)
        return coefficients, float(rows + fixed)


class PatternSearch:
    """The search for one problem: points met so far, rows of the master, the best choice that protects."""

    def __init__(self, problem: SuppressionProblem, work: PatternWork) -> None:
        self.problem, self.work, self.x, self.n = problem, work, problem.counts, len(problem.counts)
        self.deadline = process_time() + work.seconds
        self.solver = make_solver("highs", WorkLimits(ITERATIONS, work.nodes, work.seconds))
        self.chooser = make_solver("highs", WorkLimits(ITERATIONS, work.nodes, work.seconds, checks=work.checks))
        self.points_of, self.stored = dict[int, list[tuple[int, Point]]](), 0
        self.cuts = list[Cut]()
        self.proved, self.limit = True, ""
        totals = np.zeros(self.n, dtype=bool)
        totals[problem.system.columns[problem.system.weights < 0]] = True
        self.price = self.first_price = np.where(totals, TOTALS, 1.0) * problem.cost.astype(np.float64)
        free = problem.closable & ~problem.primary
        self.variables = np.flatnonzero(free)
        self.allowed = problem.closable.copy()  # without cells that no choice hides
        self.requirements, self.unmet = list(problem.requirements), list[int]()
        self.best: Flags | None = None
        self.bound = 0  # no choice that protects costs less
        self.moves = CellMoves(problem, self.candidates())

    def candidates(self) -> Flags:
        """The cells of linear programs: all of them, or in large tables the sensitive ones and the cheapest of each sum."""
        if self.n <= NARROW:
            return self.allowed
        system, rank = self.problem.system, np.where(self.allowed, self.price, inf)[self.problem.system.columns]
        order = np.lexsort((rank, system.row_of))
        near = np.arange(len(order)) - system.start[system.row_of[order]] < CHEAP
        chosen = self.problem.primary.copy()
        chosen[system.columns[order[near]]] = True
        return chosen & self.allowed

    def cost_of(self, chosen: Flags) -> int:
        return int(self.problem.cost[chosen & ~self.problem.primary].sum())

    # points

    def keep(self, x: Ints | None) -> None:
        """A point that fits once some cells are suppressed; those that fit nothing are left."""
        system, beside = self.problem.system, self.problem.beside
        if x is None or not system.countable(x):
            return
        moved, total = (x != self.x) & self.problem.closable, system.activity(x)
        wrong = np.flatnonzero((total < system.least) | (total > system.most)).tolist()
        moved[[beside[row] for row in wrong if row in beside]] = True
        needs = np.flatnonzero(moved)
        if suppressed(system, beside, needs.tolist()).fits(x):
            cells = np.flatnonzero(x != self.x)
            self.stored += len(cells)
            if self.stored > POOL:
                self.points_of, self.stored = {}, len(cells)
            point = Point(cells, (x - self.x)[cells], needs)
            for cell, delta in zip(cells.tolist(), point.deltas.tolist(), strict=True):
                self.points_of.setdefault(cell, []).append((delta, point))

    def reached(
        self, chosen: Flags, one: Requirement, by: list[Point] | None = None, fits: dict[Point, bool] | None = None
    ) -> tuple[int, int]:
        """The least and greatest count of a cell `by` points that fit a choice, the last first; `fits`: which ones do."""
        low = high = x = int(self.x[one.cell])
        fits = {} if fits is None else fits
        for delta, point in reversed(self.points_of.get(one.cell, [])):
            if low <= x + delta <= high:
                continue
            if point not in fits:
                fits[point] = bool(chosen[point.needs].all())
            if fits[point]:
                low, high = min(low, x + delta), max(high, x + delta)
                if by is not None:
                    by.append(point)
                if met(one, low, high):
                    break
        return low, high

    def asked(self, chosen: Flags, requirements: Sequence[Requirement]) -> list[Requirement]:
        """The requirements, and those of the other suppressed cells."""
        others = np.flatnonzero(chosen & self.problem.closable & ~self.problem.primary).tolist()
        return [*requirements, *(Requirement(cell, width=self.problem.everywhere) for cell in others)]

    def open_of(self, chosen: Flags, asked: Sequence[Requirement]) -> list[Requirement]:
        """The requirements that no points show."""
        fits = dict[Point, bool]()
        return [one for one in asked if not met(one, *self.reached(chosen, one, fits=fits))]

    def pull(self, chosen: Flags) -> None:
        """Points that meet many requirements at once: programs that pull at cells of which no two share a sum."""
        for sign in (1, -1):
            before, some, goals = inf, list[int](), self.goals(chosen, sign)
            while goals and before - len(goals) > MATCHED * len(some):
                before, some = len(goals), apart(self.problem.system, np.array(list(goals)))
                most = np.array([goals[cell] for cell in some])
                self.spend()
                self.keep(self.moves.point(self.moves.extreme(chosen.astype(np.float64), np.array(some), sign, most)))
                goals = self.goals(chosen, sign)

    def goals(self, chosen: Flags, sign: int) -> dict[int, int]:
        """How far the cells must go up (or down) whose requirements no points show."""
        open_ = self.open_of(chosen, self.requirements)
        goals = {one.cell: self.goal(one, sign, *self.reached(chosen, one)) for one in open_}
        return {cell: goal for cell, goal in goals.items() if goal > 0}

    def goal(self, one: Requirement, sign: int, low: int, high: int) -> int:
        x = int(self.x[one.cell])
        return max(one.high, low + one.width) - x if sign > 0 else min(x - min(one.low, high - one.width), x)

    def attain(self, one: Requirement, chosen: Flags) -> Cut | None:
        """Points that meet a requirement when some cells are suppressed; or the row of the master that says why not."""
        share, sides = chosen.astype(np.float64), dict[int, Side]()
        for sign in (1, -1):
            low, high = self.reached(chosen, one)
            if met(one, low, high):
                return None
            sides[sign] = self.side(one, share, sign, max(self.goal(one, sign, low, high), 0), points=True)
        if met(one, *self.reached(chosen, one)):
            return None
        for rows, need in self.short(one, sides, SMALL):
            return self.cut(one, rows, need) or self.nothing_below(one, chosen)
        return self.by_integers(one, chosen)

    def side(self, one: Requirement, share: Floats, sign: int, goal: int, points: bool = False) -> Side:
        """How far a cell goes up or down, and the multipliers of this linear program."""
        self.spend()
        answer = self.moves.extreme(share, one.cell, sign, goal)
        if points:
            self.keep(self.moves.point(answer))
        return answer.value, answer.y

    def short(self, one: Requirement, sides: Mapping[int, Side], slack: float) -> Iterator[tuple[list[Row], int]]:
        """The sides of a cell on which it does not go far enough, and how far it must."""
        x, (up, above), (down, below) = int(self.x[one.cell]), sides[1], sides[-1]
        if x + up < one.high - slack:
            yield [self.moves.row(above, one.cell, 1)], one.high - x
        if one.low != OPEN and x - down > one.low + slack:
            yield [self.moves.row(below, one.cell, -1)], x - one.low
        if up + down < one.width - slack:
            yield [self.moves.row(above, one.cell, 1), self.moves.row(below, one.cell, -1)], one.width

    def by_integers(self, one: Requirement, chosen: Flags) -> Cut | None:
        """The linear program promises what its fractional vertex does not show: whole counts, or a row that forbids it."""
        if self.whole(one, chosen):
            return None
        rest = np.flatnonzero(self.problem.closable & ~chosen)
        for group in np.array_split(rest, GROUPS) if len(rest) else ():
            more = chosen.copy()
            more[group] = True
            if len(group) and not self.whole(one, more):
                chosen = more
        return self.nothing_below(one, chosen)

    def nothing_below(self, one: Requirement, chosen: Flags) -> Cut:
        """At least one cell beside those of a choice."""
        rest = np.flatnonzero(self.problem.closable & ~chosen)
        return make_cut(rest, np.ones(len(rest)), -1 if self.required(one) else one.cell)

    def required(self, one: Requirement) -> bool:
        return bool(self.problem.primary[one.cell] or not self.problem.closable[one.cell])

    def whole(self, one: Requirement, chosen: Flags) -> bool:
        """Whether whole counts meet a requirement, by the solver's search."""
        system = suppressed(self.problem.system, self.problem.beside, np.flatnonzero(chosen).tolist())
        objective = np.zeros(self.n)
        objective[one.cell] = -1.0
        for upper in (False, True):  # the least count, then the least that is far enough above it: both searches end
            low, high = self.reached(chosen, one)
            if met(one, low, high):
                return True
            lo = system.lo.copy()
            lo[one.cell] = max(lo[one.cell], max(one.high, low + one.width) if upper else 0)
            self.spend()
            answer = maximise_integers(self.solver, replace(system, lo=lo), objective)
            point = best_point(answer)
            self.keep(None if point is None else integer_point(point))
            self.proved &= not isinstance(answer, Stopped)
        return met(one, *self.reached(chosen, one))

    def spend(self) -> None:
        if self.moves.solved > self.work.programs:
            raise OutOfWork("limit of linear programs")
        if process_time() > self.deadline:
            raise OutOfWork(f"stopped by the clock after {self.work.seconds:g} s")

    # rows of the master

    def cut(self, one: Requirement, rows: Sequence[Row], need: float) -> Cut | None:
        """The row of the master that the multipliers give, where they give one."""
        if None in rows:
            return None
        added = sum((row[0] for row in rows if row), np.zeros(self.n))
        room = need - sum(row[1] for row in rows if row) - float(added[self.problem.primary].sum())
        cells = np.flatnonzero((added > SMALL) & self.problem.closable & ~self.problem.primary)
        cells = cells[cells != one.cell]
        if not np.isfinite(room) or room <= SMALL:
            return None
        return make_cut(cells, np.minimum(added[cells], room) / room, -1 if self.required(one) else one.cell)

    def fractional(self, chosen: Floats) -> list[Cut]:
        """Rows that a fractional choice breaks: of sensitive cells, and of single cells that no other in their sum hides."""
        result = list(self.lonely(chosen))
        for one in self.requirements:
            x = int(self.x[one.cell])
            sides = {1: self.side(one, chosen, 1, max(one.high - x, one.width)), -1: (0.0, None)}
            if one.low != OPEN or sides[1][0] < one.width:
                sides[-1] = self.side(one, chosen, -1, min(max(x - one.low, one.width), x))
            cuts = [self.cut(one, rows, need) for rows, need in self.short(one, sides, 0.0)]
            result += [cut for cut in cuts if cut is not None and cut.missing(chosen) > VIOLATED]
        return result

    @cached_property
    def tight(self) -> list[Ints]:
        """The cells of each sum of which nothing is open: one suppressed cell alone would be worked out."""
        system = self.problem.system
        closed = np.bincount(system.row_of, (system.lo < system.hi)[system.columns], len(system.rows)) == 0
        closed &= (system.least == system.most) & ~np.isin(np.arange(len(system.rows)), list(self.problem.beside))
        rows = [system.columns[system.start[row] : system.start[row + 1]] for row in np.flatnonzero(closed).tolist()]
        return [cells for cells in rows if not self.problem.primary[cells].any()]

    def lonely(self, chosen: Floats) -> Iterable[Cut]:
        for cells in self.tight:
            total = chosen[cells].sum()
            for cell in cells[(2 * chosen[cells] > total + VIOLATED) & self.problem.closable[cells]].tolist():
                others = cells[(cells != cell) & self.problem.closable[cells]]
                yield make_cut(others, np.ones(len(others)), cell)

    # the search

    def run(self) -> SuppressionPattern:
        try:
            self.pull(self.problem.primary)
            unmet = [one for one in self.requirements if self.attain(one, self.moves.within)]
            if unmet and not (self.moves.within == self.allowed).all():
                self.moves.focus(self.allowed)
                unmet = [one for one in unmet if self.attain(one, self.allowed)]
            self.leave(unmet)
            first = self.completed(self.problem.primary)
            if self.work.masters:
                self.improve()
            else:
                self.limit = "no bound was asked for"
                self.pruned(first)
        except OutOfWork as struck:
            self.limit = str(struck)
        if self.best is None:
            return SuppressionPattern((), 0, 0, unmet=tuple(one.cell for one in self.problem.requirements), limit=self.limit)
        return self.pattern(self.best, min(self.bound, self.cost_of(self.best)))

    def leave(self, unmet: Sequence[Requirement]) -> None:
        """Leave what no choice meets: sensitive cells are named at the end, others stay printed."""
        self.unmet += [one.cell for one in unmet if self.required(one)]
        self.allowed[[one.cell for one in unmet if not self.required(one)]] = False
        self.requirements = [one for one in self.requirements if one.cell not in self.unmet]

    def better(self, chosen: Flags) -> None:
        if self.cost_of(chosen) < self.least_cost():
            self.best = chosen

    def completed(self, chosen: Flags) -> Flags:
        """A choice with more cells until it protects."""
        chosen = chosen & self.allowed
        while missing := self.open_of(chosen, self.asked(chosen, self.requirements)):
            for one in missing:
                if self.open_of(chosen, [one]) and self.attain(one, chosen):
                    if (chosen == self.allowed).all():
                        self.leave([one])
                        chosen = chosen & self.allowed
                    else:
                        chosen |= self.freed(one, chosen)
        self.better(chosen)
        return chosen

    def freed(self, one: Requirement, chosen: Flags) -> Flags:
        """The cheapest cells that let a cell move as far as it must."""
        x, added = int(self.x[one.cell]), chosen.copy()
        deltas = [max(one.high - x, 0), -max(x - one.low, 0)]
        if not any(deltas):
            moves = [self.moves.cheapest(chosen, self.price, one.cell, delta) for delta in (one.width, -min(one.width, x))]
            deltas = [0, 0]
            values = [-inf if move is None or not d else move.value for move, d in zip(moves, (1, x), strict=True)]
            if max(values) > -inf:
                self.use(added, moves[int(np.argmax(values))])
        for delta in deltas:
            if delta:
                self.use(added, self.moves.cheapest(added, self.price, one.cell, delta))
        added &= self.allowed
        if (added & ~chosen).any():
            return added
        if not (self.moves.within & self.allowed & ~chosen).any():
            self.moves.focus(self.allowed)
        return self.moves.within & self.allowed | chosen

    def use(self, chosen: Flags, move: Optimal | None) -> None:
        if move is not None:
            chosen[self.moves.used(move)] = True
            self.keep(self.moves.point(move))

    def pruned(self, chosen: Flags) -> None:
        """A protecting choice without the cells that are not needed, costly ones first."""
        users = dict[int, dict[Requirement, None]]()  # of each cell: whom the points show that need it

        def note(asked: Iterable[Requirement], chosen: Flags) -> None:
            fits = dict[Point, bool]()
            for one in asked:
                by = list[Point]()
                self.reached(chosen, one, by, fits)
                for cell in {cell for point in by for cell in point.needs.tolist()}:
                    users.setdefault(cell, {})[one] = None

        note(self.asked(chosen, self.requirements), chosen)
        others = np.flatnonzero(chosen & ~self.problem.primary)
        for cell in others[np.argsort(-self.first_price[others], kind="stable")].tolist():
            fewer = chosen.copy()
            fewer[cell] = False
            asked = [one for one in users.get(cell, {}) if one.cell != cell and (fewer[one.cell] or self.required(one))]
            if not any(self.attain(one, fewer) for one in self.open_of(fewer, asked)):
                chosen = fewer
                note(asked, chosen)
                self.better(chosen)

    def improve(self) -> None:
        """Master programs until the choice of one protects, or a limit is met."""
        relaxed, chosen = self.master_program(), self.problem.primary.astype(np.float64)
        cost, base, reduced = self.problem.cost[self.variables].astype(np.float64), 0.0, np.zeros(len(self.variables))
        for _ in range(self.work.rounds):
            if (outside := (chosen > SMALL) & ~self.moves.within).any():
                self.moves.focus(self.moves.within | outside)
            cuts = self.fractional(chosen)
            for cut in cuts:
                self.add(cut, relaxed)
            answer = relaxed.maximise(-cost)
            if not cuts or not isinstance(answer, Optimal) or answer.y is None:
                break
            base, reduced = self.by_multipliers(np.abs(answer.y))
            self.bound, chosen = max(self.bound, self.whole_cost(base)), self.spread(answer.z)
            if self.done() or 2 * self.moves.solved > self.work.programs:
                break
        self.price = self.first_price * (1 + SMALL - chosen)  # what the relaxed master takes is worth more than it costs
        for sure in SURE:
            if not self.done():
                self.pruned(self.completed(self.problem.primary | (chosen >= sure)))
        self.price, stopped = self.first_price, 0
        for number in range(self.work.masters if self.cuts else 0):
            if self.done():
                return
            # with one of the other cells a choice costs as much as the best, by the multipliers of the relaxed master
            upper = np.where(base + reduced > self.least_cost() - 1 + SMALL * base, 0.0, 1.0)
            answer = self.master(upper)
            stopped += isinstance(answer, Stopped)
            if isinstance(answer, Infeasible):
                if upper.all():
                    raise WrongAnswer("no choice of cells protects by the solver, though one does; nothing is reported")
                self.bound = self.least_cost() if self.proved else self.bound
                return
            value = answer.value if isinstance(answer, Optimal) else answer.bound
            if value is not None and np.isfinite(value) and self.proved:
                self.bound = max(self.bound, min(self.whole_cost(-value), self.least_cost()))
            point = best_point(answer)
            if self.done() or point is None:
                self.limit = "" if point is not None else "limit of nodes"
                return
            picked = self.spread(point) > 0.5
            if (picked & ~self.moves.within).any():
                self.moves.focus(self.moves.within | picked)
            cuts = [*self.lonely(picked.astype(np.float64)), *self.violated(picked)]
            for cut in cuts:
                self.add(cut)
            if not cuts:
                self.better(picked)
            elif number < REPAIRS or number % REPAIRS == 0:
                self.pruned(self.completed(picked))
            if not cuts or stopped >= STOPPED:
                self.limit = "limit of nodes" if stopped and not self.done() else ""
                return
        self.limit = "limit of master programs" if self.cuts and not self.done() else ""

    def least_cost(self) -> int:
        return OPEN if self.best is None else self.cost_of(self.best)

    def done(self) -> bool:
        return self.bound >= self.least_cost()

    def by_multipliers(self, y: Floats) -> tuple[float, Floats]:
        """The bound of any multipliers of the rows, and what each cell adds to it if it is chosen."""
        A, least = self.rows()
        reduced = self.problem.cost[self.variables] - A.T @ y
        return float(least @ y + np.minimum(reduced, 0.0).sum()), np.maximum(reduced, 0.0)

    def violated(self, picked: Flags) -> list[Cut]:
        asked = self.asked(picked, self.requirements)
        return [cut for one in self.open_of(picked, asked) if (cut := self.attain(one, picked)) is not None]

    def whole_cost(self, value: float) -> int:
        return ceil(value - 1e-6 * max(1.0, abs(value)))

    def spread(self, z: Floats) -> Floats:
        """The choice of the master over all cells: sensitive ones are suppressed."""
        chosen = self.problem.primary.astype(np.float64)
        chosen[self.variables] = z.clip(0.0, 1.0)
        return chosen

    def master_program(self) -> HighsProgram:
        size = len(self.variables)
        program = HighsProgram(csr_array((0, size)), np.zeros(0), np.zeros(0), ITERATIONS)
        program.set_bounds(np.zeros(size), np.ones(size))
        return program

    def add(self, cut: Cut, relaxed: HighsProgram | None = None) -> None:
        self.cuts.append(cut)
        if relaxed is not None:
            relaxed.push_row(np.bincount(cut.cells, cut.coefficients, self.n)[self.variables], cut.least, inf)

    def rows(self) -> tuple[csr_array, Floats]:
        """The rows of the master, a column for each cell that may be chosen, and their least."""
        weights, cells = (np.concatenate([getattr(cut, name) for cut in self.cuts]) for name in ("coefficients", "cells"))
        start = np.cumsum([0, *(len(cut.cells) for cut in self.cuts)])
        A = csr_array((weights, cells, start), shape=(len(self.cuts), self.n))
        return csr_array(A.tocsc()[:, self.variables]), np.array([cut.least for cut in self.cuts])

    def master(self, upper: Floats) -> Optimal | Infeasible | Stopped:
        (A, least), objective = self.rows(), -self.problem.cost[self.variables].astype(np.float64)
        return self.chooser.solve(IntegerProgram(A, least, np.full(len(least), inf), upper, objective))

    def pattern(self, best: Flags, bound: int) -> SuppressionPattern:
        """The choice with few points that show it: those that show the most ends come first."""
        asked, shows = self.asked(best, self.requirements), dict[Point | None, set[tuple[int, bool]]]()
        fits = {
            point: bool(best[point.needs].all()) for point in {p for listed in self.points_of.values() for _, p in listed}
        }
        goals = {one.cell: wanted(one, *self.reached(best, one, fits=fits)) for one in asked}
        for cell, (low, high) in goals.items():
            x = int(self.x[cell])
            fitting = [(0, None), *((d, p) for d, p in self.points_of.get(cell, ()) if fits[p])]
            for delta, point in fitting:
                ends = ((False, x + delta <= low), (True, x + delta >= high))
                shows.setdefault(point, set()).update((cell, upper) for upper, shown in ends if shown)
        taken, first = list[Point | None](), dict[tuple[int, bool], int]()
        for point in sorted(shows, key=lambda point: -len(shows[point])):
            if gain := shows[point] - first.keys():
                first |= dict.fromkeys(gain, len(taken))
                taken.append(point)
        points, at = self.joined(best, taken)
        joined = {end: at[place] for end, place in first.items()}
        of = {cell: (joined.get((cell, False), -1), joined.get((cell, True), -1)) for cell in goals}
        missing = tuple(one.cell for one in self.open_of(best, asked))
        return SuppressionPattern(tuple(np.flatnonzero(best).tolist()), self.cost_of(best), bound,
                                  tuple(points), of, tuple(dict.fromkeys([*self.unmet, *missing])), self.limit)  # fmt: skip

    def joined(self, best: Flags, taken: Sequence[Point | None]) -> tuple[list[Ints], list[int]]:
        """The counts of points, those that move other cells in one, and where each went."""
        system = suppressed(self.problem.system, self.problem.beside, np.flatnonzero(best).tolist())
        points, at = list[Ints](), list[int]()
        for point in taken:
            for place, counts in enumerate(points):
                if point is None or taken[at.index(place)] is None or (counts[point.cells] != self.x[point.cells]).any():
                    continue
                if system.fits(more := point.counts(counts)):
                    points[place] = more
                    at.append(place)
                    break
            else:
                at.append(len(points))
                points.append(self.x if point is None else point.counts(self.x))
        return points, at


def met(one: Requirement, low: int, high: int) -> bool:
    return high >= one.high and low <= one.low and high - low >= one.width


def wanted(one: Requirement, low: int, high: int) -> tuple[int, int]:
    """The ends that points must show: the upper one as required, or the greatest known, and a lower one beside it."""
    top = min(high, max(one.high, low + one.width))
    return max(low, min(one.low, top - one.width)), top
