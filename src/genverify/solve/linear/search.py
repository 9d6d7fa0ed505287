"""Where linear programs end: proofs by cases, whole counts near a vertex, steps along cubes, dives; limits of work."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.work import Meter, WorkBudget
from genverify.solve.bounds import BranchAndProve, Ends, LimitStruck, PointFound, exact_leaf, farkas_leaf
from genverify.solve.program import INTEGRAL, integer_point
from genverify.solve.solvers.base import Answer, Optimal, Solver, WorkLimits, make_solver
from genverify.solve.solvers.highs import CellProgram

if TYPE_CHECKING:
    from genverify.solve.linear.ranges import RangeSearch

# How much work ranges may take, and the search that has it.


@dataclass(frozen=True)
class Work:
    """
    How much work a set of cells may take: `seconds` are units of work, of about a second of one core each, but counted, so
    that every machine gives the same answer; nodes of an integer search, leaves of one proof. Works that are made of one
    another share the meter.
    """

    seconds: float = 120.0
    nodes: int = 2_000
    leaves: int = 200
    seed: int = 1
    meter: Meter = field(default_factory=Meter, compare=False)

    def budget(self) -> WorkBudget:
        """All that is allowed, from now on."""
        return WorkBudget(self.meter, self.seconds)

    def solver(self, seconds: float) -> Solver:
        """An integer search ends at its nodes; after so many seconds of the clock only if it hangs."""
        return make_solver("highs", WorkLimits(200_000, self.nodes, max(seconds, 0.01), meter=self.meter))


# Other tables with the same marginals, by steps along cubes: no program is solved.
#
# Divide the variables into blocks so that no marginal touches all of them. For two cells u and v that differ in every
# block, let each corner take some blocks of v and the others of u. Adding t where an even number of blocks is of v, and
# taking t away where it is odd, leaves every marginal as it is. A cell goes up (or down) by the largest such step, again
# and again, as long as the cells that lose have something to lose. What is found is recounted by whoever uses it.

Blocks = tuple[tuple[int, ...], ...]
MOST_BLOCKS = 5  # an exchange of b blocks touches 2**b cells, all of which must allow it
DIVISIONS, TRIALS = 12, 400
STEP, NUMBER = 1.5e-4, 2e-9  # units of the steps of a walk by one division, and for each cell of the table, measured
SMALL = 512  # places that a step looks at before it looks at all
FEW_WALKS, WORTH = 20, 0.2  # walks after which it is seen whether enough of them arrive


@dataclass(frozen=True)
class Cubes:
    """The numbers of levels of the variables, and some divisions of the variables into blocks."""

    shape: tuple[int, ...]
    divisions: tuple[Blocks, ...]

    @cached_property
    def layouts(self) -> "tuple[Layout, ...]":
        return tuple(_layout(self.shape, blocks) for blocks in self.divisions)

    def attain(self, search: "RangeSearch", cells: Sequence[int]) -> None:
        """
        Walks to every open end; where too few arrive, the other ends of this kind are left. To upper ends they start at the
        first point, to lower ones where the last walk came to: what it emptied on its way counts too.
        """
        for sign in (1, -1):
            tried, arrived, x = 0, 0, search.points[0]
            for cell in cells:
                if search.late() or (tried >= FEW_WALKS and arrived < WORTH * tried):
                    break
                if search.seen(cell, sign) < search.proved(cell, sign):
                    result = self.walk(x, cell, sign, sign * search.proved(cell, sign))
                    search.budget.spend(len(self.divisions) * (STEP + NUMBER * len(x)))
                    search.keep(result)
                    x = result if sign < 0 else x
                    tried, arrived = tried + 1, arrived + (search.seen(cell, sign) == search.proved(cell, sign))
                    search.say(cell)

    def walk(self, x: Ints, cell: int, sign: int, target: int) -> Ints:
        """Counts with the same marginals in which the cell is as near to the target, above or below, as steps bring it."""
        table, moved = x.copy(), True
        while moved:
            moved = False
            for layout in self.layouts:
                gap = abs(target - int(table[cell]))
                moved |= gap > 0 and _step(table, layout, cell, sign, gap)
        return table


@dataclass(frozen=True)
class Layout:
    """A table with an axis for each block: the cell at every position, and the position of every cell."""

    cell: Ints
    position: Ints


def _layout(shape: Sequence[int], blocks: Blocks) -> Layout:
    cell = np.arange(int(np.prod(shape))).reshape(shape).transpose([axis for block in blocks for axis in block])
    cell = cell.reshape([int(np.prod([shape[axis] for axis in block])) for block in blocks])
    return Layout(cell, np.argsort(cell, axis=None))


def _step(table: Ints, layout: Layout, cell: int, sign: int, most: int) -> bool:
    """One step of the cell by at most so much, in place, among the likeliest places if it goes up; whether there was one."""
    u = [int(index) for index in np.unravel_index(layout.position[cell], layout.cell.shape)]
    if sign > 0 and layout.cell.size > SMALL and _step_among(table, _likely(table, layout, u), [0] * len(u), sign, most):
        return True
    return _step_among(table, layout.cell, u, sign, most)


def _likely(table: Ints, layout: Layout, u: Sequence[int]) -> Ints:
    """The cells of u (first) and of the places that have the most to lose, block by block."""
    most = max(2, int(SMALL ** (1 / len(u))) - 1)
    indices = []
    for block, position in enumerate(u):
        face = table[layout.cell[tuple(slice(None) if g == block else at for g, at in enumerate(u))]]
        face[position] = -1  # comes last: v differs from u in every block
        indices.append(np.append(position, np.argsort(-face, kind="stable")[: min(most, len(face) - 1)]))
    likely: Ints = layout.cell[np.ix_(*indices)]
    return likely


def _step_among(table: Ints, cells: Ints, u: Sequence[int], sign: int, most: int) -> bool:
    flat = table[cells]
    room = np.full(flat.shape, most, dtype=np.int64)
    for corner in _corners(len(u), odd=sign > 0):
        face = flat[tuple(slice(None) if g in corner else slice(position, position + 1) for g, position in enumerate(u))]
        np.minimum(room, face, out=room)
    for at, position in enumerate(u):
        room[tuple(position if g == at else slice(None) for g in range(len(u)))] = 0
    best = int(np.argmax(room))
    size, v = int(room.flat[best]), np.unravel_index(best, room.shape)
    if size == 0:
        return False
    for odd in (True, False):
        for corner in _corners(len(u), odd):
            spot = tuple(int(v[g]) if g in corner else position for g, position in enumerate(u))
            table[cells[spot]] += -size if odd == (sign > 0) else size
    return True


@cache
def _corners(blocks: int, odd: bool) -> list[frozenset[int]]:
    return [frozenset(corner) for n in range(blocks + 1) if n % 2 == int(odd) for corner in combinations(range(blocks), n)]


def cubes_of(shape: Sequence[int], marginals: Sequence[Sequence[int]], seed: int) -> Cubes | None:
    """Divisions of the variables that no marginal touches in all blocks, with as few blocks as there are any."""
    rng = np.random.default_rng(seed)
    for blocks in range(2, min(MOST_BLOCKS, len(shape)) + 1):
        result = dict.fromkeys(_divisions(len(shape), blocks, marginals, rng))
        if result:
            return Cubes(tuple(shape), tuple(result)[:DIVISIONS])
    return None


def _divisions(
    variables: int, blocks: int, marginals: Sequence[Sequence[int]], rng: np.random.Generator
) -> Iterator[Blocks]:
    for _ in range(TRIALS):
        of = rng.permutation(np.concatenate([np.arange(blocks), rng.integers(0, blocks, variables - blocks)]))
        if all(len(set(of[list(marginal)].tolist())) < blocks for marginal in marginals):
            yield tuple(sorted(tuple(np.flatnonzero(of == block).tolist()) for block in range(blocks)))


# What became of the cells.


@dataclass(frozen=True)
class Ranges:
    """
    What became of some cells: the proved ends (`lo`, `hi`), what points that fit attain (`least`, `most`), the statements
    with their proofs in order, whether it was shown that nothing fits, and some counts that fit. Where both agree a range is
    exact. A cell of `by_solver` has ends that agree, or that a solver's search calls the best, without a proof.
    """

    lo: Ints
    hi: Ints
    least: Ints
    most: Ints
    statements: tuple[dict[str, Any], ...]
    empty: bool
    limit: str = ""
    point: Ints | None = None
    by_solver: Flags | None = None

    @property
    def exact(self) -> Flags:
        return np.asarray((self.lo == self.least) & (self.hi == self.most))

    @property
    def moves(self) -> Ints:
        """How far apart counts of each cell are that points attain; -1 where no point was found."""
        return np.where((self.least >= self.lo) & (self.most <= self.hi), self.most - self.least, -1)

    @property
    def uncertified(self) -> Flags:
        """The cells whose range a solver found, but of which no proof was found."""
        return np.zeros(len(self.lo), dtype=bool) if self.by_solver is None else np.asarray(self.by_solver & ~self.exact)


# A proof by cases that a cell is at most so much: both sides of a fork are shown, each with the linear program's help.

DEEPEST = 100  # forks above a leaf: below the number that the checker reads


class Cases(BranchAndProve):
    """A proof by cases that sign x[cell] <= b, branching on cells that the linear program leaves fractional."""

    def __init__(self, search: "RangeSearch", cell: int, sign: int, b: int) -> None:
        self.search, self.cell, self.sign, self.b, self.ends, self.nodes = search, cell, sign, b, search.ends, 0
        self.c = np.zeros(len(search.sums.cells), dtype=np.int64)
        self.c[cell] = sign

    def relaxed(self, depth: int) -> Answer:
        self.nodes += 1
        if self.nodes > self.search.work.leaves or depth > DEEPEST or self.search.late():
            raise LimitStruck("cases")
        self.search.lp.set_ends(self.ends.lo, self.ends.hi)
        return self.search.lp.maximise(self.c.astype(np.float64))

    def leaf(self, y: Floats | None, empty: bool) -> dict[str, Any] | None:
        if empty:
            leaf = farkas_leaf(self.search.sums, self.ends, y)
            return None if leaf is None else {**leaf, "kind": "empty"}
        return exact_leaf(self.search.sums, self.ends, y, self.c, self.b)

    def look(self, z: Floats, depth: int) -> None:
        x = integer_point(z)
        if x is None:
            return
        self.search.keep(x)
        if self.search.seen(self.cell, self.sign) > self.b:
            raise PointFound(x)
        raise LimitStruck("a point that does not fit when recounted")

    def choose(self, z: Floats) -> tuple[int, float]:
        cell = int(np.argmax(np.abs(z - np.rint(z))))
        return cell, float(z[cell])

    def side(self, part: int, lo: int | None, hi: int | None, depth: int) -> Any:
        before = self.ends
        self.ends = before.held(part, 1, lo) if lo is not None else before.held(part, -1, -(hi or 0))
        try:
            return self.node(depth)
        finally:
            self.ends = before

    def fork(self, part: int, at: int, below: Any, above: Any) -> dict[str, Any]:
        return {"cell": self.search.sums.cells[part], "at": at, "below": below, "above": above}


# Whole counts near a fractional vertex, without another program (Gomory's relaxation at a corner).
#
# A vertex is x_B = B^-1 b for its basis B; every other cell is at an end. Raise some of the others by one each: x_B falls
# by their columns of W = B^-1 N, and becomes whole where the columns add up to x_B modulo 1. These remainders form a finite
# group of as many elements as det B, so few cells are enough: pairs that take little of the small counts are drawn on two
# sides, and two pairs that add up to the remainder of x_B are looked up by a key that adds up as they do. What is found
# counts only after a recount.

MOST_ROWS = 300  # bounds the inverse of a basis, which is dense
SAMPLE = 4_000  # cells that may be raised
USED = 1_500  # ... of which those that take the least are paired
FEWEST = 60  # cells to pair, even where none can be raised by a whole step
LARGEST_GROUP = 2.0**35  # a key below it and the place of a pair fit into 64 bits
PAIRS = 2_000, 150_000  # of one side, at least and at most: bounds memory
OVER = 12  # pairs of one side, as a multiple of the square root of the group
LOOKED, CHUNK = 2_000, 200  # pairs of pairs that are tried, and how many at a time
KEY_BITS, PLACE_BITS = 22, 19  # two keys below 2**22, or one below LARGEST_GROUP, and the place of a pair
VERTICES, PULLED = 15, 0.2  # vertices that are tried; the share of the cells that pull to the next
LOOK = 1e-3, 4e-8  # units of one vertex: any, and for each row of each cell, measured
WHOLE = 1e-5  # how far from whole a point may be in floating-point numbers: it is recounted in integers


@dataclass
class Corner:
    """Whole counts near vertices of a program of its own, all of whose rows are equations that say different things."""

    lp: CellProgram
    rng: np.random.Generator
    budget: WorkBudget

    def attain(self, relaxed: CellProgram, ends: Ends, cell: int, sign: int) -> Ints | None:
        """Whole counts between ends that hold the cell, from where its linear program came out; none if luck fails."""
        self.lp.set_ends(ends.lo, ends.hi)
        self.lp.start_at(relaxed)
        objective = np.zeros(len(ends.lo))
        objective[cell] = sign
        for _ in range(VERTICES):
            answer = self.lp.maximise(objective)
            if not isinstance(answer, Optimal):
                return None
            whole = integer_point(answer.z)
            whole = self.near(answer.z, ends) if whole is None else whole
            if whole is not None:
                return whole
            objective = np.where(self.rng.random(len(objective)) < PULLED, self.rng.uniform(-1, 0, len(objective)), 0.0)
        return None

    def near(self, z: Floats, ends: Ends) -> Ints | None:
        """Whole counts between these ends, from the vertex z that the program found last."""
        basis = self.lp.basis()
        self.budget.spend(LOOK[0] + LOOK[1] * self.lp.A.shape[0] * self.lp.A.shape[1])
        inverse, order = (None, 0) if basis is None else _inverse(self.lp.A[:, basis].toarray())
        if basis is None or inverse is None:
            return None
        others = self.others(z, ends, basis)
        W = (self.lp.A[:, others].T @ inverse.T).T  # sparse: no library starts threads for it
        x = z[basis]
        chosen = _cheapest(x - ends.lo[basis], W)
        weights = np.hstack([W[:, chosen], np.zeros((len(x), 1))])  # the last: nothing is raised
        raised = _lookup(np.rint(weights * order), np.rint(x * order), order, self.sides(len(chosen), order), self.rng)
        low, high = ends.lo[basis] - INTEGRAL, ends.hi[basis] + INTEGRAL
        for four in np.array_split(raised, len(raised) // CHUNK + 1):
            left = x[:, None] - weights[:, four].sum(axis=2)
            good = (left > low[:, None]) & (left < high[:, None]) & (np.abs(left - np.rint(left)) < WHOLE)
            for at in np.flatnonzero(good.all(axis=0))[:1].tolist():
                result = np.rint(z).astype(np.int64)
                result[basis] = np.rint(left[:, at])
                np.add.at(result, others[chosen[four[at][four[at] < len(chosen)]]], 1)
                return result
        return None

    def others(self, z: Floats, ends: Ends, basis: Ints) -> Ints:
        """Cells outside the basis that may be raised by two."""
        free = z + 1.5 < ends.hi
        free[basis] = False
        cells = np.flatnonzero(free)
        return self.rng.choice(cells, SAMPLE, replace=False) if len(cells) > SAMPLE else cells

    def sides(self, cells: int, order: int) -> tuple[Ints, Ints]:
        """Pairs of cells for both sides; in a third of them the second is none, and one pair is none at all."""
        size = int(np.clip(OVER * np.sqrt(float(order)), *PAIRS))
        first, second = self.rng.integers(0, cells + 1, (2, size, 2))
        first[::3, 1] = second[::3, 1] = cells
        second[0] = cells
        return first, second


def _inverse(B: Floats) -> tuple[Floats | None, int]:
    """B^-1 and the least whole number that makes all of it whole; none where the group is too large to be certain of it."""
    sign, size = np.linalg.slogdet(B)
    if sign == 0 or size > np.log(LARGEST_GROUP):
        return None, 0
    inverse: Floats = np.linalg.inv(B).astype(np.float64)
    order = int(np.rint(np.exp(size)))
    whole = np.rint(inverse * order)
    if np.abs(inverse * order - whole).max() > 0.01:
        return None, 0
    return inverse, order // int(np.gcd.reduce(np.append(np.abs(whole).astype(np.int64).ravel(), order)))


def _cheapest(room: Floats, W: Floats) -> Ints:
    """The cells that can be raised furthest before a count of the basis is used up."""
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(W > INTEGRAL, np.maximum(room, 0.0)[:, None] / W, np.inf).min(axis=0, initial=np.inf)
    furthest = np.argsort(-steps, kind="stable")
    return np.asarray(furthest[: max(FEWEST, min(USED, int((steps >= 1).sum())))])


def _lookup(W: Floats, x: Floats, order: int, sides: tuple[Ints, Ints], rng: np.random.Generator) -> Ints:
    """Pairs of pairs, as four places each, whose remainders probably add up to that of x."""
    reach = min(2**20, max(2, 2**62 // (order * len(x))))
    draws = rng.integers(0, reach, (1 if order > 2**KEY_BITS else 2, len(x)))
    columns, goal = np.mod(W, order).astype(np.int64), draws @ np.mod(x, order).astype(np.int64)
    keys = np.mod(draws @ columns, order)
    ones = np.mod(keys[:, sides[0][:, 0]] + keys[:, sides[0][:, 1]], order)
    others = np.mod(goal[:, None] - keys[:, sides[1][:, 0]] - keys[:, sides[1][:, 1]], order)
    size = len(sides[0])
    packed = np.concatenate([_packed(ones, order), _packed(others, order)]) * 2**PLACE_BITS + np.arange(2 * size)
    packed.sort()
    index = packed % 2**PLACE_BITS
    met = np.flatnonzero((np.diff(packed // 2**PLACE_BITS) == 0) & (index[:-1] < size) & (index[1:] >= size))[:LOOKED]
    return np.hstack([sides[0][index[met]], sides[1][index[met + 1] - size]])


def _packed(keys: Ints, order: int) -> Ints:
    """One number of at most 44 bits for one or two keys below the order."""
    packed: Ints = keys[0] if len(keys) == 1 else keys[0] * order + keys[1]
    return packed


# Counts that attain ends which linear programs prove, but whose vertices are fractional: dives.
#
# A dive solves the linear program with the wanted end held, keeps part of what the vertex holds, rounds some fractional
# cells up or down (up with the chance of their fraction), and solves again, back and forth, until a vertex is whole. A
# point counts only after its recount.

Step = tuple[int, int, bool]
KEPT = 0.4  # the part of a vertex that stays: all of it leaves too little freedom for the rest
FEW = 10  # with fewer fractional cells left than this, one at a time
PROGRAMS = 150  # linear programs of one dive
TRIES = 3  # random dives for an end before it is left as not attained
AT_MOST, LUCK = 16, 10  # cells at once; dives won before there are more


@dataclass
class Dives:
    """Dives for the ends of one search."""

    search: "RangeSearch"
    lp: CellProgram
    rng: np.random.Generator
    at_once: int = 8  # cells rounded before the next program
    balance: int = 2

    def attain(self, cell: int, sign: int) -> None:
        """A point for the most of a cell (or, sign -1, its least), where dives find one."""
        for _ in range(TRIES):
            known, proved = self.search.known, self.search.proved(cell, sign)
            if self.search.late() or self.search.seen(cell, sign) >= proved:
                break
            point = self.dive(Ends(known.lo, known.hi).held(cell, sign, proved))
            self.learn(point is not None)
            if point is not None:
                self.search.keep(point)

    def learn(self, result: bool) -> None:
        """Half as many cells at once where more dives fail than succeed, and more again after some luck."""
        self.balance += 1 if result else -1
        if self.balance < 0:
            self.at_once, self.balance = max(1, self.at_once // 2), 0
        elif self.balance > LUCK:
            self.at_once, self.balance = min(AT_MOST, 2 * self.at_once), 2

    def dive(self, ends: Ends) -> Ints | None:
        """A whole point between these ends, or none within the number of programs."""
        lo, hi, above = ends.lo.copy(), ends.hi.copy(), list[tuple[Step, Ints, Ints]]()
        objective = self.rng.uniform(-1, 0, len(lo))
        for _ in range(PROGRAMS):
            self.lp.set_ends(lo, hi)
            answer = self.lp.maximise(objective)
            if self.search.late() or not (above or isinstance(answer, Optimal)):
                return None
            if not isinstance(answer, Optimal):
                (cell, at, up), lo, hi = above.pop()
                lo[cell], hi[cell] = (lo[cell], at) if up else (at + 1, hi[cell])
                continue
            whole = integer_point(answer.z)
            if whole is not None:
                return whole
            lo = np.maximum(lo, np.floor(KEPT * np.floor(answer.z + INTEGRAL)).astype(np.int64))
            for step in self.steps(answer.z):
                above.append((step, lo.copy(), hi.copy()))
                cell, at, up = step
                lo[cell], hi[cell] = (at + 1, hi[cell]) if up else (lo[cell], at)
        return None

    def steps(self, z: npt.NDArray[np.float64]) -> list[Step]:
        """Some fractional cells, each with where it is cut and whether it goes up: with the chance of its fraction."""
        floors = np.floor(z + INTEGRAL)
        part = z - floors
        open_ = np.flatnonzero(part > INTEGRAL)
        cells = self.rng.permutation(open_)[: min(self.at_once, 1 + len(open_) // FEW)].tolist()
        return [(cell, int(floors[cell]), bool(self.rng.random() < part[cell])) for cell in cells]
