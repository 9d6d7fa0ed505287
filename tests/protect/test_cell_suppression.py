"""Cell suppression against enumeration: protected means protected, the optimum is one, what cannot be met is named."""

from itertools import combinations, product

import numpy as np
import pytest

from genverify.model.linear import LinearSystem, make_system
from genverify.protect import cell_suppression
from genverify.protect.cell_suppression import (
    PatternWork,
    Requirement,
    SuppressionPattern,
    SuppressionProblem,
    find_pattern,
    suppressed,
)


def system_of_sums(counts: np.ndarray, sums: list[list[int]]) -> LinearSystem:
    """Printed counts, and printed sums of some of them."""
    cells = {f"x{at}": (int(count), int(count)) for at, count in enumerate(counts)}
    rows = [(f"s{at}", {f"x{cell}": 1 for cell in own}, *[int(counts[own].sum())] * 2) for at, own in enumerate(sums)]
    return make_system(cells, rows)


def all_points(counts: np.ndarray, sums: list[list[int]]) -> np.ndarray:
    """Every whole table with these sums; each cell lies in one."""
    most = [min(int(counts[own].sum()) for own in sums if cell in own) for cell in range(len(counts))]
    points = np.array(list(product(*(range(end + 1) for end in most))))
    return points[np.all([points[:, own].sum(axis=1) == counts[own].sum() for own in sums], axis=0)]


def protects(points: np.ndarray, counts: np.ndarray, chosen: set[int], asked: list[Requirement], everywhere: int) -> bool:
    """By enumeration: the points that leave printed cells as they are show all that is required."""
    printed = [cell for cell in range(len(counts)) if cell not in chosen]
    fits = points[(points[:, printed] == counts[printed]).all(axis=1)]
    named = {one.cell for one in asked}
    asked = [*asked, *(Requirement(cell, width=everywhere) for cell in chosen - named)]
    low, high = fits.min(axis=0), fits.max(axis=0)
    return all(
        high[one.cell] >= one.high and low[one.cell] <= one.low and high[one.cell] - low[one.cell] >= one.width
        for one in asked
    )


def cheapest(
    points: np.ndarray, counts: np.ndarray, cost: np.ndarray, asked: list[Requirement], everywhere: int
) -> int | None:
    primary = {one.cell for one in asked}
    others = [cell for cell in range(len(counts)) if cell not in primary]
    sets = (set(own) for size in range(len(others) + 1) for own in combinations(others, size))
    costs = [int(cost[sorted(own)].sum()) for own in sets if protects(points, counts, primary | own, asked, everywhere)]
    return min(costs, default=None)


def check_points(problem: SuppressionProblem, pattern: SuppressionPattern) -> None:
    system = suppressed(problem.system, problem.beside, pattern.cells)
    assert all(system.fits(point) for point in pattern.points)
    for one in problem.requirements:
        low, high = (int(pattern.points[at][one.cell]) for at in pattern.of[one.cell])
        assert high >= one.high
        assert low <= one.low
        assert high - low >= one.width


def random_problem(seed: int) -> tuple[np.ndarray, list[list[int]], np.ndarray, list[Requirement], int]:
    rng = np.random.default_rng(seed)
    n = 6
    counts = rng.integers(0, 3, n)
    sums = [sorted(rng.choice(n, int(rng.integers(2, 5)), replace=False).tolist()) for _ in range(int(rng.integers(2, 5)))]
    alone = [cell for cell in range(n) if not any(cell in own for own in sums)]
    sums += [sorted({*alone, 0, 1})] if alone else []
    cost = [np.ones(n, dtype=np.int64), counts.astype(np.int64), rng.integers(0, 5, n)][seed % 3]
    cells = rng.choice(n, int(rng.integers(1, 3)), replace=False).tolist()
    kinds = [
        lambda cell: Requirement(cell, high=int(counts[cell]) + 1),
        lambda cell: Requirement(cell, width=int(rng.integers(1, 3))),
        lambda cell: Requirement(cell, high=int(counts[cell]) + 1, low=max(int(counts[cell]) - 1, 0)),
    ]
    asked = [kinds[int(rng.integers(0, 3))](cell) for cell in cells]
    return counts.astype(np.int64), sums, cost, asked, int(rng.integers(1, 3))


@pytest.mark.parametrize("hundred", range(4))
def test_the_pattern_protects_and_none_is_cheaper(hundred: int) -> None:
    seen, impossible = 0, 0
    for seed in range(100 * hundred, 100 * hundred + 100):
        counts, sums, cost, asked, everywhere = random_problem(seed)
        points = all_points(counts, sums)
        problem = SuppressionProblem(system_of_sums(counts, sums), counts, cost, tuple(asked), everywhere=everywhere)
        pattern = find_pattern(problem)
        best = cheapest(points, counts, cost, asked, everywhere)
        if best is None:
            assert pattern.unmet, seed
            impossible += 1
            continue
        assert not pattern.unmet, seed
        assert not pattern.limit, seed
        assert protects(points, counts, set(pattern.cells), asked, everywhere), seed
        assert pattern.cost == best == pattern.bound, seed
        check_points(problem, pattern)
        seen += 1
    assert seen > 30
    assert impossible > 5


