"""All blocks of some areas in one program: bounds, feasible classes, a dataset block by block, and a random walk from it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from math import floor, inf

import numpy as np
from scipy.sparse import block_diag, csc_array, csr_array, eye_array, hstack, vstack

from genverify.model.areas import BLOCK, Area, AreaReleases, seen_from, together
from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.linear import as_floats, with_row
from genverify.model.release import TOTAL, Release
from genverify.solve.admissible import Types
from genverify.solve.bounds import Bound, Bounder, Limits, Node, record_leaf
from genverify.solve.datasets import random_walk
from genverify.solve.program import (
    INTEGRAL,
    Program,
    RecordSystem,
    WrongAnswer,
    build_program,
    integer_point,
    layout_of,
    matrix_of,
    sparse_system,
)
from genverify.solve.program_settings import ProgramSettings
from genverify.solve.solvers.base import LinearProgram, Optimal, Solver, best_point, maximise_integers


@dataclass(frozen=True)
class Joint(RecordSystem):
    """
    All datasets that fit every level: z counts the records of each class of each block, lo <= A z <= hi.

    `programs` are those of the single blocks; their classes, one block after the other, are the columns. `rows` names the
    cells as model.areas.together does; the first row is the number of all records.
    """

    levels: AreaReleases
    programs: tuple[Program, ...]
    rows: tuple[str, ...]
    A: csr_array
    lo: Ints
    hi: Ints

    @cached_property
    def spans(self) -> list[slice]:
        """The columns of each block."""
        ends = np.cumsum([0, *(program.classes for program in self.programs)]).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]

    @property
    def upper(self) -> Ints:
        return np.concatenate([program.upper for program in self.programs])

    @cached_property
    def release(self) -> Release:
        """What its rows say, as one release."""
        return together(self.levels)

    def restricted(self, live: Flags) -> "Joint":
        """The program without some classes, of which no dataset has a record."""
        programs = []
        for program, span in zip(self.programs, self.spans, strict=True):
            if not live[span].all():
                of_types = live[span][program.class_of]
                types = replace(program.types, table=program.types.table[of_types])
                class_of = (np.cumsum(live[span]) - 1)[program.class_of[of_types]]
                program = replace(program, types=types, A=program.A[:, live[span]], class_of=class_of)
            programs.append(program)
        return replace(self, programs=tuple(programs), A=csr_array(self.A[:, np.flatnonzero(live)]))

    def best(self, solver: Solver, objective: Floats) -> Ints | None:
        """Fitting class counts with a large objective, recounted; None where there are none or a limit strikes."""
        if self.A.shape[1] == 0:  # no record is left open: there is one dataset, without records, or none
            nobody = np.zeros(0, dtype=np.int64)
            return nobody if self.fits(nobody) else None
        z = integer_point(best_point(maximise_integers(solver, self.system, objective)))
        if z is not None:
            self.recount(z)
        return z

    def recount(self, z: Ints) -> None:
        if not self.fits(z):
            raise WrongAnswer("a dataset of the whole area does not fit when recounted; nothing is reported")

    @property
    def alike(self) -> bool:
        """Whether the programs of all blocks tell the same codes apart."""
        return all(program.types.atoms == self.programs[0].types.atoms for program in self.programs)

    def program(self) -> Program:
        """The same as an ordinary program about the records of all blocks; the blocks must be alike."""
        domain = self.release.schema.domain
        code = np.repeat(np.arange(len(self.programs)), [len(program.types) for program in self.programs])
        table = np.column_stack([code, np.concatenate([program.types.table for program in self.programs])])
        atoms = (tuple((code,) for code in domain[BLOCK].codes), *self.programs[0].types.atoms)
        class_of = np.concatenate(
            [program.class_of + span.start for program, span in zip(self.programs, self.spans, strict=True)]
        )
        types = Types(domain, atoms, table.astype(np.int16))
        A = self.A.toarray()
        small = A.astype(np.int8) if self.system.largest < 128 else A
        return Program(self.release, types, (), self.rows, small, self.lo, self.hi, class_of)


def build_joint(levels: AreaReleases, max_types: int) -> Joint:
    """The program of all blocks: the number of records, every block's own rows, then one row per cell of an area."""
    programs = tuple(build_program(seen_from(levels, number), max_types) for number in range(len(levels.blocks)))
    of_blocks = [_own_rows(levels, program, number) for number, program in enumerate(programs)]
    names, blocks, lo, hi = zip(*of_blocks, strict=True)
    everyone = csr_array(np.ones((1, sum(program.classes for program in programs)), dtype=np.int64))
    n = np.array([levels.sizes.sum()])
    parts, low, high = [everyone, block_diag(blocks, format="csr")], [n, *lo], [n, *hi]
    rows = [TOTAL, *(name for of_block in names for name in of_block)]
    for area in levels.areas:
        parts.append(hstack([_area_rows(area, program, number) for number, program in enumerate(programs)], format="csr"))
        low.append(area.release.lo)
        high.append(area.release.hi)
        rows += [f"{area.release.block}/{query.id}" for query in area.release.queries]
    A, lo_, hi_ = csr_array(vstack(parts, format="csr")), np.concatenate(low), np.concatenate(high)
    # a cell of an area that counts 0 holds no class that is left, so its row says nothing
    said = (np.diff(A.indptr) > 0) | (lo_ > 0)
    chosen = np.flatnonzero(said)
    named = tuple(rows[row] for row in chosen.tolist())
    return Joint(levels, programs, named, csr_array(A[chosen]), lo_[chosen], hi_[chosen])


