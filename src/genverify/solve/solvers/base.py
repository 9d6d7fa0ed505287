"""What the attack asks of a solver, how a solver may answer, and the solver that the settings name."""

from dataclasses import dataclass, replace
from enum import Enum
from math import isfinite
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array

from genverify.model.arrays import Floats
from genverify.model.errors import ConfigError, needed
from genverify.model.linear import LinearSystem, as_floats
from genverify.model.work import Meter
from genverify.solve.program import WrongAnswer, matrix_of


class Limit(Enum):
    """What stopped a solve before its end."""

    WORK = "work limit"
    TIME = "time limit"


@dataclass(frozen=True)
class Optimal:
    """A best point z with its value; of a linear program also the row multipliers y, where the solver leaves them."""

    value: float
    z: Floats
    y: Floats | None = None

    def __post_init__(self) -> None:
        if not isfinite(self.value):  # no bounded program has such an optimum
            raise WrongAnswer(f"the solver's best value is {self.value}; nothing is reported. Try the other solver.")


@dataclass(frozen=True)
class Infeasible:
    """No point fits; of a linear program also the multipliers y of a Farkas proof, where the solver leaves them."""

    y: Floats | None = None


@dataclass(frozen=True)
class Stopped:
    """A limit struck; an integer program may have its best point so far (`incumbent`) and how good one can be (`bound`)."""

    limit: Limit
    incumbent: Floats | None = None
    bound: float | None = None


# One class per end, each with the fields that this end has: no caller can read the point of a solve that has none.
Answer = Optimal | Infeasible | Stopped


def best_point(answer: Answer) -> Floats | None:
    """The optimum, or the best point met before a limit; None where there is neither."""
    if isinstance(answer, Optimal):
        return answer.z
    return answer.incumbent if isinstance(answer, Stopped) else None


class LinearProgram(Protocol):
    """
    Maximise c z over z >= 0 and lo <= A z <= hi, many times with other c, with branch rows added and taken back, with
    other bounds of z, or with more columns (their coefficients in every row, branch rows last).
    """

    def maximise(self, objective: npt.NDArray[Any]) -> Answer: ...

    def push_row(self, coefficients: npt.NDArray[Any], lo: float, hi: float) -> None: ...

    def pop_row(self) -> None: ...

    def set_bounds(self, lower: Floats, upper: Floats) -> None: ...

    def add_columns(self, A: npt.NDArray[Any]) -> None: ...


@dataclass(frozen=True)
class IntegerProgram:
    """Integer z with 0 <= z <= upper and lo <= A z <= hi, c z maximised; `integers` flags those that must be, if not all."""

    A: csr_array
    lo: Floats
    hi: Floats
    upper: Floats
    objective: Floats
    integers: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class WorkLimits:
    """
    Deterministic limits first (simplex iterations of a linear program, nodes of a branching), seconds as safety net. Where
    `checks` is given, an integer search ends at that one of the solver's own checks of its limits, and no clock ends it.
    `meter`: what an integer search takes is added up there, and it makes no searches within itself, whose length nothing
    bounds (HiGHS).
    """

    iterations: int
    nodes: int
    seconds: float
    checks: int | None = None
    meter: Meter | None = None


Matrix = npt.NDArray[Any] | csr_array | csc_array


class Solver(Protocol):
    """A solver: its name, linear programs that stay warm, and integer programs."""

    name: str

    def linear_program(self, A: Matrix, lo: npt.NDArray[Any], hi: npt.NDArray[Any]) -> LinearProgram: ...

    def solve(self, program: IntegerProgram) -> Answer: ...

    def pool(self, program: IntegerProgram, K: int, seed: int) -> list[Floats]: ...


def integer_program(
    system: LinearSystem, objective: npt.NDArray[Any], integers: npt.NDArray[np.bool_] | None = None
) -> IntegerProgram:
    """A system as a solver takes it: its variables count from their lower ends."""
    least, most = as_floats(system.least), as_floats(system.most)
    if system.lo.any():
        shift = system.activity(system.lo)
        least, most = least - shift, most - shift
    weights, upper = matrix_of(system).astype(np.float64), as_floats(system.hi) - system.lo
    return IntegerProgram(weights, least, most, upper, objective.astype(np.float64), integers)


def maximise_integers(
    solver: Solver, system: LinearSystem, objective: npt.NDArray[Any], integers: npt.NDArray[np.bool_] | None = None
) -> Answer:
    """The best integers that fit a system."""
    if not system.countable(system.lo):
        return Stopped(Limit.WORK)
    answer = solver.solve(integer_program(system, objective, integers))
    if isinstance(answer, Optimal):
        return replace(answer, value=answer.value + float(objective @ system.lo), z=answer.z + system.lo)
    if isinstance(answer, Stopped) and answer.incumbent is not None:
        return replace(answer, incumbent=answer.incumbent + system.lo)
    return answer


# The solver that the configuration names.


def make_solver(name: str, limits: WorkLimits) -> Solver:
    """`highs` or `gurobi`; each is imported only where it is asked for."""
    if name == "highs":
        from genverify.solve.solvers.highs import Highs

        return Highs(limits)
    if name == "gurobi":
        needed("gurobipy", "program.solver: gurobi", "or take the solver highs")
        from genverify.solve.solvers.gurobi import Gurobi

        return Gurobi(limits)
    raise ConfigError(f"program.solver: unknown solver {name!r}; known: highs, gurobi")
