"""Exact integer bounds with proofs (is max c z <= b?): the linear program, then branch and prove, which ranges share."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice
from math import floor, inf, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.domain import Predicate
from genverify.model.linear import EXACT, LinearSystem, is_open
from genverify.model.proof_form import RECORDS, new_certificate
from genverify.model.release import TOTAL, Release
from genverify.solve.admissible import ExhaustedTotal
from genverify.solve.datasets import Exchange
from genverify.solve.program import (
    COUNTED,
    INTEGRAL,
    Program,
    RecordSystem,
    WrongAnswer,
    by_column,
    integer_point,
    matrix_of,
)
from genverify.solve.solvers.base import Answer, Infeasible, LinearProgram, Optimal, Solver, Stopped

# The ends of columns at one node of a search, and rows that a side of a fork adds.


@dataclass(frozen=True)
class Ends:
    """The ends of every column at one node of a search."""

    lo: Ints
    hi: Ints

    def held(self, column: int, sign: int, value: int, fixed: bool = False) -> "Ends":
        """The same with sign x[column] at least the value, or at it."""
        lo, hi = self.lo.copy(), self.hi.copy()
        if sign > 0 or fixed:
            lo[column] = sign * value
        if sign < 0 or fixed:
            hi[column] = sign * value
        return Ends(lo, hi)


@dataclass(frozen=True)
class Branch:
    """A row that a side of a fork adds: the sum of some columns is at most hi, or at least lo."""

    inside: Flags
    lo: int | None
    hi: int | None


FEW_MOVED = 0.02  # of the columns: where more moved, all rows are recounted


def fits_as(system: LinearSystem, x: Ints, known: Ints) -> bool:
    """Whether these counts fit, as others do that were recounted; where they differ in few columns, only those are."""
    moved = np.flatnonzero(x != known)
    if len(moved) > FEW_MOVED * len(x):
        return system.fits(x)
    if not ((x[moved] >= system.lo[moved]) & (x[moved] <= system.hi[moved])).all():
        return False
    step = x[moved] - known[moved]
    if float(np.abs(step).astype(np.float64).sum()) * system.largest > EXACT:  # 64 bits may not hold what changes
        return system.fits(x)
    changed = by_column(system)[:, moved] @ step
    return not changed.any() or system.fits(x)


# Integer multipliers of rows out of a solver's floating-point ones.

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 60, 120, 840)
MORE = np.arange(1, 3_000)  # looked through where 1 does not do
LAST = (10**6, 10**8)  # whatever the multipliers are, their rounding then costs next to nothing
FRACTION = 20_000  # the largest denominator of one multiplier
LARGEST = 10**10  # bounds the numbers of a proof
CLOSE = 1e-5  # above a solver's error; a wrong guess fails the test in integers that follows


def rationalise(y: Floats, last: Sequence[int] = ()) -> Iterator[tuple[int, Ints]]:
    """
    Integers Y and a denominator d with Y / d near y, again and again: the smallest d that makes all of y whole first, then
    the usual ones, the one that they have together as fractions, and the `last`.

    >>> [(d, Y.tolist()) for d, Y in rationalise(np.array([2 / 13, -1 / 26, 3.0]))][0]
    (26, [4, -1, 78])
    """
    finite = bool(np.abs(y).max(initial=0) <= LARGEST)  # and not: not a number
    for d in _denominators(y, last) if finite else ():
        Y = np.rint(y * d)
        if not np.abs(Y).max(initial=0) <= LARGEST:
            return
        yield d, Y.astype(np.int64)


def _denominators(y: Floats, last: Sequence[int]) -> Iterator[int]:
    if np.abs(y - np.rint(y)).max(initial=0) < CLOSE:
        yield 1
    left, sizes = MORE, np.unique(np.round(np.abs(y), 9)).tolist()
    for size in sizes:
        left = left[np.abs(size * left - np.rint(size * left)) < CLOSE]
    yield from left[:1].tolist()
    yield from DENOMINATORS
    common = _common(sizes)  # where a column has no end, only exact multipliers show anything
    yield from (common,) if common is not None else ()
    yield from last


def _common(sizes: Iterable[float]) -> int | None:
    common = 1
    for size in sizes:
        common = lcm(common, Fraction(size).limit_denominator(FRACTION).denominator)
        if common > LAST[1]:
            return None
    return common


def whole_multiple(z: Floats) -> Ints | None:
    """The least multiple of numbers that is whole; none where it is large."""
    common = _common(np.unique(np.round(z, 9)).tolist())
    if common is None or np.abs(z).max(initial=0) * common > LARGEST:
        return None
    return np.rint(z * common).astype(np.int64)


def farkas_scales(y: Floats) -> Iterator[float]:
    """Multipliers that show a contradiction have no scale: with a small one at 1 the others are often integers."""
    sizes = np.abs(y)[np.abs(y) > 1e-9]
    if len(sizes) and sizes.max() <= LARGEST:
        yield 1.0 / float(sizes.min())
        yield from (1.0 / size for size in np.unique(np.round(sizes, 9))[1:5].tolist())
        yield 1.0


def weighed(system: LinearSystem, Y: Ints) -> Ints | None:
    """Y A: what multipliers of rows make of every column; none where 64 bits might not hold it."""
    if float(np.abs(Y).astype(np.float64).sum()) * system.largest >= 2**62:
        return None
    used = np.flatnonzero(Y)
    return matrix_of(system)[used].T @ Y[used]


def bound(system: LinearSystem, Y: Ints, ends: Ends, w: Ints) -> float:
    """The most that multipliers Y of rows and w of columns add up to, in integers; inf where beyond 64 bits or open."""
    reach = np.where(w > 0, ends.hi, np.where(w < 0, ends.lo, 0))
    sides = np.where(Y > 0, system.most, np.where(Y < 0, system.least, 0))
    if is_open(reach).any() or is_open(sides).any():
        return inf
    size = float((np.abs(w) * np.abs(reach).astype(np.float64)).sum() + (np.abs(Y) * np.abs(sides).astype(np.float64)).sum())
    return int((w * reach).sum() + (Y * sides).sum()) if size < 2**62 else inf


def _bound_of_rows(system: LinearSystem, Y: Ints, branches: Sequence[Branch]) -> int:
    """The same of rows and branches alone, few of which are used: in Python's integers."""
    rows, total = len(system.least), 0
    for row in np.flatnonzero(Y).tolist():
        branch = branches[row - rows] if row >= rows else None
        low, high = (system.least[row], system.most[row]) if branch is None else (branch.lo, branch.hi)
        total += int(Y[row]) * int((high if Y[row] > 0 else low) or 0)
    return total


