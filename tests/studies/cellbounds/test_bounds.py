"""Exact cell bounds: sums of sets, the knapsack, cells, priors, against brute force and the integer programs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from genverify.bounds.exact import (
    Conditionals,
    Limits,
    Prior,
    Steps,
    _full_from,
    _leave_one_out,
    _runs_of,
    add,
    aggregate,
    conditionals_of_counts,
    conditionals_of_fractions,
    exact_bounds,
    members,
    row_multipliers,
    solve_knapsack,
)
from genverify.model.errors import DataError
from genverify.solve.program_settings import ProgramSettings
from studies.cellbounds.benchmarks import reference_multipliers, reference_range

LIMIT = 60
tiny = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
steps = st.builds(Steps, st.integers(0, 9), st.integers(1, 7), st.one_of(st.none(), st.integers(1, 5)))
choices = st.lists(steps, min_size=1, max_size=3).map(lambda found: sorted(found, key=lambda step: step.start))
small_counts = st.integers(1, 3).flatmap(
    lambda columns: st.lists(st.lists(st.integers(0, 5), min_size=columns, max_size=columns), min_size=1, max_size=3)
)


def numbers(choice: Steps) -> list[int]:
    many = LIMIT + 1 if choice.terms is None else choice.terms
    return [choice.start + choice.step * term for term in range(many)]


def of(counts: list[list[int]]) -> Conditionals:
    rows, columns = [str(i) for i in range(len(counts))], [str(j) for j in range(len(counts[0]))]
    return conditionals_of_counts(rows, columns, np.array(counts, dtype=np.int64))


@tiny
@given(st.lists(choices, max_size=4))
def test_sums_are_all_sums_and_no_others(parts: list[list[Steps]]) -> None:
    found, true = 1, {0}
    for part in parts:
        found = add(found, part, LIMIT)
        true = {a + b for a in true for step in part for b in numbers(step) if a + b <= LIMIT}
    assert members(found, LIMIT) == sorted(true)
    end = _full_from(found, LIMIT)
    assert set(range(end, LIMIT + 1)) <= true
    again = [number for run in _runs_of(found, LIMIT) for number in numbers(run) if number <= LIMIT]
    assert again == sorted(true)


def test_a_set_without_gaps_stays_small_whatever_the_limit() -> None:
    found = add(add(1, [Steps(0, 7, None)], 10**6), [Steps(0, 9, None)], 10**6)
    assert _full_from(found, 10**6) == 48  # (7 - 1)(9 - 1), the conductor
    assert found.bit_length() <= 48


@tiny
@given(st.lists(st.integers(0, 9), max_size=9))
def test_leave_one_out_leaves_one_out(shifts: list[int]) -> None:
    found = _leave_one_out(shifts, lambda sums, shift: sums << shift)
    assert [sums.bit_length() - 1 for sums in found] == [sum(shifts) - shift for shift in shifts]


@tiny
@given(
    st.lists(
        st.tuples(st.integers(1, 9), st.integers(0, 2), st.one_of(st.none(), st.integers(0, 4))), min_size=1, max_size=4
    ),
    st.integers(0, 30),
)
def test_multipliers_are_those_of_all_solutions(rows: list[tuple[int, int, int | None]], target: int) -> None:
    r = [row[0] for row in rows]
    limits = [Limits(low, None if room is None else low + room) for _, low, room in rows]
    spans = [range(own.low, (target if own.high is None else own.high) + 1) for own in limits]
    spans = [range(span.start, min(span.stop, target // r_i + 1)) for span, r_i in zip(spans, r, strict=True)]
    solutions = [nu for nu in product(*spans) if sum(map(int.__mul__, nu, r)) == target]
    if not solutions:
        with pytest.raises(DataError, match="no table has these conditionals"):
            solve_knapsack(r, target, limits)
        return
    found = solve_knapsack(r, target, limits)
    true = [sorted(set(values)) for values in zip(*solutions, strict=True)]
    assert [list(row.values) for row in found] == true
    assert [(row.least, row.greatest) for row in found] == [(values[0], values[-1]) for values in true]
    assert [row.unique for row in found] == [len(values) == 1 for values in true]


def test_multipliers_need_not_be_consecutive() -> None:
    assert [row.values for row in solve_knapsack([2, 5, 20], 40)] == [(0, 5, 10, 15, 20), (0, 2, 4, 6, 8), (0, 1, 2)]


@tiny
@given(small_counts, st.data())
def test_bounds_are_those_of_the_integer_programs(
    program_settings: ProgramSettings, counts: list[list[int]], data: st.DataObject
) -> None:
    counts = [row for row in counts if sum(row)] or [[2] * len(counts[0])]
    table, N = of(counts), sum(map(sum, counts))
    row, column = data.draw(st.integers(0, len(counts) - 1)), data.draw(st.integers(0, len(counts[0]) - 1))
    bounds, solver = exact_bounds(table, N), program_settings.make_solver()
    assert reference_range(table, N, row, column, solver) == (bounds.lower[row, column], bounds.upper[row, column])
    found = row_multipliers(table, N)[row]
    assert reference_multipliers(table, N, row, solver) == (found.least, found.greatest)


@tiny
@given(
    small_counts, st.integers(0, 2), st.integers(0, 12), st.one_of(st.none(), st.integers(0, 12)), st.sets(st.integers(0, 2))
)
def test_prior_bounds_keep_just_the_tables_that_respect_them(
    counts: list[list[int]], row: int, low: int, high: int | None, columns: set[int]
) -> None:
    counts = [line for line in counts if sum(line)] or [[1] * len(counts[0])]
    row, places = min(row, len(counts) - 1), sorted({min(column, len(counts[0]) - 1) for column in columns})
    table, N = of(counts), sum(map(sum, counts))
    prior = Prior(str(row), tuple(map(str, places)), low, high)
    solutions = [
        nu
        for nu in product(*(range(N // int(r) + 1) for r in table.sums))
        if int((table.sums * (np.array(nu) + 1)).sum()) == N
    ]
    held = [int(table.reduced[row, places].sum()) * (nu[row] + 1) for nu in solutions]
    kept = [nu for nu, sum_ in zip(solutions, held, strict=True) if low <= sum_ and (high is None or sum_ <= high)]
    if not kept:
        with pytest.raises(DataError):
            row_multipliers(table, N, [prior])
        return
    true = [sorted(set(values)) for values in zip(*kept, strict=True)]
    assert [list(found.values) for found in row_multipliers(table, N, [prior])] == true


def test_zero_cells_and_empty_rows_stay_zero() -> None:
    table = of([[4, 0], [0, 0], [3, 3]])
    bounds = exact_bounds(table, 10)
    assert table.sums.tolist() == [1, 0, 2]
    assert bounds.lower.tolist() == [[2, 0], [0, 0], [1, 1]]
    assert bounds.upper.tolist() == [[8, 0], [0, 0], [4, 4]]
    assert bounds.disclosed.tolist() == [False, True, False]


def test_fractions_and_counts_say_the_same() -> None:
    half, third = Fraction(1, 2), Fraction(1, 3)
    table = conditionals_of_fractions(["a", "b"], ["x", "y"], [[half, half], [third, 1 - third]])
    assert table.reduced.tolist() == of([[7, 7], [4, 8]]).reduced.tolist() == [[1, 1], [1, 2]]


def test_partial_conditionals_bound_sums_of_cells() -> None:
    full = np.array([[[2, 1], [3, 1]], [[1, 1], [2, 2]]])  # A, B, C
    partial = aggregate(full, ("A", "B", "C"), ("A",), ("C",))
    assert partial.tolist() == [[5, 2], [3, 3]]
    bounds = exact_bounds(of(partial.tolist()), 13)
    assert bounds.lower.tolist() == [[5, 2], [3, 3]]  # 13 = 7 + 2 * 3 alone: the sums of cells are disclosed


def test_large_tables_are_a_matter_of_milliseconds_not_of_one_solve_per_row() -> None:
    rng = np.random.default_rng(5)
    counts = rng.multinomial(50_000, rng.dirichlet(np.full(12_000, 0.3))).reshape(3000, 4)
    table = of(counts.tolist())
    bounds = exact_bounds(table, 50_000)
    assert ((bounds.lower <= counts) & (counts <= bounds.upper)).all()
    ones = table.sums == 1
    assert ones.sum() > 1
    greatest = (50_000 - table.total) // np.maximum(table.sums, 1)  # Corollary 3.5, with two rows of reduced sum 1
    assert (bounds.upper == table.reduced * (greatest + 1)[:, None]).all()
    assert (bounds.lower == table.reduced).all()


def test_what_cannot_be() -> None:
    with pytest.raises(DataError, match="N = 5 is too small: the fractions alone need 6 records"):
        exact_bounds(of([[1, 2], [2, 1]]), 5)
    with pytest.raises(DataError, match=r"the remainder N - R = 1 is not a sum"):
        exact_bounds(of([[1, 2], [2, 1]]), 7)
    with pytest.raises(DataError, match=r"row 'b': the fractions sum to 3/4 \(about 0.75\), not to 1"):
        conditionals_of_fractions(["a", "b"], ["x"], [[Fraction(1)], [Fraction(3, 4)]])
    with pytest.raises(DataError, match="row 'a', column 'y': -1/2 is negative"):
        conditionals_of_fractions(["a"], ["x", "y"], [[Fraction(3, 2), Fraction(-1, 2)]])
    with pytest.raises(DataError, match="row '0', column '1': the count -1 is negative"):
        of([[2, -1]])
    with pytest.raises(DataError, match="row label 'a' is duplicated"):
        conditionals_of_counts(["a", "a"], ["x"], np.ones((2, 1), dtype=np.int64))
    with pytest.raises(DataError, match="an empty table"):
        conditionals_of_counts([], ["x"], np.ones((0, 1), dtype=np.int64))
    with pytest.raises(DataError, match="no variable 'D'; the table has A, B, C"):
        aggregate(np.zeros((1, 1, 1), dtype=np.int64), ("A", "B", "C"), ("D",), ("A",))
    with pytest.raises(DataError, match=r"no row 'Alfa': did you mean Alpha\?"):
        row_multipliers(conditionals_of_counts(["Alpha"], ["x"], np.array([[2]])), 4, [Prior("Alfa", ("x",), 1, 2)])
