"""What the attack asks of a solver, and how a solver may answer."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]


class Status(Enum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    WORK_LIMIT = "work limit"
    TIME_LIMIT = "time limit"


@dataclass(frozen=True)
class Answer:
    """
    A solve's end. An optimum has a point z and, for a linear program, row multipliers y; an infeasible linear program
    has multipliers y of a Farkas proof; a solve that hit a limit has neither. An integer program that hit a limit may
    still name the best point that it met (`incumbent`), and it may say how good a point could be at most (`bound`).
    """

    status: Status
    value: float | None = None
    z: Floats | None = None
    y: Floats | None = None
    incumbent: Floats | None = None
    bound: float | None = None


class LinearProgram(Protocol):
    """
    Maximise c z over z >= 0 and lo <= A z <= hi, many times with other c, with branch rows added and taken back, or
    between other bounds of z.
    """

    def maximise(self, objective: npt.NDArray[Any]) -> Answer: ...

    def push_row(self, coefficients: npt.NDArray[Any], lo: float, hi: float) -> None: ...

    def pop_row(self) -> None: ...

    def set_bounds(self, lower: Floats, upper: Floats) -> None: ...


@dataclass(frozen=True)
class IntegerProgram:
    """
    Integer z with 0 <= z <= upper and lo <= A z <= hi, the objective c z maximised (all zero: any point will do).

    Where `whole` is given, only the variables that it flags need be integers.
    """

    A: csr_array
    lo: Floats
    hi: Floats
    upper: Floats
    objective: Floats
    whole: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class WorkLimits:
    """Deterministic limits first (simplex iterations of a linear program, nodes of a branching), seconds as safety net."""

    iterations: int
    nodes: int
    seconds: float


class Solver(Protocol):
    """A solver: its name, linear programs that stay warm, and integer programs."""

    name: str

    def linear_program(self, A: npt.NDArray[Any], lo: npt.NDArray[Any], hi: npt.NDArray[Any]) -> LinearProgram: ...

    def solve(self, program: IntegerProgram) -> Answer: ...

    def pool(self, program: IntegerProgram, K: int, seed: int) -> list[Floats]: ...
