"""Gurobi, the solver of the paper: exact tolerances, one thread, a fixed seed, and solution pools."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import gurobipy as gp
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, eye_array, hstack

from genverify.model.arrays import Floats
from genverify.model.errors import GenverifyError
from genverify.solve.solvers.base import Answer, Infeasible, IntegerProgram, Limit, Matrix, Optimal, Stopped, WorkLimits

GRB = gp.GRB
SIZE_LIMIT = 2000  # variables, and constraints: what the licence that comes with the package allows
TIGHT = {"FeasibilityTol": 1e-9, "IntFeasTol": 1e-9, "OptimalityTol": 1e-9, "Threads": 1, "Seed": 1}
Rows = tuple[Any, Any]  # constraints of a model, and the slack variables of those with two different sides (None: no slack)
ADVICE = "Set program.solver: highs in config.yaml, or install a full Gurobi licence"


class LicenceError(GenverifyError):
    """Gurobi's licence is missing, expired, or too small for a program."""


@cache
def _environment() -> gp.Env:
    try:
        return gp.Env(params={"OutputFlag": 0, "LogToConsole": 0, **TIGHT})
    except gp.GurobiError as error:
        raise LicenceError(f"Gurobi has no valid licence here ({error}). {ADVICE}.") from None


@cache
def has_full_licence() -> bool:
    """Whether Gurobi accepts a model beyond the size of its bundled licence: asked once per process."""
    with gp.Model(env=_environment()) as model:
        model.addMVar(SIZE_LIMIT + 1)
        try:
            model.optimize()
        except gp.GurobiError as error:
            if error.errno == GRB.Error.SIZE_LIMIT_EXCEEDED:
                return False
            raise LicenceError(f"Gurobi cannot solve here ({error}). {ADVICE}.") from None
    return True


def _too_large(columns: int, rows: int) -> LicenceError:
    return LicenceError(
        f"this program has {columns} variables and {rows} constraints; Gurobi's licence here allows {SIZE_LIMIT} of each. "
        f"{ADVICE}."
    )


def _optimize(model: gp.Model) -> int:
    """Run Gurobi and return its status code; Ctrl-C stays Ctrl-C."""
    try:
        model.optimize()
    except gp.GurobiError as error:
        if error.errno == GRB.Error.SIZE_LIMIT_EXCEEDED:
            raise _too_large(model.NumVars, model.NumConstrs) from None
        raise LicenceError(f"Gurobi stopped ({error}). {ADVICE}.") from None
    if model.Status == GRB.INTERRUPTED:
        raise KeyboardInterrupt
    return int(model.Status)


def _limit(status: int) -> Limit:
    """Whatever Gurobi names beside an optimum, infeasibility and its clock is work left undone."""
    return Limit.TIME if status == GRB.TIME_LIMIT else Limit.WORK


class GurobiProgram:
    """A linear program that Gurobi keeps warm between objectives and branch rows."""

    def __init__(self, A: Matrix, lo: npt.NDArray[Any], hi: npt.NDArray[Any], limits: WorkLimits) -> None:
        self._model = gp.Model(env=_environment())
        # Farkas multipliers need InfUnbdInfo, and a warm start needs the model as it is.
        for name, value in {"InfUnbdInfo": 1, "Presolve": 0, "Method": 0, "IterationLimit": limits.iterations,
                            "TimeLimit": limits.seconds}.items():  # fmt: skip
            self._model.setParam(name, value)
        self._model.ModelSense = GRB.MAXIMIZE
        self._z = self._model.addMVar(A.shape[1])
        self._rows = _add_rows(self._model, self._z, csr_array(A.astype(np.float64)), lo, hi)
        self._branches: list[Rows] = []

    def maximise(self, objective: npt.NDArray[Any]) -> Answer:
        self._z.setAttr("Obj", objective.astype(np.float64))
        status = _optimize(self._model)
        if status == GRB.OPTIMAL:
            return Optimal(self._model.ObjVal, np.array(self._z.X), self._multipliers("Pi"))
        if status == GRB.INFEASIBLE:
            return Infeasible(self._multipliers("FarkasDual"))
        return Stopped(_limit(status))

    def _multipliers(self, attribute: str) -> Floats | None:
        """Row multipliers in the order of the rows. Gurobi's signs are those of HiGHS, for optima and for Farkas proofs."""
        try:
            return np.concatenate([constraints.getAttr(attribute) for constraints, _ in (self._rows, *self._branches)])
        except (gp.GurobiError, AttributeError):
            return None

    def push_row(self, coefficients: npt.NDArray[Any], lo: float, hi: float) -> None:
        row = csr_array(coefficients.astype(np.float64)[None, :])
        self._branches.append(_add_rows(self._model, self._z, row, np.array([lo]), np.array([hi])))

    def pop_row(self) -> None:
        for part in self._branches.pop():
            if part is not None:
                self._model.remove(part)
        self._model.update()

    def add_columns(self, A: npt.NDArray[Any]) -> None:
        rows = [row for constraints, _ in (self._rows, *self._branches) for row in constraints.tolist()]
        fresh = []
        for column in A.T.astype(np.float64):
            indices = np.flatnonzero(column).tolist()
            fresh.append(self._model.addVar(column=gp.Column(column[indices].tolist(), [rows[index] for index in indices])))
        self._model.update()
        self._z = gp.concatenate((self._z, gp.MVar.fromlist(fresh)))

    def set_bounds(self, lower: Floats, upper: Floats) -> None:
        self._z.setAttr("LB", lower.astype(np.float64))
        self._z.setAttr("UB", upper.astype(np.float64))