def _own_rows(levels: AreaReleases, program: Program, number: int) -> tuple[list[str], csr_array, Ints, Ints]:
    shared = tuple(f"{area.release.block}/" for area in levels.areas_of[number])
    chosen = [row for row, name in enumerate(program.rows) if not shared or not name.startswith(shared)]
    names = [f"{program.release.block}/{program.rows[row]}" for row in chosen]
    return names, csr_array(program.A[chosen].astype(np.int64)), program.lo[chosen], program.hi[chosen]


def _area_rows(area: Area, program: Program, number: int) -> csr_array:
    """What a record of each class of a block adds to the cells of an area: nothing, where the block lies elsewhere."""
    if number not in area.blocks:
        return csr_array((len(area.release.queries), program.classes), dtype=np.int64)
    _, first = np.unique(program.class_of, return_index=True)
    members, layout = replace(program.types, table=program.types.table[first]), layout_of(program.release)
    cells = [layout.position[f"{area.release.block}/{query.id}"] for query in area.release.queries]
    added = np.array(list(layout.added_by(members, cells))).reshape(len(cells), program.classes)
    return csr_array(added).astype(np.int64)


# A dataset of all blocks, made block by block, where the program is too large for one integer search.
#
# In turn, each block takes records close to its share of a linear program's point; what is then wrong in the areas' cells
# is mended with few new classes of records, by an integer search over the classes that are cheap or, where that fails, from
# the linear program's own mended point.

ROUNDS = 6  # of mending rows that are missed, each of which may break others
CHEAP = (0.25, 0.75)  # new classes that a mend may use, by what a record of them costs: most cost 1
WORTH = 1000.0  # of a wanted record, in new ones


