"""Two-way tables: cells known exactly and ranges against all tables that fit."""

import time
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genverify.checker.certificate import CertificateError
from genverify.checker.linear_proofs import check_linear
from genverify.model.linear import OPEN, LinearSystem, make_system
from genverify.solve.linear.ranges import all_ranges
from genverify.solve.linear.search import Work

Cells = Mapping[str, tuple[int, int]]


def two_way(cells: Cells, rows: int, columns: int, slack: int = 0) -> LinearSystem:
    """The sums of a two-way table with totals: cells `0 1`, `0 T`, `T 1` and `T T`; totals may be off by the slack."""
    down, across = [*map(str, range(rows)), "T"], [*map(str, range(columns)), "T"]
    sums = [(f"across {r}", {f"{r} {c}": -1 if c == "T" else 1 for c in across}, -slack, slack) for r in down]
    sums += [(f"down {c}", {f"{r} {c}": -1 if r == "T" else 1 for r in down}, -slack, slack) for c in across]
    return make_system(cells, sums)


def drawn(seed: int, most_open: int = 7) -> tuple[Cells, tuple[int, int]]:
    """A small table with zeros, of which some cells (up to 5, or 1-4) and totals (any count, or 1-4) are suppressed."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(2, 4)), 3
    inner = rng.poisson(1.2, shape).clip(max=5)
    full = np.block([[inner, inner.sum(1, keepdims=True)], [inner.sum(0, keepdims=True), np.array([[inner.sum()]])]])
    names = [f"{r} {c}" for r, c in product([*map(str, range(shape[0])), "T"], [*map(str, range(shape[1])), "T"])]
    cells = {name: (int(value), int(value)) for name, value in zip(names, full.ravel(), strict=True)}
    inside = [name for name in names if "T" not in name]
    totals = [name for name in names if "T" in name]
    hidden = [*rng.choice(inside, min(len(inside), int(rng.integers(4, most_open + 1))), replace=False)]
    hidden += [*rng.choice(totals, int(rng.integers(0, 3)), replace=False)]
    for name in map(str, hidden):
        value = cells[name][0]
        ranges = [(0, OPEN) if "T" in name else (0, 5), *([(1, 4)] if 1 <= value <= 4 else [])]
        cells[name] = ranges[int(rng.integers(len(ranges)))]
    return cells, shape


def every_table(sums: LinearSystem) -> np.ndarray:
    """All tables that fit, counted one by one, without a program: inner cells have ends."""
    inner = [name for name in sums.cells if "T" not in name]
    ends = [(int(sums.lo[sums.place[name]]), int(sums.hi[sums.place[name]])) for name in inner]
    tables = np.stack(np.meshgrid(*(np.arange(lo, hi + 1) for lo, hi in ends)), axis=-1).reshape(-1, len(inner))
    columns = []
    for name in sums.cells:
        row, column = name.split()
        parts = [at for at, cell in enumerate(inner) if row in ("T", cell.split()[0]) and column in ("T", cell.split()[1])]
        columns.append(tables[:, parts].sum(axis=1))
    values = np.array(columns).T
    return values[((values >= sums.lo) & (values <= sums.hi)).all(axis=1)]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_ranges_are_those_of_all_tables(seed: int) -> None:
    cells, shape = drawn(seed)
    sums = two_way(cells, *shape)
    values = every_table(sums)
    found = all_ranges(sums, Work(seconds=20))
    assert found.lo.tolist() == values.min(axis=0).tolist()
    assert found.hi.tolist() == values.max(axis=0).tolist()
    assert found.exact.all()
    shown = check_linear(sums, found.statements)
    assert (shown.lo, shown.hi) == (found.lo.tolist(), found.hi.tolist())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_changed_proofs_are_refused(seed: int) -> None:
    """A value that some table exceeds is refused; a row less or a sign changed never shows what is not true."""
    cells, shape = drawn(seed)
    sums = two_way(cells, *shape)
    values = every_table(sums)
    statements: list[dict[str, Any]] = []
    for statement in all_ranges(sums, Work(seconds=20)).statements:
        cell, proof = values[:, sums.place[statement["cell"]]], statement["proof"]
        wrong = cell.max() - 1 if statement["side"] == "upper" else cell.min() + 1
        with pytest.raises(CertificateError):
            check_linear(sums, [*statements, {**statement, "value": int(wrong)}])
        for row, times in proof["y"].items():
            without = {other: y for other, y in proof["y"].items() if other != row}
            for changed in (without, {**proof["y"], row: -times}):
                try:
                    shown = check_linear(sums, [*statements, {**statement, "proof": {**proof, "y": changed}}])
                except CertificateError:
                    continue
                assert (np.array(shown.lo) <= values.min(axis=0)).all()
                assert (np.array(shown.hi) >= values.max(axis=0)).all()
        statements.append(statement)
    check_linear(sums, statements)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_totals_that_may_be_off_give_the_ranges_that_integer_programs_give(seed: int) -> None:
    """Cells that are pulled to their ends together, and one by one, have the same ranges."""
    cells, shape = drawn(seed, 7)
    sums = two_way(cells, *shape, slack=1)
    found = all_ranges(sums, Work(seconds=20))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("genverify.solve.linear.ranges.RangeSearch.many", lambda search: None)
        plain = all_ranges(sums, Work(seconds=20))
    assert (found.lo.tolist(), found.hi.tolist()) == (plain.lo.tolist(), plain.hi.tolist())
    assert found.exact.all() == plain.exact.all()
    check_linear(sums, found.statements)


def test_a_bridge_by_hand() -> None:
    """Two squares of suppressed cells that one cell ties together: it is known, from the sums of either square, alone."""
    inner = np.array([[2, 3, 1, 0], [1, 4, 0, 0], [0, 0, 2, 2], [0, 0, 5, 1]])
    hidden = {(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 2), (2, 3), (3, 2), (3, 3)}
    full = np.block([[inner, inner.sum(1, keepdims=True)], [inner.sum(0, keepdims=True), np.array([[inner.sum()]])]])
    names = list(product([*"0123", "T"], repeat=2))
    cells = {f"{r} {c}": (int(v), int(v)) for (r, c), v in zip(names, full.ravel(), strict=True)}
    cells |= {f"{r} {c}": (0, OPEN) for r, c in hidden}
    sums = two_way(cells, 4, 4)
    found = all_ranges(sums, Work(seconds=20))
    open_ = [cell for cell in sums.cells if sums.lo[sums.place[cell]] < sums.hi[sums.place[cell]]]
    assert [cell for cell in open_ if found.lo[sums.place[cell]] == found.hi[sums.place[cell]]] == ["0 2"]
    last = [statement for statement in found.statements if statement["cell"] == "0 2"][-1]
    assert last["value"] == 1
    assert len(last["proof"]["y"]) == 4
    assert found.exact.all()


def test_half_counts_that_are_vertices_are_left_to_cases() -> None:
    cells = {"a": (0, 3), "b": (0, 3), "c": (0, 3)}
    odd = [("r", {"a": 1, "b": 1}, 2, 2), ("s", {"b": 1, "c": 1}, 2, 2), ("t", {"c": 1, "a": 1}, 2, 2)]
    found = all_ranges(make_system(cells, odd), Work(seconds=20))
    assert found.lo.tolist() == found.hi.tolist() == [1, 1, 1]


def large(side: int, seed: int) -> LinearSystem:
    """A synthetic table with few and many people in its rows and columns, 15 % of it suppressed, some totals too."""
    rng = np.random.default_rng(seed)
    inner = rng.poisson(np.outer(rng.lognormal(0, 1.5, side), rng.lognormal(0, 1.5, side)))
    full = np.block([[inner, inner.sum(1, keepdims=True)], [inner.sum(0, keepdims=True), np.array([[inner.sum()]])]])
    hide = rng.random(full.shape) < 0.15
    hide[:, -1] &= rng.random(side + 1) < 0.3
    hide[-1] &= rng.random(side + 1) < 0.3
    names = list(product([*map(str, range(side)), "T"], repeat=2))
    values = zip(names, full.ravel().tolist(), hide.ravel().tolist(), strict=True)
    return two_way({f"{r} {c}": (0, OPEN) if away else (value, value) for (r, c), value, away in values}, side, side)


def test_ten_thousand_cells_in_seconds_and_twice_the_same() -> None:
    sums = large(100, 1)
    started = time.process_time()
    first = all_ranges(sums, Work(seconds=60))
    assert time.process_time() - started < 15  # about 1 on an idle machine
    assert first.exact.all()
    assert check_linear(sums, first.statements).hi == first.hi.tolist()
    second = all_ranges(sums, Work(seconds=60))
    assert first.statements == second.statements
    assert (first.lo == second.lo).all()
    assert (first.hi == second.hi).all()
