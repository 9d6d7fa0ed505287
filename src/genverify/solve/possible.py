"""Which classes of records some dataset of all blocks can have at all, and a proof for those that none has."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.solve.joint import Joint
from genverify.solve.leaves import Leaf, exact_leaf
from genverify.solve.recount import INTEGRAL, integer_point
from genverify.solve.solvers.base import LinearProgram, Optimal, Solver

ROUNDS = 5_000


@dataclass(frozen=True)
class Possible:
    """
    The classes that are not ruled out, proofs (`nobody`) that no dataset has a record of any other, every dataset that was
    met on the way, and the number of linear programs.
    """

    classes: Flags
    nobody: tuple[Leaf, ...]
    datasets: tuple[Ints, ...]
    linear_programs: int


def possible_classes(
    joint: Joint, solver: Solver, lp: LinearProgram, datasets: Sequence[Ints], asked: Sequence[int]
) -> Possible:
    """
    As many records as possible in classes that were never seen, again and again: a point shows more classes to be possible,
    or there is none, and the multipliers of that one answer rule out all that are left. From each point every block goes on
    by itself, with its share of the areas' cells as it is. Only the classes of some blocks are asked about; those of the
    others are left as they are.
    """
    unseen: Flags = ~np.any(datasets, axis=0)
    for number in set(range(len(joint.programs))) - set(asked):
        unseen[joint.spans[number]] = False
    found, rounds = list(datasets), 0
    while unseen.any() and rounds < ROUNDS:
        rounds += 1
        answer = lp.maximise(unseen.astype(np.int64))
        if not isinstance(answer, Optimal):
            break
        if floor(answer.value + INTEGRAL) <= 0:
            nobody, ruled_out, more = _rule_out(joint, lp, unseen)
            return Possible(~ruled_out, nobody, tuple(found), rounds + more)
        z = integer_point(answer.z)
        if z is not None:
            joint.recount(z)
            found.append(z)
        unseen &= answer.z <= INTEGRAL
        _by_blocks(joint, solver, answer.z, unseen)
    return Possible(np.ones(joint.A.shape[1], dtype=bool), (), tuple(found), rounds)


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


def _rule_out(joint: Joint, lp: LinearProgram, unseen: Flags) -> tuple[tuple[Leaf, ...], Flags, int]:
    """One proof for all classes that are to be ruled out; halves of them where its multipliers are not simple fractions."""
    answer = lp.maximise(unseen.astype(np.int64))
    if isinstance(answer, Optimal) and answer.y is not None and floor(answer.value + INTEGRAL) <= 0:
        leaf = exact_leaf(joint, [], answer.y, unseen.astype(np.int64), 0, "bound")
        if leaf is not None:
            return (leaf,), unseen, 1
    places = np.flatnonzero(unseen)
    if len(places) < 2:
        return (), np.zeros_like(unseen), 1
    leaves: list[Leaf] = []
    ruled_out, programs = np.zeros_like(unseen), 1
    for half in np.array_split(places, 2):
        own = np.zeros_like(unseen)
        own[half] = True
        found, classes, more = _rule_out(joint, lp, own)
        leaves += found
        ruled_out |= classes
        programs += more
    return tuple(leaves), ruled_out, programs
