"""
A dataset of all blocks, made block by block, where the program is too large for one integer search.

In turn, each block takes records close to its share of a linear program's point; what is then wrong in the areas' cells is
mended with few new classes of records, by an integer search over the classes that are cheap or, where that fails, from the
linear program's own mended point.
"""

from functools import cached_property
from math import inf

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array, hstack, vstack

from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.solve.joint import Joint
from genverify.solve.recount import INTEGRAL, integer_point
from genverify.solve.solvers.base import IntegerProgram, LinearProgram, Optimal, Solver, best_point

ROUNDS = 6
CHEAP = (0.25, 0.75)  # new classes that a mend may use, by what a record of them costs: most cost 1
WORTH = 1000.0  # of a wanted record, in new ones


class ByBlocks:
    """
    Looks for datasets of all blocks; `lp` is the linear program of the joint program. Where a dataset with c z >= b is
    `wanted`, that is one more row, of the block that c is about.
    """

    def __init__(self, joint: Joint, solver: Solver, lp: LinearProgram, wanted: tuple[Ints, int] | None = None) -> None:
        self.joint, self.solver, self.lp, self.wanted = joint, solver, lp, wanted
        self.A, self.lo, self.hi = csr_array(joint.A.astype(np.float64)), joint.lo.astype(float), joint.hi.astype(float)
        if wanted is not None:
            self.A = csr_array(vstack([self.A, csr_array(wanted[0][None, :].astype(np.float64))]))
            self.lo, self.hi = np.append(self.lo, wanted[1]), np.append(self.hi, inf)
        sizes = [program.classes for program in joint.programs]
        self.block_of = np.repeat(np.arange(len(sizes)), sizes)
        self.upper = np.repeat([float(program.n) for program in joint.programs], sizes)

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
            if self.fits(z):
                return z
            point, found = self.mended(z)
            settled = self.settled(point) if found is None and point is not None else None
            if settled is None:
                return found
            z = settled
        return None

    def fits(self, z: Ints) -> bool:
        """Whether class counts satisfy every row, the wanted one too, recounted in integers."""
        return self.joint.fits(z) and (self.wanted is None or int(self.wanted[0] @ z) >= self.wanted[1])

    def settled(self, point: Floats) -> Ints | None:
        """Integers for every block in turn: its own rows hold, and rows that blocks share are missed as little as can be."""
        z = point.copy()
        for number in np.unique(self.block_of[np.abs(z - np.rint(z)) > INTEGRAL]).tolist():
            own = self._least_missed(z, number)
            if own is None:
                return None
            z[self.joint.spans[number]] = own
        return np.rint(z).astype(np.int64)

    def _least_missed(self, z: Floats, number: int) -> Ints | None:
        """The records of one block, the others as they are."""
        span, rows = self.joint.spans[number], np.flatnonzero(self.held[:, number])
        part = csr_array(self.A[:, span])[rows]
        rest = (self.A @ z)[rows] - part @ z[span]
        missed = np.flatnonzero(self.held[rows].sum(axis=1) > 1)
        one = csc_array(eye_array(len(rows), format="csc")[:, missed])
        classes, slacks = part.shape[1], 2 * len(missed)
        program = IntegerProgram(
            csr_array(hstack([part, one, -one])),
            self.lo[rows] - rest,
            self.hi[rows] - rest,
            np.concatenate([self.upper[span], np.full(slacks, inf)]),
            np.concatenate([np.zeros(classes), -np.ones(slacks)]),
            np.arange(classes + slacks) < classes,
        )
        point = best_point(self.solver.solve(program))
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
            found = self._among(z, moved[self.block_of] & ((cost <= most) | (z > 0)))
            if found is not None:
                return answer.z, found
        return answer.z, None

    def _among(self, z: Ints, free: Flags) -> Ints | None:
        """A dataset that differs from z in some classes only."""
        kept, rest = np.flatnonzero(free), self.A @ np.where(free, 0, z)
        integers = IntegerProgram(
            csr_array(self.A[:, kept]), self.lo - rest, self.hi - rest, self.upper[kept], np.zeros(len(kept))
        )
        point = best_point(self.solver.solve(integers))
        own = None if point is None else integer_point(point)
        if own is None:
            return None
        found = z.copy()
        found[kept] = own
        return found if self.fits(found) else None
