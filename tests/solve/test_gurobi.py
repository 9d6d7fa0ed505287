"""Gurobi answers as HiGHS does, in the same signs, says nothing, and explains its licence."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from census_blocks import census_release
from genverify.attack.generate import generate
from genverify.attack.verify import Decision, Verdict, Verifier
from genverify.model.claims import as_claims, candidate_claims
from genverify.solve.bounds import Bounder, Limits
from genverify.solve.program import Program, build_program
from genverify.solve.solvers import gurobi
from genverify.solve.solvers.base import Infeasible, IntegerProgram, Optimal, Solver, Stopped, integer_program
from genverify.solve.solvers.gurobi import Gurobi, LicenceError, has_full_licence
from genverify.solve.solvers.highs import Highs
from gurobi_here import LIMITS, ONE, needs_gurobi
from housing_cases import small_program
from studies.housing.reconstruct import most_likely, most_likely_sets


def bound(y: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> float:
    """What the multipliers say: y hi where y > 0, y lo where y < 0."""
    return float(sum(w * (h if w > 0 else low) for w, low, h in zip(y, lo, hi, strict=True) if abs(w) > 1e-9))


@needs_gurobi
def test_optimum_and_multipliers_by_hand() -> None:
    # max 2 z1 + z2 with z1 + z2 = 3 and z1 <= 1: z = (1, 2), value 4, multipliers (1, 1)
    lp = Gurobi(LIMITS).linear_program(np.array([[1, 1], [1, 0]]), np.array([3, -np.inf]), np.array([3, 1]))
    answer = lp.maximise(np.array([2, 1]))
    assert isinstance(answer, Optimal)
    assert answer.value == pytest.approx(4)
    assert answer.y is not None
    assert answer.z.tolist() == pytest.approx([1, 2])
    assert answer.y.tolist() == pytest.approx([1, 1])


@needs_gurobi
def test_farkas_multipliers_have_the_sign_of_a_proof() -> None:
    # z1 + z2 = 3 and z1 = 5 cannot both hold: y = (1, -1) gives y A = (0, 1) >= 0 and bound 3 - 5 < 0
    lp = Gurobi(LIMITS).linear_program(np.array([[1, 1], [1, 0]]), np.array([3, 5]), np.array([3, 5]))
    answer = lp.maximise(np.zeros(2))
    assert isinstance(answer, Infeasible)
    assert answer.y is not None
    assert (answer.y / answer.y[0]).tolist() == pytest.approx([1, -1])
    assert answer.y[0] > 0


@needs_gurobi
@pytest.mark.parametrize("seed", range(40))
def test_linear_programs_agree_with_highs_and_prove_themselves(seed: int) -> None:
    """Equalities, ranges and contradictions, a branch row pushed and popped: same status and value, valid multipliers."""
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 2, (rng.integers(2, 7), rng.integers(2, 9)))
    A[0] = 1
    lo = A @ rng.integers(0, 3, A.shape[1])
    lo[1:] += rng.integers(0, 2, len(lo) - 1) * (seed % 2)
    hi = lo + rng.integers(0, 2, len(lo)) * (seed % 3 == 0)
    row, side = rng.integers(0, 2, A.shape[1]), [(-np.inf, 1.0), (2.0, np.inf), (1.0, 2.0)][seed % 3]
    theirs, ours = Highs(LIMITS).linear_program(A, lo, hi), Gurobi(LIMITS).linear_program(A, lo, hi)
    for pushed in (False, True, False):
        c = rng.integers(-3, 4, A.shape[1])
        if pushed:
            theirs.push_row(row, *side)
            ours.push_row(row, *side)
        expected, answer = theirs.maximise(c), ours.maximise(c)
        rows = np.vstack([A, row]) if pushed else A
        low, high = (np.append(lo, side[0]), np.append(hi, side[1])) if pushed else (lo, hi)
        assert type(answer) is type(expected)
        assert not isinstance(answer, Stopped)
        assert answer.y is not None
        assert len(answer.y) == len(rows)
        if isinstance(answer, Optimal):
            assert isinstance(expected, Optimal)
            assert answer.value == pytest.approx(expected.value)
            assert (answer.y @ rows >= c - 1e-6).all()
            assert bound(answer.y, low, high) == pytest.approx(answer.value)
        else:
            assert (answer.y @ rows >= -1e-6).all()
            assert bound(answer.y, low, high) < -1e-6
        if pushed:
            theirs.pop_row()
            ours.pop_row()


def knapsack(objective: list[float]) -> IntegerProgram:
    """2 z1 + 2 z2 <= 3 with z <= 2: the integer points are (0, 0), (1, 0) and (0, 1)."""
    return IntegerProgram(
        csr_array(np.array([[2.0, 2.0]])), np.array([-np.inf]), np.array([3.0]), np.full(2, 2.0), np.array(objective)
    )


@needs_gurobi
def test_integer_optimum_and_infeasibility() -> None:
    answer = Gurobi(LIMITS).solve(knapsack([1, 2]))
    assert isinstance(answer, Optimal)
    assert answer.z.tolist() == [0, 1]
    odd = IntegerProgram(csr_array(np.array([[2.0, 2.0]])), np.array([3.0]), np.array([3.0]), np.full(2, 5.0), np.zeros(2))
    assert isinstance(Gurobi(LIMITS).solve(odd), Infeasible)


@needs_gurobi
def test_pool_holds_every_point_once() -> None:
    solver = Gurobi(LIMITS)
    points = {tuple(np.rint(z).astype(int).tolist()) for z in solver.pool(knapsack([5, 1]), 10, seed=3)}
    assert points == {(0, 0), (1, 0), (0, 1)}
    assert len(solver.pool(knapsack([5, 1]), 10, seed=3)) == 3
    assert len(solver.pool(knapsack([5, 1]), 2, seed=3)) == 2


@needs_gurobi
def test_gurobi_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    gurobi._environment.cache_clear()
    solver = Gurobi(LIMITS)
    solver.solve(knapsack([1, 1]))
    solver.pool(knapsack([1, 1]), 3, seed=1)
    solver.linear_program(np.ones((1, 2)), ONE, ONE).maximise(np.ones(2))
    assert capfd.readouterr() == ("", "")


@needs_gurobi
def test_a_program_beyond_the_licence_is_refused_with_its_size() -> None:
    if has_full_licence():
        pytest.skip("a full Gurobi licence is installed here: no program is too large")
    expected = r"2001 variables and 1 constraints.* allows 2000.*program.solver: highs.*licence"
    with pytest.raises(LicenceError, match=expected):
        Gurobi(LIMITS).linear_program(np.ones((1, 2001)), ONE, ONE)
    large = IntegerProgram(csr_array(np.ones((1, 2001))), ONE, ONE, np.ones(2001), np.zeros(2001))
    with pytest.raises(LicenceError, match=expected):
        Gurobi(LIMITS).solve(large)
    with pytest.raises(LicenceError, match=expected):
        Gurobi(LIMITS).pool(large, 2, seed=1)


@needs_gurobi
def test_branch_rows_that_pass_the_limit_are_refused_too() -> None:
    if has_full_licence():
        pytest.skip("a full Gurobi licence is installed here: no program is too large")
    lp = Gurobi(LIMITS).linear_program(np.ones((2000, 1)), np.ones(2000), np.ones(2000))
    assert isinstance(lp.maximise(ONE), Optimal)
    lp.push_row(ONE, 0, 1)
    with pytest.raises(LicenceError, match="2 variables and 2001 constraints"):
        lp.maximise(ONE)


@needs_gurobi
def test_a_full_licence_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gurobi, "has_full_licence", lambda: True)
    Gurobi(LIMITS).linear_program(np.ones((1, 2001)), ONE, ONE)


def test_without_a_licence_the_message_says_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRB_LICENSE_FILE", str(tmp_path / "none.lic"))
    gurobi._environment.cache_clear()
    try:
        with pytest.raises(LicenceError, match=r"no valid licence.*program.solver: highs"):
            Gurobi(LIMITS).linear_program(np.ones((1, 1)), ONE, ONE)
    finally:
        gurobi._environment.cache_clear()


def block(seed: int, n: int) -> Program:
    return build_program(census_release(seed, n, drawn=n), 2_000_000)


def decide(program: Program, solver: Solver) -> list[Decision]:
    """The claims of one fixed dataset that also hold in the first ten, decided by this solver."""
    limits = Limits(nodes=2000, leaves=200, seconds=60)
    datasets = generate(Bounder(program, Highs(LIMITS), limits), 10, seed=5).records
    return Verifier(Bounder(program, solver, limits)).decide(as_claims(*candidate_claims(datasets, 6)))


@needs_gurobi
@pytest.mark.parametrize("seed", [1, 3, 5])
def test_both_solvers_verify_the_same_claims_of_ten_households(seed: int) -> None:
    program = block(seed, 10)
    if program.classes > gurobi.SIZE_LIMIT and not has_full_licence():
        pytest.skip(f"{program.classes} classes do not fit Gurobi's licence")
    by_highs, by_gurobi = decide(program, Highs(LIMITS)), decide(program, Gurobi(LIMITS))
    assert [(d.claim, d.verdict) for d in by_gurobi] == [(d.claim, d.verdict) for d in by_highs]
    assert any(d.verdict is Verdict.VERIFIED for d in by_gurobi)


@needs_gurobi
@pytest.mark.parametrize("seed", range(5))
def test_the_most_likely_datasets_are_the_least_of_a_pool_of_all(seed: int) -> None:
    """Gurobi lists every dataset that fits; ours are the first of them by cost."""
    program = small_program(seed)
    gurobi_solver = Gurobi(LIMITS)
    pool = gurobi_solver.pool(integer_program(program.system, -program.cost), 10_000, 1)
    costs = sorted(round(float(program.cost @ point)) for point in pool)
    for solver in (gurobi_solver, Highs(LIMITS)):
        found = most_likely_sets(program, most_likely(program, solver), 10, solver, 1000, seed)
        assert found.proved
        assert list(found.costs) == costs[:10]


@needs_gurobi
def test_bounds_of_variables_and_continuous_ones_mean_the_same_to_both() -> None:
    A, side = np.array([[1.0, 1.0]]), np.array([2.5])
    for solver in (Gurobi(LIMITS), Highs(LIMITS)):
        linear = solver.linear_program(A, side, side)
        assert linear.maximise(np.array([1.0, 0.0])).value == pytest.approx(2.5)
        linear.set_bounds(np.array([0.0, 1.0]), np.array([1.0, 9.0]))
        assert linear.maximise(np.array([1.0, 0.0])).value == pytest.approx(1.0)
        whole = IntegerProgram(csr_array(A), side, side, np.full(2, 9.0), np.array([2.0, 1.0]), np.array([True, False]))
        assert solver.solve(whole).value == pytest.approx(4.5)
