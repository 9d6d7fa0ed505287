"""Ranges of cells tied by sums: dives to ends that fractional vertices miss, and proofs over long rows."""

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genverify.bounds.marginals import bound_marginals, levels_of, marginal_sums
from genverify.checker import linear_proofs as checker
from genverify.checker.certificate import CertificateError
from genverify.model.linear import LinearSystem
from genverify.model.work import CLOCK_LIMIT, WORK_LIMIT
from genverify.solve.bounds import Ends, exact_leaf
from genverify.solve.linear import ranges
from genverify.solve.linear.ranges import all_ranges
from genverify.solve.linear.search import Dives, Ranges, Work, cubes_of
from studies.cellbounds.benchmarks import _stand_in


def marginals(variables: int, way: int, records: int, seed: int) -> tuple[LinearSystem, np.ndarray]:
    """All marginals of so many variables of a table, and its own counts."""
    full = _stand_in([2] * variables, records, np.random.default_rng(seed), spread=5.0)
    tables = [full.marginal(names) for names in combinations(full.names, way)]
    return marginal_sums(tables, levels_of(tables)), full.counts.ravel()


@pytest.mark.parametrize("seed", range(2))
def test_dives_attain_what_the_integer_search_attains(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    sums, counts = marginals(6, 2, 100, seed)
    searched = all_ranges(sums, Work(seconds=30), start=[counts])
    assert searched.exact.all()
    monkeypatch.setattr(ranges, "DIVE_FROM", 1)
    monkeypatch.setattr(ranges.RangeSearch, "by_integers", lambda self, cell, sign: None)
    dived = all_ranges(sums, Work(seconds=30), start=[counts])
    assert (dived.exact == ((dived.lo == searched.lo) & (dived.hi == searched.hi))).all()
    assert dived.exact.mean() > 0.9
    monkeypatch.setattr(Dives, "attain", lambda self, *words: None)
    alone = all_ranges(sums, Work(seconds=30), start=[counts])
    assert alone.exact.sum() < dived.exact.sum()


def test_many_cells_from_pairs_of_variables_become_exact() -> None:
    sums, counts = marginals(7, 2, 150, 1)
    wanted = np.zeros(len(sums.cells), dtype=bool)
    wanted[::16] = True
    found = all_ranges(sums, Work(seconds=60), wanted, start=[counts])
    assert found.exact[wanted].all()
    shown = checker.check_linear(sums, found.statements)
    assert shown.hi == found.hi.tolist()


def test_long_rows_are_checked_as_short_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    sums, counts = marginals(5, 2, 60, 1)
    found = all_ranges(sums, Work(seconds=30), start=[counts])
    short = checker.check_linear(sums, found.statements)
    monkeypatch.setattr(checker, "LONG", -1)
    long = checker.check_linear(sums, found.statements)
    assert (long.lo, long.hi) == (short.lo, short.hi)
    forged = [{**one, "value": one["value"] - 1} if one["side"] == "upper" else one for one in found.statements]
    with pytest.raises(CertificateError, match="is said"):
        checker.check_linear(sums, forged)
    monkeypatch.setattr(checker, "WIDE", 0)  # numbers that arrays could not hold go the other way
    assert checker.check_linear(sums, found.statements).hi == short.hi


def test_multipliers_of_an_unusual_denominator_become_whole() -> None:
    """x + ... + x over 13 rows: 1/13 is none of the usual denominators, and rounding by them would cost too much."""
    from genverify.model.linear import make_system

    sums = make_system({"x": (0, 10**6), "y": (0, 10**6)}, [("r", {"x": 13, "y": 1}, 0, 13 * 700 + 12)])
    leaf = exact_leaf(sums, Ends(sums.lo, sums.hi), np.array([1 / 13]), np.array([1, 0]), 700)
    assert leaf == {"y": {"r": 1}, "d": 13}


def test_ends_that_only_a_solver_tells_are_uncertified() -> None:
    ends = np.array([0, 0]), np.array([3, 3])
    found = Ranges(*ends, np.array([0, 0]), np.array([2, 2]), (), False, by_solver=np.array([True, False]))
    assert found.uncertified.tolist() == [True, False]
    assert not found.exact.any()


def test_a_step_along_a_cube_by_hand() -> None:
    """Two by two by two with all pairs of variables published: one step moves all eight cells, up or down."""
    cubes = cubes_of([2, 2, 2], [(0, 1), (0, 2), (1, 2)], 1)
    assert cubes is not None
    x = np.array([0, 3, 2, 1, 4, 1, 1, 5])
    assert cubes.walk(x, 0, 1, 9).tolist() == [2, 1, 0, 3, 2, 3, 3, 3]
    assert cubes.walk(x, 7, -1, 0).tolist() == [2, 1, 0, 3, 2, 3, 3, 3]  # as far as cell 2 allows


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([((3, 4, 2), 2), ((2, 2, 2, 3), 2), ((2, 2, 2, 2), 3), ((3, 3), 1)]))
def test_walks_leave_every_marginal_as_it_is(seed: int, case: tuple[tuple[int, ...], int]) -> None:
    shape, way = case
    rng = np.random.default_rng(seed)
    full = _stand_in(shape, 30, rng, 2.0)
    tables = [full.marginal(names) for names in combinations(full.names, way)]
    sums = marginal_sums(tables, levels_of(tables))
    cubes = cubes_of(shape, list(combinations(range(len(shape)), way)), seed)
    assert cubes is not None
    x, cell = full.counts.ravel(), int(rng.integers(full.counts.size))
    up, down = cubes.walk(x, cell, 1, int(sums.hi[cell])), cubes.walk(x, cell, -1, 0)
    assert sums.fits(up)
    assert sums.fits(down)
    assert down[cell] <= x[cell] <= up[cell]


def test_walks_alone_attain_the_ends_of_three_marginals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The linear program is not needed where rows alone give ends that walks attain; the answers are the same."""
    full = _stand_in([4, 5, 4], 120, np.random.default_rng(1), 2.0)
    tables = [full.marginal(names) for names in combinations(full.names, 2)]
    with_walks = bound_marginals(tables, Work(seconds=30), full)
    monkeypatch.setattr("genverify.bounds.marginals.cubes_of", lambda *words: None)
    without = bound_marginals(tables, Work(seconds=30), full)
    assert with_walks.exact.all()
    assert (with_walks.lower == without.lower).all()
    assert (with_walks.upper == without.upper).all()


@pytest.mark.parametrize("busy", [3.0, 1e9])
def test_work_is_counted_so_that_a_slow_machine_gives_the_same_answer_or_says_why_not(
    busy: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A processor that is three times as slow changes nothing where the limit of work strikes; the brake is said."""
    full = _stand_in([2] * 7, 300, np.random.default_rng(2), 2.0)
    tables = [full.marginal(names) for names in combinations(full.names, 2)]
    alone = bound_marginals(tables, Work(seconds=0.2), full)
    real = time.process_time
    monkeypatch.setattr("genverify.model.work.time.process_time", lambda: busy * real())
    slow = bound_marginals(tables, Work(seconds=0.2), full)
    assert 0 < alone.exact.sum() < alone.exact.size
    assert alone.limit == WORK_LIMIT
    if busy > 1e6:
        assert slow.limit == CLOCK_LIMIT
        return
    assert slow.limit == WORK_LIMIT
    for what in ("lower", "upper", "exact", "uncertified"):
        assert (getattr(slow, what) == getattr(alone, what)).all()