def exact_multipliers(
    system: LinearSystem, ends: Ends | None, y: Floats, c: Ints, b: int, branches: Sequence[Branch] = ()
) -> tuple[int, Ints] | None:
    """
    Integer multipliers Y over a denominator d that show c x <= b: what rounding leaves over is taken at the ends of the
    columns, so every rounding is valid, and only the bound is to be tested.

    Without `ends` the columns count records, from 0 on and without an upper end, and row 0 holds each of them once: where Y
    leaves some column short, that is added there, and Y stays close to y, so that few rows are used.
    """
    rows = len(system.least)
    for d, Y in rationalise(y, () if ends is None else LAST):
        made = weighed(system, Y[:rows])
        if made is None or (ends is None and np.abs(y * d - Y).max(initial=0) > CLOSE * d):
            continue
        w = d * c - made
        if ends is not None:
            total = bound(system, Y, ends, w)
        else:
            for row, branch in enumerate(branches, rows):
                if (branch.hi is None and Y[row] > 0) or (branch.lo is None and Y[row] < 0):
                    Y[row] = 0  # a row with one side takes the sign that the side allows
                w -= Y[row] * branch.inside
            Y[0] += max(int(w.max(initial=0)), 0)
            total = _bound_of_rows(system, Y, branches)
        if total < d * (b + 1):
            return d, Y
    return None


def exact_leaf(system: LinearSystem, ends: Ends, y: Floats | None, c: Ints, b: int) -> dict[str, Any] | None:
    """A leaf of a proof that c x <= b between these ends."""
    multipliers = None if y is None else exact_multipliers(system, ends, y, c, b)
    if multipliers is None:
        return None
    d, Y = multipliers
    leaf: dict[str, Any] = {"y": {system.rows[row]: int(Y[row]) for row in np.flatnonzero(Y).tolist()}}
    return leaf if d == 1 else {**leaf, "d": d}


