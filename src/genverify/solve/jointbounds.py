"""Bounds on the records of one block from the tables of all blocks and areas: a proof, or a dataset beyond the bound."""

from functools import cached_property
from math import floor, inf

import numpy as np

from genverify.core.arraytypes import Ints
from genverify.solve.bounds import Bound, Bounder, Limits
from genverify.solve.byblocks import ByBlocks
from genverify.solve.joint import Joint
from genverify.solve.leaves import exact_leaf
from genverify.solve.recount import INTEGRAL, integer_point
from genverify.solve.settings import ProgramSettings
from genverify.solve.solvers.base import LinearProgram, Optimal

BRANCHED = 4_000_000  # coefficients of the program of all blocks up to which integers are searched by branching at once
CHECKS = 300  # of its limits by the solver in one search of all blocks: a clock would make results hang on the machine
SEARCHES = 200  # integer searches for one set of areas where the program is larger than that


class JointBounder:
    """
    Asks the program of all blocks; every dataset that it meets is kept in `datasets`. It counts the linear programs, and the
    integer searches of large programs, after SEARCHES of which a question that the linear program leaves open is undecided.
    """

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
            leaf = None if answer.y is None else exact_leaf(self.joint, [], answer.y, c, b, "bound")
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
        z = self._beyond(c, b)
        if z is not None and int(c @ z) > b:
            return self.met(z, integer=True)
        return Bound(limit="no proof of what an integer search did not find", integer=True, decided=False)

    def _beyond(self, c: Ints, b: int) -> Ints | None:
        """A dataset with c z > b, near the first one."""
        by_blocks = ByBlocks(self.joint, self.settings.make_solver(CHECKS), self.lp, (c, b + 1))
        return by_blocks.near(self.datasets[0])

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