class ByBlocks:
    """Looks for datasets of all blocks near the linear program `lp`, or, if `wanted`, for one with c z >= b."""

    def __init__(self, joint: Joint, solver: Solver, lp: LinearProgram, wanted: tuple[Ints, int] | None = None) -> None:
        self.joint, self.solver, self.lp, self.wanted = joint, solver, lp, wanted
        self.system = joint.system if wanted is None else with_row(joint.system, "wanted", *wanted)
        self.A, self.upper = matrix_of(self.system).astype(np.float64), joint.upper.astype(np.float64)
        self.lo, self.hi = as_floats(self.system.least), as_floats(self.system.most)
        self.block_of = np.repeat(np.arange(len(joint.programs)), [program.classes for program in joint.programs])

    @cached_property
    def held(self) -> Flags:
        """Per row and block: whether the row counts records of the block."""
        flags: Flags = np.zeros((self.A.shape[0], len(self.joint.programs)), dtype=bool)
        flags[np.repeat(np.arange(len(flags)), np.diff(self.A.indptr)), self.block_of[self.A.indices]] = True
        return flags

    def dataset(self, objective: Floats) -> Ints | None:
        """Class counts that fit, near the best point of the linear program; None where none was found within the limits."""
        answer = self.lp.maximise(objective)
        z = self.settled(answer.z) if isinstance(answer, Optimal) else None
        return None if z is None else self.near(z)

    def near(self, z: Ints) -> Ints | None:
        """Class counts that fit, near others that miss some rows."""
        for _ in range(ROUNDS):
            if self.system.fits(z):
                return z
            point, result = self.mended(z)
            settled = self.settled(point) if result is None and point is not None else None
            if settled is None:
                return result
            z = settled
        return None

    def settled(self, point: Floats) -> Ints | None:
        """Integers for every block in turn: its own rows hold, and rows that blocks share are missed as little as can be."""
        z = point.copy()
        for number in np.unique(self.block_of[np.abs(z - np.rint(z)) > INTEGRAL]).tolist():
            counts = self._least_missed(z, number)
            if counts is None:
                return None
            z[self.joint.spans[number]] = counts
        return np.rint(z).astype(np.int64)

    def _least_missed(self, z: Floats, number: int) -> Ints | None:
        """The records of one block, the others as they are."""
        span, rows = self.joint.spans[number], np.flatnonzero(self.held[:, number])
        part = csr_array(self.A[:, span])[rows]
        rest = (self.A @ z)[rows] - part @ z[span]
        missed = np.flatnonzero(self.held[rows].sum(axis=1) > 1)
        one = csc_array(eye_array(len(rows), format="csc")[:, missed])
        classes, slacks = part.shape[1], 2 * len(missed)
        upper = np.concatenate([self.upper[span], np.full(slacks, inf)])
        system = sparse_system(csr_array(hstack([part, one, -one])), self.lo[rows] - rest, self.hi[rows] - rest, upper)
        objective = np.repeat([0.0, -1.0], [classes, slacks])
        point = best_point(maximise_integers(self.solver, system, objective, np.arange(classes + slacks) < classes))
        return None if point is None else integer_point(point[:classes])

    def mended(self, z: Ints) -> tuple[Floats | None, Ints | None]:
        """The linear program's point with the fewest records of classes that z has not, and a dataset near it if any."""
        new = (z == 0).astype(np.float64)
        objective = -new if self.wanted is None else WORTH * self.wanted[0] - new
        answer = self.lp.maximise(objective)
        if not isinstance(answer, Optimal) or answer.y is None:
            return None, None
        cost = self.joint.columns @ answer.y - objective
        moved = np.zeros(len(self.joint.programs), dtype=bool)
        moved[self.block_of[np.abs(answer.z - z) > INTEGRAL]] = True
        for most in CHEAP:
            result = self._among(z, moved[self.block_of] & ((cost <= most) | (z > 0)))
            if result is not None:
                return answer.z, result
        return answer.z, None

    def _among(self, z: Ints, free: Flags) -> Ints | None:
        """A dataset that differs from z in some classes only."""
        selected, rest = np.flatnonzero(free), self.A @ np.where(free, 0, z)
        system = sparse_system(csr_array(self.A[:, selected]), self.lo - rest, self.hi - rest, self.upper[selected])
        counts = integer_point(best_point(maximise_integers(self.solver, system, np.zeros(len(selected)))))
        if counts is None:
            return None
        result = z.copy()
        result[selected] = counts
        return result if self.system.fits(result) else None


# Bounds on the records of one block from the tables of all blocks and areas: a proof, or a dataset beyond the bound.