def farkas_leaf(system: LinearSystem, ends: Ends, y: Floats | None) -> dict[str, Any] | None:
    """A leaf that shows that nothing fits, from multipliers without a scale."""
    nothing = np.zeros(len(system.lo), dtype=np.int64)
    leaves = (exact_leaf(system, ends, y * scale, nothing, -1) for scale in farkas_scales(y)) if y is not None else iter(())
    return next((leaf for leaf in leaves if leaf is not None), None)


# Branch and prove: a bound of the linear program, or two sides of a fork, each proved in the same way.


class PointFound(Exception):
    """A point beyond the bound that was to be proved."""

    def __init__(self, z: Ints) -> None:
        self.z = z


class LimitStruck(Exception):
    """A limit of work that ended a proof."""

    def __init__(self, limit: str) -> None:
        self.limit = limit


class BranchAndProve(ABC):
    """
    A proof that c x <= b, depth first. Where to fork, how a side is solved and how a proof is written is left to those who
    know what the columns are; the search ends early with PointFound or LimitStruck.
    """

    b: int

    def node(self, depth: int = 0) -> Any:
        """The proof of the current node (None: true, but without an exact proof)."""
        answer = self.relaxed(depth)
        if isinstance(answer, Infeasible):
            return self.leaf(answer.y, empty=True)
        if isinstance(answer, Stopped):
            raise LimitStruck(answer.limit.value)
        if floor(answer.value + INTEGRAL) <= self.b:
            return self.leaf(answer.y, empty=False)
        self.look(answer.z, depth)
        return self.split(answer.z, depth)

    def split(self, z: Floats, depth: int) -> Any:
        """Both sides of a fork: at most t, at least t + 1; the side that is nearer to the point first."""
        part, value = self.choose(z)
        at = floor(value)
        sides: list[tuple[int | None, int | None]] = [(None, at), (at + 1, None)]
        up_first = value - at > 0.5
        proofs = [self.side(part, lo, hi, depth + 1) for lo, hi in (reversed(sides) if up_first else sides)]
        below, above = reversed(proofs) if up_first else proofs
        return self.fork(part, at, below, above) if below and above else None

    # A strategy: the linear program of the current node, within the limits; the proof by multipliers, if it is exact
    # (`empty`: that nothing fits); a look for a point beyond the bound, here or near that of the linear program; what to
    # fork on, with its fractional value; the proof of one side; two proofs as one.

    @abstractmethod
    def relaxed(self, depth: int) -> Answer: ...

    @abstractmethod
    def leaf(self, y: Floats | None, empty: bool) -> Any: ...

    @abstractmethod
    def look(self, z: Floats, depth: int) -> None: ...

    @abstractmethod
    def choose(self, z: Floats) -> tuple[Any, float]: ...

    @abstractmethod
    def side(self, part: Any, lo: int | None, hi: int | None, depth: int) -> Any: ...

    @abstractmethod
    def fork(self, part: Any, at: int, below: Any, above: Any) -> Any: ...


# A proof as it is stored: a leaf (multipliers of published cells, of the forks above), or a fork with a proof of both sides.

Node = dict[str, Any]


def certificate_of(
    release: Release, lemmas: Iterable[ExhaustedTotal] = (), *statements: Mapping[str, Any], model: str = RECORDS
) -> dict[str, Any]:
    """A certificate about a release with these statements, in the form that the checker reads."""
    listed = [lemma.as_dict() for lemma in lemmas]
    text = new_certificate(model, release.block, release.digest, lemmas=listed, proofs=[])
    return text | {"statements": list(statements)}


def record_leaf(program: RecordSystem, branches: Sequence[Branch], y: Floats, c: Ints, b: int, kind: str) -> Node | None:
    """Integer multipliers Y and a denominator D with  Y A >= D c  on every class and  bound(Y) < D (b + 1)."""
    system, names = program.system, program.rows
    for scale in (1.0,) if kind == "bound" else farkas_scales(y):
        multipliers = exact_multipliers(system, None, y * scale, c, b, branches)
        if multipliers is not None:
            d, Y = multipliers
            cells = {names[row]: int(Y[row]) for row in np.flatnonzero(Y[: len(names)]).tolist()}
            leaf: Node = {"kind": kind, "y": {cell: times for cell, times in cells.items() if cell != COUNTED}}
            leaf |= {"c": cells[COUNTED]} if COUNTED in cells else {}
            leaf |= {"d": d} if d != 1 else {}
            return leaf | ({"w": Y[len(names) :].tolist()} if branches else {})
    return None


