"""
A dataset of all blocks, where the program is too large for one integer search: first each block takes records close to its
share of a linear program's point, then what is wrong in the areas' cells is mended with few new classes of records.
"""

from functools import cached_property
from math import inf

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array, hstack, vstack

from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.solve.joint import Joint
from genverify.solve.recount import INTEGRAL, integer_point
from genverify.solve.solvers.base import IntegerProgram, LinearProgram, Optimal, Solver, best_point

COSTS = (0.25, 0.5, 0.75)  # of the new classes that a mend may use, in new records: most classes cost 1
AtLeast = tuple[Ints, int]


class ByBlocks:
    """The program of all blocks with its linear program, solved for one block after the other, or over few classes."""

    def __init__(self, joint: Joint, solver: Solver, lp: LinearProgram) -> None:
        self.joint, self.solver, self.lp = joint, solver, lp
        sizes = [program.classes for program in joint.programs]
        self.block_of = np.repeat(np.arange(len(sizes)), sizes)
        self.upper = np.repeat([float(program.n) for program in joint.programs], sizes)

    @cached_property
    def held(self) -> Flags:
        """Per row and block: whether the row counts records of the block."""
        flags: Flags = np.zeros((self.joint.A.shape[0], len(self.joint.programs)), dtype=bool)
        rows = np.repeat(np.arange(len(flags)), np.diff(self.joint.A.indptr))
        flags[rows, self.block_of[self.joint.A.indices]] = True
        return flags

    def dataset(self, objective: Floats) -> Ints | None:
        """Class counts that fit, near the best point of the linear program; None where none was found within the limits."""
        answer = self.lp.maximise(objective)
        if not isinstance(answer, Optimal):
            return None
        z = integer_point(answer.z)
        if z is None:
            whole = self.settled(answer.z)
            z = None if whole is None else self.near(whole)
        return z if z is not None and self.joint.fits(z) else None

    def settled(self, point: Floats) -> Ints | None:
        """Integers for every block in turn: its own rows hold, and rows that blocks share are missed as little as can be."""
        z = point.copy()
        for number in np.unique(self.block_of[np.abs(z - np.rint(z)) > INTEGRAL]).tolist():
            span = self.joint.spans[number]
            own = self._least_missed(z, number)
            if own is None:
                return None
            z[span] = own
        return np.rint(z).astype(np.int64)

    def _least_missed(self, z: Floats, number: int) -> Ints | None:
        """The records of one block, the others as they are."""
        span, rows = self.joint.spans[number], np.flatnonzero(self.held[:, number])
        part = self.joint.A[:, span].tocsr()[rows]
        rest = (self.joint.A @ z)[rows] - part @ z[span]
        missed = np.flatnonzero(self.held[rows].sum(axis=1) > 1)
        one = csc_array(eye_array(len(rows), format="csc")[:, missed])
        classes, slacks = part.shape[1], 2 * len(missed)
        program = IntegerProgram(
            csr_array(hstack([part, one, -one])),
            self.joint.lo[rows] - rest,
            self.joint.hi[rows] - rest,
            np.concatenate([self.upper[span], np.full(slacks, inf)]),
            np.concatenate([np.zeros(classes), -np.ones(slacks)]),
            np.arange(classes + slacks) < classes,
        )
        point = best_point(self.solver.solve(program))
        return None if point is None else integer_point(point[:classes])

    def near(self, z: Ints, wanted: AtLeast | None = None) -> Ints | None:
        """
        Class counts that fit, with c z >= b where that is wanted, and few classes that z does not have: those that are
        cheap by the multipliers of the linear program with the fewest new records.
        """
        cost = self._costs(z, wanted)
        for most in COSTS if cost is not None else ():
            kept = np.flatnonzero((cost <= most) | (z > 0))
            found = self._among(kept, wanted)
            if found is not None:
                return found
        return None

    def _costs(self, z: Ints, wanted: AtLeast | None) -> Floats | None:
        """What a record of each class costs besides the multipliers, where records of new classes cost 1."""
        new = (z == 0).astype(np.float64)
        if wanted is not None:
            self.lp.push_row(wanted[0], wanted[1], inf)
        try:
            answer = self.lp.maximise(-new)
        finally:
            if wanted is not None:
                self.lp.pop_row()
        if not isinstance(answer, Optimal) or answer.y is None:
            return None
        rows = len(self.joint.rows)
        cost: Floats = new + self.joint.columns @ answer.y[:rows]
        return cost if wanted is None else cost + answer.y[rows] * wanted[0]

    def _among(self, kept: Ints, wanted: AtLeast | None) -> Ints | None:
        """A fitting point over some classes."""
        A, lo, hi = csr_array(self.joint.A[:, kept]), self.joint.lo.astype(np.float64), self.joint.hi.astype(np.float64)
        if wanted is not None:
            A = csr_array(vstack([A, csr_array(wanted[0][None, kept])]))
            lo, hi = np.append(lo, wanted[1]), np.append(hi, inf)
        point = best_point(self.solver.solve(IntegerProgram(A, lo, hi, self.upper[kept], np.zeros(len(kept)))))
        own = None if point is None else integer_point(point)
        if own is None:
            return None
        z = np.zeros(self.joint.A.shape[1], dtype=np.int64)
        z[kept] = own
        self.joint.recount(z)
        return z