BRANCHED = 4_000_000  # coefficients of the program of all blocks up to which integers are searched by branching at once
CHECKS = 300  # of its limits by the solver in one search of all blocks: a clock would make results hang on the machine
SEARCHES = 200  # integer searches for one set of areas where the program is larger than that


class JointBounder:
    """Asks the program of all blocks, keeps every dataset that it meets, and gives up after SEARCHES integer searches."""

    def __init__(self, joint: Joint, settings: ProgramSettings, datasets: Ints) -> None:
        self.joint, self.settings, self.datasets = joint, settings, datasets
        self.linear_programs = self.searches = 0
        self.answers: dict[tuple[bytes, int, int], Bound] = {}

    def at_most(self, number: int, weights: Ints, b: int) -> Bound:
        """Whether the records of a block, weighted by class, are at most b; asked once."""
        key = weights.tobytes(), number, b
        if key not in self.answers:
            c = np.zeros(self.joint.A.shape[1], dtype=np.int64)
            c[self.joint.spans[number]] = weights
            self.answers[key] = self._at_most(c, b)
        return self.answers[key]

    def _at_most(self, c: Ints, b: int) -> Bound:
        self.linear_programs += 1
        answer = self.lp.maximise(c)
        if not isinstance(answer, Optimal):
            return Bound(limit="linear program", decided=False)
        if floor(answer.value + INTEGRAL) <= b:
            leaf = None if answer.y is None else record_leaf(self.joint, [], answer.y, c, b, "bound")
            return self._searched(c, b) if leaf is None else Bound(proof=leaf)
        z = integer_point(answer.z)
        return self._searched(c, b) if z is None else self.met(z)

    def met(self, z: Ints, integer: bool = False) -> Bound:
        """A dataset that exceeds a bound, kept: it may contradict other claims."""
        self.joint.recount(z)
        self.datasets = np.vstack([self.datasets, z[None, :]])
        return Bound(counterexample=z, integer=integer)

    def _searched(self, c: Ints, b: int) -> Bound:
        """What the linear program leaves open: branching with proofs, or, where all blocks are too large, near a dataset."""
        if self.branching is not None:
            bound = self.branching.at_most(c, b)
            if bound.counterexample is not None:
                self.met(bound.counterexample)
            return bound
        if self.searches >= SEARCHES:
            return Bound(limit="integer searches", integer=True, decided=False)
        self.searches += 1
        by_blocks = ByBlocks(self.joint, self.settings.make_solver(CHECKS), self.lp, (c, b + 1))
        z = by_blocks.near(self.datasets[0])
        if z is not None and int(c @ z) > b:
            return self.met(z, integer=True)
        return Bound(limit="no proof of what an integer search did not find", integer=True, decided=False)

    @cached_property
    def lp(self) -> LinearProgram:
        return self.settings.make_solver().linear_program(self.joint.A, self.joint.lo, self.joint.hi)

    @cached_property
    def branching(self) -> Bounder | None:
        """The program of all blocks as an ordinary one, where it is small enough."""
        rows, classes = self.joint.A.shape
        if rows * classes > BRANCHED or not self.joint.alike:
            return None
        bounder = Bounder(self.joint.program(), self.settings.make_solver(), counted(self.settings))
        bounder.learn(list(self.datasets))
        return bounder


def counted(settings: ProgramSettings) -> Limits:
    """The limits of a question that are the same on every machine: no clock."""
    return Limits(settings.nodes, settings.leaves, inf)


# Which classes of records some dataset of all blocks can have at all, and a proof for those that none has.

FEASIBILITY_ROUNDS = 5_000  # bounds time; where it is reached, every class counts as feasible


FeasibleClasses = tuple[Flags, tuple[Node, ...], Sequence[Ints], int]
"""Classes not ruled out, proofs (`nobody`) for all others, datasets that were met, and the number of linear programs."""


