"""HiGHS, the embedded default solver."""

from dataclasses import replace
from itertools import count
from math import inf
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array

from genverify.model.arrays import Floats, Ints
from genverify.model.linear import as_floats
from genverify.model.work import Meter, WorkBudget
from genverify.solve.program import sparse_rows
from genverify.solve.solvers.base import Answer, Infeasible, IntegerProgram, Limit, Matrix, Optimal, Stopped, WorkLimits

MODEL = highspy.HighsModelStatus
DUAL, PRIMAL = 1, 4
DEVEX = 1  # HiGHS's own number of the rule
ITERATIONS = 200_000  # of the simplex method in one program over cells: none comes near, a loop would
BUSY = 3.0  # seconds of the clock for one of the processor, at most
FEASIBLE = int(highspy.SolutionStatus.kSolutionStatusFeasible)


def open_highs(**options: Any) -> Any:
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in {"output_flag": False, "threads": 1, **options}.items():
        highs.setOptionValue(name, value)
    return highs


def _dual_ray(highs: Any) -> Floats | None:
    """The Farkas multipliers of a program without a point, which only the dual simplex method leaves behind."""
    _, exists, ray = highs.getDualRay()
    if not exists:
        highs.setOptionValue("simplex_strategy", DUAL)
        highs.clearSolver()
        highs.run()
        _, exists, ray = highs.getDualRay()
    return -np.array(ray) if exists else None


def _relaxed(highs: Any, dual: bool) -> Answer:
    """The linear program as it stands, by the dual or the primal simplex method from the last basis."""
    highs.setOptionValue("simplex_strategy", DUAL if dual else PRIMAL)
    highs.run()
    status = highs.getModelStatus()
    if status == MODEL.kOptimal:
        solution = highs.getSolution()
        return Optimal(highs.getObjectiveValue(), np.array(solution.col_value), np.array(solution.row_dual))
    return Infeasible(_dual_ray(highs)) if status == MODEL.kInfeasible else Stopped(Limit.WORK)


class HighsProgram:
    """
    A linear program that HiGHS keeps warm. After another objective the last point still fits: primal simplex from there.
    After a branch row it no longer does: dual simplex. Without branch rows, each solve starts from the last such basis.
    """

    def __init__(self, A: Any, lo: npt.NDArray[Any], hi: npt.NDArray[Any], iterations: int) -> None:
        self._highs = open_highs(
            presolve="off", simplex_iteration_limit=iterations, simplex_primal_edge_weight_strategy=DEVEX
        )
        self._columns = A.shape[1]
        pass_model(self._highs, _sparse_columns(A), lo, hi)
        self._indices = np.arange(self._columns, dtype=np.int32)
        self._lower, self._upper = np.zeros(self._columns), np.full(self._columns, inf)
        self._pushed, self._root = 0, None
        self._solved = self._moved = self._bounded = self._grown = False

    def maximise(self, objective: npt.NDArray[Any]) -> Answer:
        self._highs.changeColsCost(self._columns, self._indices, objective.astype(np.float64))
        if not self._pushed and self._moved and self._root is not None:
            self._highs.setBasis(self._root)
        dual = (self._pushed and not self._grown) or self._bounded
        self._grown = False
        answer = _relaxed(self._highs, bool(dual))
        if isinstance(answer, Optimal) and not self._pushed:
            self._solved, self._moved, self._bounded = True, False, False
        return answer

    def push_row(self, coefficients: npt.NDArray[Any], lo: float, hi: float) -> None:
        if not self._pushed and self._solved and not self._moved:
            self._root = self._highs.getBasis()
        indices = np.flatnonzero(coefficients).astype(np.int32)
        self._highs.addRow(lo, hi, len(indices), indices, coefficients[indices].astype(np.float64))
        self._pushed, self._moved = self._pushed + 1, True

    def pop_row(self) -> None:
        last = self._highs.getNumRow() - 1
        self._highs.deleteRows(1, np.array([last], dtype=np.int32))
        self._pushed -= 1

    def add_columns(self, A: npt.NDArray[Any]) -> None:
        """More columns, at 0: the last point still fits, and primal simplex goes on from there."""
        sparse, free = _sparse_columns(A), np.full(A.shape[1], highspy.kHighsInf)
        none = np.zeros(A.shape[1])
        indices = sparse.indptr.astype(np.int32), sparse.indices.astype(np.int32)
        self._highs.addCols(A.shape[1], none, none, free, sparse.nnz, *indices, sparse.data)
        self._columns += A.shape[1]
        self._indices, self._grown, self._root = np.arange(self._columns, dtype=np.int32), True, None

    def set_bounds(self, lower: Floats, upper: Floats) -> None:
        """Other bounds of z. The last point may lie outside: dual simplex until a point is found."""
        changed = np.flatnonzero((lower != self._lower) | (upper != self._upper)).astype(np.int32)
        if len(changed):
            self._lower, self._upper, self._bounded = lower, upper, True
            self._highs.changeColsBounds(len(changed), changed, lower[changed], upper[changed])


