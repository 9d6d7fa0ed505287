"""Ranges from marginals: whole counts near vertices, rows that say all, shared multipliers, symmetric cells, limits."""

import time
from itertools import combinations

import numpy as np
import pytest

from genverify.bounds.count_tables import Multiway
from genverify.bounds.marginals import _enough_rows, bound_marginals, levels_of, marginal_sums
from genverify.checker.certificate import CertificateError
from genverify.checker.linear_proofs import Checking, check_linear
from genverify.model.linear import LinearSystem
from genverify.solve.bounds import Ends, exact_leaf
from genverify.solve.linear import ranges
from genverify.solve.linear.ranges import Offers, all_ranges
from genverify.solve.linear.search import Corner, Dives, Work
from genverify.solve.program import matrix_of
from genverify.solve.solvers.base import Optimal
from genverify.solve.solvers.highs import CellProgram
from studies.cellbounds.benchmarks import _stand_in


def made(shape: list[int], way: int, records: int, seed: int = 1) -> tuple[Multiway, list[Multiway], LinearSystem]:
    full = _stand_in(shape, records, np.random.default_rng(seed), 2.0)
    tables = [full.marginal(names) for names in combinations(full.names, way)]
    return full, tables, marginal_sums(tables, levels_of(tables))


def even(shape: tuple[int, ...], count: int) -> tuple[Multiway, list[Multiway]]:
    names = tuple("ABCDEFG"[: len(shape)])
    full = Multiway(names, tuple(tuple(map(str, range(own))) for own in shape), np.full(shape, count))
    return full, [full.marginal(own) for own in combinations(names, 2)]


@pytest.mark.parametrize(("shape", "way"), [([2, 2, 2, 2], 2), ([3, 4, 2], 2), ([2, 3, 2, 2], 3), ([3, 3], 1)])
def test_enough_rows_say_all_and_nothing_twice(shape: list[int], way: int) -> None:
    _, _, sums = made(shape, way, 50)
    rows = _enough_rows(shape, list(combinations(range(len(shape)), way)))
    dense = matrix_of(sums).toarray()
    assert np.linalg.matrix_rank(dense[rows]) == len(rows) == np.linalg.matrix_rank(dense)


@pytest.mark.parametrize("seed", range(2))
def test_corners_attain_what_the_integer_search_attains(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Ends by corners alone are those of the search with its proofs, and a point near a vertex fits."""
    full, _, sums = made([2] * 7, 2, 150, seed)
    counts, rows = full.counts.ravel(), _enough_rows([2] * 7, list(combinations(range(7), 2)))
    wanted = np.arange(128) % 9 == 0
    searched = all_ranges(sums, Work(seconds=60), wanted, [counts])
    monkeypatch.setattr(Dives, "attain", lambda self, *words: None)
    monkeypatch.setattr(ranges.RangeSearch, "by_integers", lambda self, cell, sign: None)
    found = all_ranges(sums, Work(seconds=60), wanted, [counts], enough=rows)
    monkeypatch.setattr(Corner, "attain", lambda self, *words: None)
    without = all_ranges(sums, Work(seconds=60), wanted, [counts], enough=rows)
    assert searched.exact[wanted].all()
    assert found.exact[wanted].mean() > 0.8
    assert without.exact[wanted].sum() < found.exact[wanted].sum()
    both = found.exact & wanted
    assert (found.hi[both] == searched.hi[both]).all()
    assert check_linear(sums, found.statements).hi == found.hi.tolist()


def test_multipliers_of_one_cell_bound_others() -> None:
    """The bounds hold by the checker, and none is below the best that the linear program of that cell has."""
    _, _, sums = made([2] * 5, 2, 60)
    ends = Ends(sums.lo, sums.hi)
    lp = CellProgram(matrix_of(sums), sums.least, sums.most)
    lp.set_ends(sums.lo, sums.hi)
    offers, best = Offers(sums, ends), {}
    for cell in range(0, 32, 3):
        answer = lp.maximise(np.eye(32)[cell])
        assert isinstance(answer, Optimal)
        best[cell] = int(np.floor(answer.value + 1e-6))
        leaf = exact_leaf(sums, ends, answer.y, np.eye(32, dtype=np.int64)[cell], best[cell])
        assert leaf is not None
        offers.add(leaf)
    shown = np.flatnonzero(offers.hi < sums.hi).tolist()
    assert len(shown) > len(best)
    assert all(offers.hi[cell] >= own for cell, own in best.items())
    for cell in shown:
        statement = {"cell": str(cell), "side": "upper", "value": int(offers.hi[cell]), "proof": offers.proof(cell)}
        Checking(sums).take(statement)
        with pytest.raises(CertificateError, match="is said"):
            Checking(sums).take({**statement, "value": statement["value"] - 1})


@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (3, 3, 3), (3, 4, 3)])
def test_symmetric_cells_have_the_same_exact_range(shape: tuple[int, ...]) -> None:
    full, tables = even(shape, 1)
    ranges_of_all = bound_marginals(tables, Work(seconds=30), full)
    assert ranges_of_all.exact.all()
    assert len(np.unique(ranges_of_all.lower)) == len(np.unique(ranges_of_all.upper)) == 1


def test_the_limit_is_kept_with_the_check_of_proofs() -> None:
    """1,024 cells: far more work than the seconds allow; the bounds hold all the same."""
    full, tables, _ = made([2] * 10, 2, 1_000)
    started = time.process_time()
    found = bound_marginals(tables, Work(seconds=2.0), full)
    assert time.process_time() - started < 5
    assert 0 < found.exact.sum() < found.exact.size
    counts = full.counts
    assert ((found.lower <= counts) & (counts <= found.upper)).all()