# Where to branch: a part of the records whose number is fractional in a solution of the linear program.

CLEAR = 0.25  # from whole, of at most 0.5: below, parts of more columns are looked for
FRACTIONAL = 1e-6  # above a solver's error: what is nearer to whole counts as whole


def _choose_part(program: Program, z: npt.NDArray[np.float64]) -> tuple[Node, Flags] | None:
    """
    The part of the records with the most fractional count, as the keys of a fork (`where`: a condition on one, two or three
    columns, where one is clearly fractional; `like`: the records in the same published cells as one), with the classes that
    it holds. None where no part that can be named is fractional.
    """
    for k in (1, 2, 3):
        scored = sorted(_fractions(program, z, k), key=lambda scored_part: -scored_part[0])
        for score, columns, atoms in scored:
            if score < CLEAR:
                break
            inside = _aligned(program, columns, atoms)
            if inside is not None:
                names = program.types.domain.names
                codes = {names[c]: program.types.atoms[c][a] for c, a in zip(columns, atoms, strict=True)}
                return {"where": Predicate.of(codes).where}, inside
    return _single_class(program, z)


def _fractions(
    program: Program, z: npt.NDArray[np.float64], k: int
) -> Iterator[tuple[float, tuple[int, ...], tuple[int, ...]]]:
    """How far from an integer the count of each combination of k atoms is, over the classes that z uses."""
    used = np.flatnonzero(z > 1e-9)
    order, starts, _ = program.grouped
    table = program.types.table[order[starts[used]]].astype(np.int64)
    sizes = [len(atoms) for atoms in program.types.atoms]
    for columns in combinations(range(table.shape[1]), k):
        shape = tuple(sizes[column] for column in columns)
        sums = np.bincount(np.ravel_multi_index(tuple(table[:, columns].T), shape), weights=z[used])
        score = np.abs(sums - np.rint(sums))
        best = int(np.argmax(score))
        yield float(score[best]), columns, tuple(int(atom) for atom in np.unravel_index(best, shape))


def _aligned(program: Program, columns: tuple[int, ...], atoms: tuple[int, ...]) -> Flags | None:
    """The classes inside a condition, or None where it splits a class."""
    # z counts records by class: of a condition that holds for some types of a class only, the number is not known from z
    matches = (program.types.table[:, columns] == np.array(atoms)).all(axis=1)
    inside = np.bincount(program.class_of, weights=matches, minlength=program.classes)
    _, _, sizes = program.grouped
    return inside == sizes if ((inside == 0) | (inside == sizes)).all() else None


def _single_class(program: Program, z: npt.NDArray[np.float64]) -> tuple[Node, Flags] | None:
    """The class with the most fractional count: all records in the same published cells as one of its types."""
    chosen = int(np.argmax(np.abs(z - np.rint(z))))
    published = np.array([row != COUNTED for row in program.rows])
    inside = (program.A[published] == program.A[published][:, [chosen]]).all(axis=0)
    value = float(z[inside].sum())
    if abs(value - round(value)) < FRACTIONAL:
        return None
    indices = program.types.table[program.member(chosen)].tolist()
    return {"like": [program.types.atoms[column][index][0] for column, index in enumerate(indices)]}, inside


# Linear programs that see few columns: a working set of classes, the others priced with one sparse product.

FEW_CLASSES = 1500  # up to here all classes are in one linear program; beyond, they join as they are needed
FIRST = 300  # classes to begin with, spread over all
AT_ONCE = 100  # classes that join in a round, those worth most: bounds how fast the program grows
WORTH = 1e-7  # relative to the multipliers: above a solver's error