# What programs take, in units of work (about a second of one core), fitted to programs of 56 x 64 to 1,333 x 10,000.
ITERATION = 8e-6, 5e-9, 1.1e-9  # of the simplex method: in any program, for each row and column, for each entry
START = 1.5e-4, 3e-8  # of a linear program, whatever its iterations: in any, for each entry
SEARCHED, OPENED = 30.0, 2e-3  # iterations of a linear program that one of an integer search takes; its start


def units_of(A: Any) -> tuple[float, float]:
    """Units of work of a linear program: to start, and for each iteration."""
    return START[0] + START[1] * A.nnz, ITERATION[0] + ITERATION[1] * sum(A.shape) + ITERATION[2] * A.nnz


class CellProgram(HighsProgram):
    """Maximise c x over lo <= x <= hi and least <= A x <= most, within a budget of work."""

    def __init__(self, A: csr_array, least: Ints, most: Ints, budget: WorkBudget | None = None) -> None:
        self.A = A.tocsc().astype(np.float64)
        super().__init__(self.A, as_floats(least), as_floats(most), ITERATIONS)
        self._bounded, self._units = True, units_of(self.A)
        self._budget = WorkBudget(Meter(), inf) if budget is None else budget

    def maximise(self, objective: npt.NDArray[Any], units: float = inf) -> Answer:
        """The best point, unless it takes more than so many units of work, or than there are left."""
        start, each = self._units
        iterations = min(max((min(units, self._budget.left()) - start) / each, 1), ITERATIONS)
        self._highs.setOptionValue("simplex_iteration_limit", int(iterations))
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(BUSY * self._budget.seconds(), 0.01))
        answer = super().maximise(objective)
        self._budget.spend(start + each * self._highs.getInfo().simplex_iteration_count)
        if self._highs.getModelStatus() == MODEL.kTimeLimit:
            self._budget.brake()
        self._bounded = not isinstance(answer, Optimal)
        return answer

    def basis(self) -> Ints | None:
        """The cells that the last vertex leaves between their ends, one for each row; none where rows are slack."""
        cells = np.array(self._highs.getBasicVariables()[1], dtype=np.int64)
        return cells if (cells >= 0).all() else None

    def start_at(self, other: "CellProgram") -> None:
        """Begin the next solve where another program of the same rows came out."""
        self._highs.setBasis(other._highs.getBasis())
        self._bounded = True

    def set_ends(self, lo: Ints, hi: Ints) -> None:
        """Other ends of the cells."""
        self.set_bounds(lo.astype(np.float64), as_floats(hi))


def _sparse_columns(A: Any) -> csc_array:
    """The matrix by columns, in floating-point numbers."""
    if isinstance(A, csr_array | csc_array):
        return csc_array(A, dtype=np.float64)
    return csc_array(sparse_rows(A.T != 0, A.T).T)