def possible_classes(
    joint: Joint, solver: Solver, lp: LinearProgram, datasets: Sequence[Ints], asked: Sequence[int]
) -> FeasibleClasses:
    """
    As many records as possible in classes that were never seen, again and again: a point shows more classes to be possible,
    or there is none, and the multipliers of that one answer rule out all that are left. From each point every block goes on
    by itself, with its share of the areas' cells as it is. Only the classes of some blocks are asked about; those of the
    others are left as they are.
    """
    unseen: Flags = ~np.any(datasets, axis=0)
    for number in set(range(len(joint.programs))) - set(asked):
        unseen[joint.spans[number]] = False
    result, rounds = list(datasets), 0
    while unseen.any() and rounds < FEASIBILITY_ROUNDS:
        rounds += 1
        answer = lp.maximise(unseen.astype(np.int64))
        if not isinstance(answer, Optimal):
            break
        if floor(answer.value + INTEGRAL) <= 0:
            nobody, ruled_out, more = _rule_out(joint, lp, unseen)
            return ~ruled_out, nobody, result, rounds + more
        z = integer_point(answer.z)
        if z is not None:
            joint.recount(z)
            result.append(z)
        unseen &= answer.z <= INTEGRAL
        _by_blocks(joint, solver, answer.z, unseen)
    return np.ones(joint.A.shape[1], dtype=bool), (), result, rounds


def _by_blocks(joint: Joint, solver: Solver, point: Floats, unseen: Flags) -> None:
    """Take away the classes that a block can have, at the values that a point gives to all its rows."""
    for program, span in zip(joint.programs, joint.spans, strict=True):
        left = unseen[span]
        if not left.any():
            continue
        values = program.columns.T @ point[span]
        lp = solver.linear_program(program.A, values, values)
        while left.any():
            answer = lp.maximise(left.astype(np.int64))
            if not isinstance(answer, Optimal) or not (left & (answer.z > INTEGRAL)).any():
                break
            left &= answer.z <= INTEGRAL


def _rule_out(joint: Joint, lp: LinearProgram, unseen: Flags) -> tuple[tuple[Node, ...], Flags, int]:
    """One proof for all classes that are to be ruled out; halves of them where its multipliers are not simple fractions."""
    leaves, ruled_out, programs, todo = list[Node](), np.zeros_like(unseen), 0, [np.flatnonzero(unseen)]
    while todo:
        indices, chosen, leaf = todo.pop(), np.zeros(len(unseen), dtype=np.int64), None
        chosen[indices] = 1
        answer, programs = lp.maximise(chosen), programs + 1
        if isinstance(answer, Optimal) and answer.y is not None and floor(answer.value + INTEGRAL) <= 0:
            leaf = record_leaf(joint, [], answer.y, chosen, 0, "bound")
        if leaf is not None:
            leaves.append(leaf)
            ruled_out[indices] = True
        elif len(indices) > 1:
            todo += reversed(np.array_split(indices, 2))
    return tuple(leaves), ruled_out, programs


# More datasets of all blocks out of one: exchanges in each block that leave all cells of block and areas as they were.

WALKERS = 25  # of each block of an area: bounds time
LOOKS = 4  # of all walkers: a hundred class vectors of each block are there to be joined


def walk_blocks(joint: Joint, starts: Sequence[Ints], rng: np.random.Generator) -> Ints:
    """Datasets of the whole area, one per row: each of the walkers has its own records in every block."""
    both = zip(joint.programs, joint.spans, strict=True)
    parts = [_walked(program, [z[span] for z in starts], rng) for program, span in both]
    datasets: Ints = np.unique(np.concatenate(parts, axis=1), axis=0)
    for z in datasets:
        joint.recount(z)
    return datasets


def _walked(program: Program, starts: Sequence[Ints], rng: np.random.Generator) -> Ints:
    """Class counts of one block, a row for each walker at each look; walkers keep the start that the others expect."""
    walkers = max(WALKERS, len(starts))
    if program.n < 2:
        return np.array([starts[walker % len(starts)] for walker in range(walkers)] * LOOKS)
    looks = islice(random_walk(program, starts, walkers, rng), 1, 1 + LOOKS)
    return np.array([np.bincount(point, minlength=program.classes) for points in looks for point in points])
