"""Counts that no dataset fits: the dataset of least cost plus squared error (subsidized housing, equation 8)."""

from dataclasses import dataclass, replace
from math import inf

import numpy as np
from scipy.sparse import block_array, csr_array

from genverify.model.arrays import Floats, Ints
from genverify.solve.program import WrongAnswer, integer_point, sparse_system
from genverify.solve.solvers.base import Answer, Optimal, Solver, Stopped, best_point, maximise_integers
from studies.housing.joint_program import NATS, TypeProgram

WIDTH = 6  # steps to each side of an error that are distinguished
MOVES, TRIES = 4, 20  # so often the steps are laid around other errors, then they are widened


@dataclass(frozen=True)
class ClosestFit:
    """
    A dataset, the sum of its squared errors, and what cost plus error may exceed the least by (0 where it is optimal).

    Errors count what a statistic falls short of its range or exceeds it, so that one-sided statistics err to one side.
    """

    z: Ints
    error: int
    gap: float

    def program(self, program: TypeProgram) -> TypeProgram:
        """The program with every statistic that is not met at the value that the dataset has: now it fits."""
        counts, missed = program.counted(self.z), program.misses(self.z) != 0
        return replace(program, lo=np.where(missed, counts, program.lo), hi=np.where(missed, counts, program.hi))


@dataclass(frozen=True)
class _Side:
    """
    How far some rows may lie below their ranges (sign 1) or above (-1), in steps of one person or household.

    The k-th step adds 2k - 1 to the squared error. Only the steps from `first` to `last` are distinguished; those before and
    after have the slope of the nearest, which is too low an error for them, never too high.
    """

    rows: Ints
    sign: int
    first: Ints
    last: Ints

    def steps(self) -> tuple[Ints, Floats, Ints]:
        """Row, width and slope of every step."""
        row, width, slope = [], [], []
        for at, first, last in zip(self.rows.tolist(), self.first.tolist(), self.last.tolist(), strict=True):
            widths = [first] * bool(first) + [1] * (last - first) + [inf]
            row += [at] * len(widths)
            width += widths
            slope += [2 * first - 1] * bool(first) + [2 * k - 1 for k in range(first + 1, last + 2)]
        return np.array(row, dtype=np.int64), np.array(width, dtype=np.float64), np.array(slope, dtype=np.int64)

    def errors(self, misses: Ints) -> Ints:
        return np.maximum(0, -self.sign * misses[self.rows])

    def off(self, misses: Ints) -> bool:
        """Whether an error lies outside the steps that are distinguished."""
        errors = self.errors(misses)
        return bool(((errors < self.first) | (errors > self.last)).any())

    def around(self, misses: Ints, widen: bool) -> "_Side":
        """The steps around these errors; to widen keeps those of before."""
        first, last = np.maximum(0, self.errors(misses) - WIDTH), self.errors(misses) + WIDTH
        if widen:
            first, last = np.minimum(first, self.first), np.maximum(last, self.last)
        return replace(self, first=first, last=last)


def closest(program: TypeProgram, solver: Solver, likelihood: bool = True) -> ClosestFit:
    """
    The dataset that minimises minus the log-likelihood plus the squared error (equation 8); without likelihood, the error.

    N is kept. The squared error is a sum of steps of slopes 1, 3, 5, ..., exact at integers, so that an integer program
    finds the least; where an error lies outside these steps, they are laid around it and all is solved again.
    """
    if program.types == 0:
        raise WrongAnswer("no household type is left to reconstruct from; the prior knows none that the block may have")
    cost = program.cost if likelihood else np.zeros_like(program.cost)
    sides = _sides(program)
    for attempt in range(TRIES):
        z, gap = _solve(program, cost, sides, solver)
        misses = program.misses(z)
        if not any(side.off(misses) for side in sides):
            break
        sides = [side.around(misses, widen=attempt >= MOVES) for side in sides]
    else:
        gap = inf
    return ClosestFit(z, int(misses @ misses), gap / NATS)


def _sides(program: TypeProgram) -> list[_Side]:
    """The sides to which rows can err: not N, nor a side that no dataset of n households lies beyond."""
    most, least = program.A.max(axis=1) * program.n, program.A.min(axis=1) * program.n
    beyond = ((program.lo > least, 1), (program.hi < most, -1))
    rows = [(np.flatnonzero(able[1:]) + 1, sign) for able, sign in beyond]
    return [_Side(found, sign, np.zeros_like(found), np.full_like(found, WIDTH)) for found, sign in rows]


def _solve(program: TypeProgram, cost: Ints, sides: list[_Side], solver: Solver) -> tuple[Ints, float]:
    """The best dataset with these steps, and how far from the best it may be."""
    answer, objective = _answer(program, cost, sides, solver)
    point = best_point(answer)
    if point is None:
        why = answer.limit.value if isinstance(answer, Stopped) else "infeasible"
        raise WrongAnswer(f"no dataset near the counts was found ({why}); raise program.nodes or program.seconds")
    z = integer_point(point[: program.types])
    if z is None or z.sum() != program.n or (z < 0).any():
        raise WrongAnswer("the dataset nearest to the counts is not one of N households when recounted")
    if isinstance(answer, Stopped) and answer.bound is not None:
        return z, max(0.0, answer.bound - float(objective @ point))
    return z, 0.0 if isinstance(answer, Optimal) else inf


def _answer(program: TypeProgram, cost: Ints, sides: list[_Side], solver: Solver) -> tuple[Answer, Floats]:
    """lo <= A z + steps up - steps down <= hi, at least cost, and what each costs; the steps come out whole where z is."""
    parts, upper, objective = [csr_array(program.A.astype(np.float64))], [np.full(program.types, float(program.n))], [-cost]
    for side in sides:
        row, width, slope = side.steps()
        ones = np.full(len(row), float(side.sign))
        parts.append(csr_array((ones, (row, np.arange(len(row)))), shape=(len(program.rows), len(row))))
        upper.append(width)
        objective.append(-NATS * slope)
    A = csr_array(block_array([parts]))
    integers = np.arange(A.shape[1]) < program.types
    system = sparse_system(A, program.lo, program.hi, np.concatenate(upper))
    weights = np.concatenate(objective).astype(np.float64)
    return maximise_integers(solver, system, weights, integers), weights