def pass_model(
    highs: Any, A: csc_array, lo: npt.NDArray[Any], hi: npt.NDArray[Any], program: IntegerProgram | None = None
) -> None:
    """Hand over lo <= A z <= hi, z >= 0, as arrays, with the objective, upper ends and integers of a program, or none."""
    none, size = np.zeros(A.shape[1]), A.shape[1]
    cost, upper = (none, np.full(size, highspy.kHighsInf)) if program is None else (program.objective, program.upper)
    integers = np.full(size, program is not None) if program is None or program.integers is None else program.integers
    highs.passModel(
        size, A.shape[0], A.nnz, int(highspy.MatrixFormat.kColwise), int(highspy.ObjSense.kMaximize), 0.0,
        cost, none, upper, lo.astype(np.float64), hi.astype(np.float64), A.indptr, A.indices, A.data,
        integers.astype(np.int32),
    )  # fmt: skip


class Highs:
    """The HiGHS solver within given limits."""

    name = "highs"

    def __init__(self, limits: WorkLimits) -> None:
        self._limits = limits

    def linear_program(self, A: Matrix, lo: npt.NDArray[Any], hi: npt.NDArray[Any]) -> HighsProgram:
        return HighsProgram(A, lo, hi, self._limits.iterations)

    def solve(self, program: IntegerProgram) -> Answer:
        """An optimal integer point; with an objective of zeros, the first point found."""
        # Objectives whose optimum matters have integer values: within an absolute gap of 0.5 the optimum is proved.
        highs = open_highs(
            mip_rel_gap=0.0, mip_abs_gap=0.5, mip_feasibility_tolerance=1e-9, mip_max_nodes=self._limits.nodes
        )
        if self._limits.checks is None:
            highs.setOptionValue("time_limit", self._limits.seconds)
        else:
            # HiGHS tells no iterations on its way, but checks its limits at the same places each time
            numbers, last = count(1), self._limits.checks
            highs.cbMipInterrupt.subscribe(lambda event: event.interrupt() if next(numbers) >= last else None)
        if self._limits.meter is not None and program.objective.any():  # a first point is worth any search, and ends it
            for within in ("rens", "rins", "root_reduced_cost"):
                highs.setOptionValue(f"mip_heuristic_run_{within}", False)
        pass_model(highs, csc_array(program.A.astype(np.float64)), program.lo, program.hi, program)
        highs.run()
        if highs.getModelStatus() == MODEL.kSolveError:  # presolve may lead to a point that breaks a row: once more without
            highs.setOptionValue("presolve", "off")
            highs.clearSolver()
            highs.run()
        if self._limits.meter is not None:
            start, each = units_of(program.A)
            self._limits.meter.units += OPENED + start + SEARCHED * each * highs.getInfo().simplex_iteration_count
        return _answer(highs)

    def pool(self, program: IntegerProgram, K: int, seed: int) -> list[Floats]:
        """Up to K points by random objectives (HiGHS keeps no pool); they may repeat."""
        rng = np.random.default_rng(seed)
        points = []
        for _ in range(K):
            weights = rng.standard_normal(len(program.upper))
            answer = self.solve(replace(program, objective=weights))
            if isinstance(answer, Optimal):
                points.append(answer.z)
        return points


def _answer(highs: Any) -> Answer:
    status, info = highs.getModelStatus(), highs.getInfo()
    if status == MODEL.kOptimal:
        return Optimal(info.objective_function_value, np.array(highs.getSolution().col_value))
    if status == MODEL.kInfeasible:
        return Infeasible()
    met = np.array(highs.getSolution().col_value) if info.primal_solution_status == FEASIBLE else None
    limit = Limit.TIME if status == MODEL.kTimeLimit else Limit.WORK
    return Stopped(limit, incumbent=met, bound=info.mip_dual_bound)