def _add_rows(model: Any, z: Any, A: csr_array, lo: npt.NDArray[Any], hi: npt.NDArray[Any]) -> Rows:
    """The rows lo <= A z <= hi; a true range is A z - s = 0 with lo <= s <= hi, so that each row has one multiplier."""
    lo, hi = lo.astype(np.float64), hi.astype(np.float64)
    ranged = np.flatnonzero((lo < hi) & np.isfinite(lo) & np.isfinite(hi))
    size = A.shape[1] + len(ranged), A.shape[0]
    if max(size) > SIZE_LIMIT and not has_full_licence():
        raise _too_large(*size)
    sense = np.where(np.isinf(hi), GRB.GREATER_EQUAL, np.where(np.isinf(lo), GRB.LESS_EQUAL, GRB.EQUAL))
    side = np.where(np.isinf(hi), lo, hi)
    side[ranged] = 0.0
    slack = model.addMVar(len(ranged), lb=lo[ranged], ub=hi[ranged]) if len(ranged) else None
    if slack is not None:
        A, z = hstack([A, -eye_array(A.shape[0]).tocsc()[:, ranged]], format="csr"), gp.concatenate((z, slack))
    rows = model.addMConstr(A, z, sense, side), slack
    model.update()
    return rows


class Gurobi:
    """The Gurobi solver within given limits."""

    name = "gurobi"

    def __init__(self, limits: WorkLimits) -> None:
        self._limits = limits

    def linear_program(self, A: Matrix, lo: npt.NDArray[Any], hi: npt.NDArray[Any]) -> GurobiProgram:
        return GurobiProgram(A, lo, hi, self._limits)

    def solve(self, program: IntegerProgram) -> Answer:
        """An optimal integer point; with an objective of zeros, the first point found."""
        with self._model(program) as (model, z):
            status = _optimize(model)
            if status == GRB.OPTIMAL:
                return Optimal(model.ObjVal, np.array(z.X))
            if status == GRB.INFEASIBLE:
                return Infeasible()
            met = np.array(z.X) if model.SolCount else None
            return Stopped(_limit(status), incumbent=met, bound=model.ObjBound)

    def pool(self, program: IntegerProgram, K: int, seed: int) -> list[Floats]:
        """Up to K different points: all of them where fewer exist and no limit strikes. The objective is left out."""
        free = replace(program, objective=np.zeros_like(program.objective))
        with self._model(free, PoolSearchMode=2, PoolSolutions=K, Seed=seed % GRB.MAXINT) as (model, z):
            _optimize(model)
            points = []
            for number in range(model.SolCount):
                model.setParam("SolutionNumber", number)
                points.append(np.array(z.Xn))
            return points

    @contextmanager
    def _model(self, program: IntegerProgram, **params: int) -> Iterator[tuple[gp.Model, gp.MVar]]:
        integral = bool((program.objective == np.rint(program.objective)).all())
        # Gurobi's units of work are about a second each, and the same on every run.
        clock = "TimeLimit" if self._limits.checks is None else "WorkLimit"
        limits = {"NodeLimit": self._limits.nodes, clock: self._limits.seconds, "MIPGap": 0.0}
        with gp.Model(env=_environment()) as model:
            for name, value in {"MIPGapAbs": 0.5 if integral else 1e-9, **limits, **params}.items():
                model.setParam(name, value)
            model.ModelSense = GRB.MAXIMIZE
            integers = np.ones(len(program.upper), dtype=bool) if program.integers is None else program.integers
            kinds = np.where(integers, GRB.INTEGER, GRB.CONTINUOUS)
            z = model.addMVar(len(program.upper), ub=program.upper, obj=program.objective, vtype=kinds)
            _add_rows(model, z, csr_array(program.A.astype(np.float64)), program.lo, program.hi)
            yield model, z