def test_linear_programs_alone_would_call_a_pinned_cell_protected() -> None:
    """Counts 1, 1, 2, 1, 1, 1 with four sums: cell 2 is 1 in all whole tables; a linear program says 0 to 2.5."""
    counts, sums = np.array([1, 1, 2, 1, 1, 1]), [[0, 2], [2, 3, 4], [1, 2, 5], [0, 3, 4, 5]]
    points = all_points(counts, sums)
    assert len(points) == 3
    assert set(points[:, 1].tolist()) == {1}
    problem = SuppressionProblem(system_of_sums(counts, sums), counts, np.ones(6, dtype=np.int64), (Requirement(1),))
    assert find_pattern(problem).unmet == (1,)


def test_the_same_answer_twice_and_a_limit_is_said() -> None:
    rng = np.random.default_rng(5)
    inner = rng.integers(0, 12, (6, 6))
    table = np.block([[inner, inner.sum(axis=1)[:, None]], [inner.sum(axis=0)[None, :], inner.sum()]])
    sums = [[7 * row + column for column in range(7)] for row in range(7)]
    weights = [{f"x{cell}": 1 if cell % 7 < 6 else -1 for cell in own} for own in sums]
    weights += [{f"x{7 * row + column}": 1 if row < 6 else -1 for row in range(7)} for column in range(7)]
    cells = {f"x{at}": (int(count), int(count)) for at, count in enumerate(table.ravel())}
    system = make_system(cells, [(f"s{at}", own, 0, 0) for at, own in enumerate(weights)])
    counts = table.ravel().astype(np.int64)
    asked = tuple(Requirement(at, high=4) for at in np.flatnonzero((counts > 0) & (counts < 4)).tolist())
    problem = SuppressionProblem(system, counts, np.ones(49, dtype=np.int64), asked)
    one, other = find_pattern(problem), find_pattern(problem)
    assert one.cells == other.cells
    assert one.optimal
    check_points(problem, one)
    short = find_pattern(problem, PatternWork(rounds=0, masters=0))
    assert short.limit
    assert short.bound < short.cost
    check_points(problem, short)
    for work in (PatternWork(programs=len(asked) + 1), PatternWork(seconds=0.0)):
        none = find_pattern(problem, work)
        assert none.limit
        assert (none.cells, none.unmet) == ((), tuple(one.cell for one in asked))


@pytest.mark.parametrize("work", [PatternWork(), PatternWork(rounds=0, masters=0)])
def test_programs_over_the_cheapest_cells_give_the_same_answers(monkeypatch: pytest.MonkeyPatch, work: PatternWork) -> None:
    """As in large tables: two cells of each sum are in the linear programs until more are needed; the optimum stays one."""
    monkeypatch.setattr(cell_suppression, "NARROW", 0)
    monkeypatch.setattr(cell_suppression, "CHEAP", 2)
    for seed in range(60):
        counts, sums, cost, asked, everywhere = random_problem(seed)
        problem = SuppressionProblem(system_of_sums(counts, sums), counts, cost, tuple(asked), everywhere=everywhere)
        pattern, best = find_pattern(problem, work), cheapest(all_points(counts, sums), counts, cost, asked, everywhere)
        assert bool(pattern.unmet) == (best is None), seed
        if best is not None:
            assert pattern.bound <= best <= pattern.cost, seed
            assert pattern.cost == best or not work.masters, seed
            assert protects(all_points(counts, sums), counts, set(pattern.cells), asked, everywhere), seed
            check_points(problem, pattern)


def test_the_first_choice_protects_two_way_tables_and_names_what_nothing_protects() -> None:
    """Without a master the search must miss nothing that whole tables show."""
    seen = 0
    for seed in range(60):
        counts, _, cost, asked, everywhere = random_problem(seed)
        sums = [[0, 1, 2], [3, 4, 5], [0, 3], [1, 4], [2, 5]]
        problem = SuppressionProblem(system_of_sums(counts, sums), counts, cost, tuple(asked), everywhere=everywhere)
        pattern, points = find_pattern(problem, PatternWork(rounds=0, masters=0)), all_points(counts, sums)
        best = cheapest(points, counts, cost, asked, everywhere)
        assert bool(pattern.unmet) == (best is None), seed
        if best is not None:
            assert best <= pattern.cost, seed
            assert protects(points, counts, set(pattern.cells), asked, everywhere), seed
            check_points(problem, pattern)
            seen += 1
    assert 10 < seen < 60