class WorkingSet:
    """
    The linear program of all classes, solved over some of them. After each solve the row multipliers price the others: where
    no class is worth more than the multipliers say, the answer is that of the whole program; else the best ones join.

    Nothing rests on it: a proof is tested on every class in integers, a point is recounted.
    """

    def __init__(self, program: Program, solver: Solver) -> None:
        self._program, self._solver = program, solver
        self._known = np.zeros(program.classes, dtype=bool)
        self._order: list[Ints] = []
        self._branches: list[tuple[npt.NDArray[Any], float, float]] = []
        self._inner: LinearProgram | None = None

    def include(self, classes: Ints) -> None:
        """Let classes join the working set."""
        fresh = np.unique(classes[~self._known[classes]])
        if not len(fresh):
            return
        self._known[fresh] = True
        self._order.append(fresh)
        if self._inner is not None:
            columns = self._program.columns[fresh].toarray().T
            self._inner.add_columns(np.vstack([columns, *(row[None, fresh] for row, _, _ in self._branches)]))

    def include_some(self) -> None:
        """Let some classes join, spread over all of them."""
        self.include(np.arange(0, self._program.classes, max(1, self._program.classes // FIRST)))

    def maximise(self, objective: npt.NDArray[Any]) -> Answer:
        if self._inner is None:
            self._start()
        assert self._inner is not None
        while True:
            chosen = np.concatenate(self._order)
            answer = self._inner.maximise(objective[chosen])
            if not isinstance(answer, Optimal | Infeasible) or len(chosen) == self._program.classes:
                return self._widened(answer, chosen)
            best = self._priced(answer, objective)
            if not len(best):
                return self._widened(answer, chosen)
            self.include(best)

    def _start(self) -> None:
        if not self._order:
            self.include_some()
        chosen = np.concatenate(self._order)
        A = self._program.columns[chosen].toarray().T
        self._inner = self._solver.linear_program(A, self._program.lo, self._program.hi)
        for row, lo, hi in self._branches:
            self._inner.push_row(row[chosen], lo, hi)

    def _priced(self, answer: Optimal | Infeasible, objective: npt.NDArray[Any]) -> Ints:
        """The classes outside that are worth most by the multipliers of an answer; all of them where it has none."""
        if answer.y is None:
            return np.flatnonzero(~self._known)
        rows = len(self._program.rows)
        worth = -(self._program.columns @ answer.y[:rows])
        for (row, _, _), w in zip(self._branches, answer.y[rows:], strict=True):
            worth -= w * row
        if isinstance(answer, Optimal):
            worth += objective
        worth[self._known] = 0.0
        best = np.flatnonzero(worth > WORTH * max(1.0, float(np.abs(answer.y).max(initial=0))))
        if len(best) > AT_ONCE:
            best = best[np.argpartition(-worth[best], AT_ONCE)[:AT_ONCE]]
        return best

    def _widened(self, answer: Answer, chosen: Ints) -> Answer:
        if not isinstance(answer, Optimal):
            return answer
        z: Floats = np.zeros(self._program.classes)
        z[chosen] = answer.z
        return Optimal(answer.value, z, answer.y)

    def push_row(self, coefficients: npt.NDArray[Any], lo: float, hi: float) -> None:
        self._branches.append((coefficients, lo, hi))
        if self._inner is not None:
            self._inner.push_row(coefficients[np.concatenate(self._order)], lo, hi)

    def pop_row(self) -> None:
        self._branches.pop()
        if self._inner is not None:
            self._inner.pop_row()


# Exact integer bounds with proofs: is max c z <= b over the datasets that fit? (LP first, then branching)

SPARE_STEPS = 10  # so that a block of few records has steps to spare
# of the fractional classes, fixed before the linear program is solved again: one at a time took 80 programs for 200 real
# households, with this share 13; a half was mostly too many
FIXED_AT_ONCE = 0.25
NEIGHBOURS = 5  # known points from which an exchange is tried before a program is solved
DEEPEST = 150  # forks above a leaf: below what the checker reads; a level takes four of the 1,000 calls of Python


@dataclass(frozen=True)
class Limits:
    """Work allowed for one bound: branching nodes, leaves of a proof, seconds (a safety net)."""

    nodes: int
    leaves: int
    seconds: float


@dataclass(frozen=True)
class Bound:
    """
    What came out of a question "max c z <= b?": a proof, or a fitting z with c z > b, or the limit that struck.

    `integer` says whether the linear program left it open, so that exchanges, dives or branching were needed. A bound
    without proof that is no counterexample either is undecided, or decided but not certified where `decided` is true.
    """

    proof: Node | None = None
    counterexample: Ints | None = None
    limit: str | None = None
    integer: bool = False
    decided: bool = True


class Bounder:
    """Asks one program many questions, its linear program kept warm; keeps every z that it meets, and counts its work."""

    def __init__(self, program: Program, solver: Solver, limits: Limits) -> None:
        self.program, self.solver, self.limits = program, solver, limits
        self.seen: list[Ints] = []
        self.linear_programs = self.searches = 0
        self._used: Flags = np.zeros(program.classes, dtype=bool)

    @cached_property
    def lp(self) -> LinearProgram | WorkingSet:
        """Made when the first question needs it: most claims about a small block need none."""
        program = self.program
        if program.classes <= FEW_CLASSES:
            return self.solver.linear_program(program.columns.T, program.lo, program.hi)
        working = WorkingSet(program, self.solver)
        working.include(np.flatnonzero(self._used))
        return working

    @cached_property
    def exchange(self) -> Exchange:
        return Exchange(self.program, np.random.default_rng(0))

    def learn(self, fitting: Sequence[Ints]) -> None:
        """Class counts that are known to fit: they refute claims, and their classes are where linear programs start."""
        self.seen.extend(fitting)
        if fitting:
            self._used |= np.any(fitting, axis=0)
        made = vars(self).get("lp")
        if isinstance(made, WorkingSet):
            made.include(np.flatnonzero(self._used))

    def vertex(self, objective: Floats) -> Ints | None:
        """The best point at an objective, if it is integral; the few classes that the objective asks for join at once."""
        if isinstance(self.lp, WorkingSet):
            self.lp.include_some()
            self.lp.include(np.flatnonzero(objective > 0))
        answer = self.lp.maximise(objective)
        return self.integral(answer.z) if isinstance(answer, Optimal) else None

    def at_most(self, c: Ints, b: int) -> Bound:
        """Prove c z <= b for every fitting z, or find one that exceeds it."""
        return _Search(self, c, b).run()

    def maximum(self, c: Ints) -> tuple[int, Bound]:
        """The exact maximum of c z with its proof, or the limit met. It ends: points exceed the last, up to n max |c|."""
        # below every value that n records can reach, so that the first question finds a point or proves that none fits
        best = -int(np.abs(c).max(initial=0)) * self.program.n - 1
        while True:
            bound = self.at_most(c, best)
            if bound.counterexample is None:
                return best, bound
            best = int(c @ bound.counterexample)

    def dive(self, objective: npt.NDArray[Any], least: int | None = None) -> Ints | None:
        """A fitting point (with objective z >= least where asked), by fixing one fractional class after another upwards."""
        rows, share, fixed = 0, FIXED_AT_ONCE, 0
        try:
            if least is not None:
                self.lp.push_row(objective, least, inf)
                rows += 1
            for _ in range(2 * self.program.n + SPARE_STEPS):
                self.linear_programs += 1
                answer = self.lp.maximise(objective)
                if not isinstance(answer, Optimal):
                    if fixed < 2:
                        return None
                    # together they were too many: fewer from here on
                    for _ in range(fixed):
                        self.lp.pop_row()
                    rows, share, fixed = rows - fixed, share / 2, 0
                    continue
                z = self.integral(answer.z)
                if z is not None:
                    return z
                fraction = answer.z - np.floor(answer.z + INTEGRAL)
                fixed = max(1, int(share * np.count_nonzero(fraction > INTEGRAL)))
                for index in np.argsort(-fraction, kind="stable")[:fixed]:
                    chosen = np.zeros(self.program.classes, dtype=np.int8)
                    chosen[index] = 1
                    self.lp.push_row(chosen, floor(answer.z[index] + INTEGRAL) + 1, inf)
                rows += fixed
            return None
        finally:
            for _ in range(rows):
                self.lp.pop_row()

    def better(self, c: Ints, b: int) -> Ints | None:
        """A fitting z with c z > b, an exchange away from a known one; None where none is at hand."""
        for z in list(islice((z for z in self.seen if int(c @ z) == b), NEIGHBOURS)):
            moved = self.exchange.improve(z, c)
            if moved is not None and self.program.fits(moved):
                self.seen.append(moved)
                return moved
        return None

    def integral(self, z: Floats) -> Ints | None:
        """The point as class counts if it is integral, recounted against every row."""
        rounded = integer_point(z)
        if rounded is None:
            return None
        if not self.program.fits(rounded):
            raise WrongAnswer(
                f"block {self.program.release.block}: the solver's point does not fit the published counts when recounted; "
                "nothing is reported. Try the other solver (program.solver in config.yaml)."
            )
        self.seen.append(rounded)
        return rounded


class _Search(BranchAndProve):
    def __init__(self, bounder: Bounder, c: Ints, b: int) -> None:
        self.bounder, self.c, self.b = bounder, c, b
        self.nodes = self.leaves = 0
        self.integer = False
        self.branches: list[Branch] = []
        self.deadline = time.monotonic() + bounder.limits.seconds

    def run(self) -> Bound:
        try:
            proof = self.node() if self.bounder.program.classes else self.no_records()
        except PointFound as refuted:
            if int(self.c @ refuted.z) <= self.b:  # counted in integers, whatever value the solver gave
                raise WrongAnswer(
                    f"block {self.bounder.program.release.block}: the solver's point reaches {int(self.c @ refuted.z)} when "
                    f"recounted, not more than {self.b} as its value says; nothing is reported. Try the other solver "
                    "(program.solver in config.yaml)."
                ) from None
            return Bound(counterexample=refuted.z, integer=self.integer)
        except LimitStruck as struck:
            return Bound(limit=struck.limit, integer=self.integer, decided=False)
        if proof is None:
            return Bound(limit="proof too large or not exact", integer=self.integer)
        return Bound(proof=proof, integer=self.integer)

    def no_records(self) -> Node:
        """Every record is ruled out: N = 0 is the only dataset, and N > 0 a contradiction."""
        if self.bounder.program.n > 0:
            return {"kind": "empty", "y": {TOTAL: -1}}
        if self.b < 0:
            raise PointFound(np.zeros(0, dtype=np.int64))
        return {"kind": "bound", "y": {}}

    def relaxed(self, depth: int) -> Answer:
        self.nodes += 1
        over = {"node limit": self.nodes > self.bounder.limits.nodes, "depth limit": depth > DEEPEST,
                "wall-clock limit": time.monotonic() > self.deadline}  # fmt: skip
        for limit, struck in over.items():
            if struck:
                raise LimitStruck(limit)
        self.bounder.linear_programs += 1
        return self.bounder.lp.maximise(self.c)

    def leaf(self, y: Floats | None, empty: bool) -> Node | None:
        self.leaves += 1
        if y is None or self.leaves > self.bounder.limits.leaves:
            return None
        c, b, kind = (np.zeros_like(self.c), -1, "empty") if empty else (self.c, self.b, "bound")
        return record_leaf(self.bounder.program, self.branches, y, c, b, kind)

    def look(self, z: Floats, depth: int) -> None:
        """
        Any fitting z above b answers the question, wherever it is met. Exchanges and dives look for one at the root only:
        below it they have failed once, and are work that branching would have to pay at every node.
        """
        point = self.bounder.integral(z)
        self.bounder.searches += point is None and not self.integer
        self.integer |= point is None
        if point is None and depth == 0:
            point = self.bounder.better(self.c, self.b)
        if point is None and depth == 0:
            point = self.bounder.dive(self.c, self.b + 1)
        if point is not None:
            raise PointFound(point)

    def choose(self, z: Floats) -> tuple[tuple[Node, Flags], float]:
        chosen = _choose_part(self.bounder.program, z)
        if chosen is None:
            raise LimitStruck("nothing to branch on")
        return chosen, float(z[chosen[1]].sum())

    def side(self, part: tuple[Node, Flags], lo: int | None, hi: int | None, depth: int) -> Node | None:
        branch = Branch(part[1], lo, hi)
        self.bounder.lp.push_row(branch.inside.astype(np.int64), -inf if lo is None else lo, inf if hi is None else hi)
        self.branches.append(branch)
        try:
            proof: Node | None = self.node(depth)
            return proof
        finally:
            self.branches.pop()
            self.bounder.lp.pop_row()

    def fork(self, part: tuple[Node, Flags], at: int, below: Node, above: Node) -> Node:
        return {**part[0], "at": at, "below": below, "above": above}
