"""Cell bounds against brute force: every table of N records is listed, and those that fit what is published are kept."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from genverify.bounds.count_tables import Multiway
from genverify.bounds.exact import (
    RULES,
    RoundedConditionals,
    Rounding,
    bound_rounded,
    conditionals_of_counts,
    exact_bounds,
    rounded_totals,
)
from genverify.bounds.marginals import bound_marginals
from genverify.bounds.propositions import explain_rows
from genverify.model.errors import DataError
from genverify.solve.linear.search import Work
from studies.cellbounds.tables import possible_totals

Row = tuple[int, ...]
Table = tuple[Row, ...]
tiny = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
small_counts = st.integers(1, 3).flatmap(
    lambda columns: st.lists(st.lists(st.integers(0, 5), min_size=columns, max_size=columns), min_size=1, max_size=3)
)


@cache
def rows_up_to(columns: int, most: int) -> tuple[Row, ...]:
    """Every row of counts with a total of 1 to `most`."""
    return tuple(row for row in product(range(most + 1), repeat=columns) if 1 <= sum(row) <= most)


def tables(fits: Sequence[Callable[[Row], bool]], columns: int, N: int) -> Iterator[Table]:
    """Every table of N records whose rows fit, one condition per row, no row empty."""
    kept = [[row for row in rows_up_to(columns, N) if fit(row)] for fit in fits]
    return (table for table in product(*kept) if sum(map(sum, table)) == N)


def ranges(found: Sequence[Table]) -> tuple[list[list[int]], list[list[int]]]:
    """The least and the greatest count of each cell."""
    cells = np.array(found)
    return cells.min(axis=0).tolist(), cells.max(axis=0).tolist()


def totals(found: Sequence[Table]) -> list[list[int]]:
    """Every total that each row takes."""
    return [sorted({sum(table[i]) for table in found}) for i in range(len(found[0]))]


def few(counts: list[list[int]]) -> list[list[int]]:
    """No empty row, and not too many rows to list all tables."""
    return [row for row in counts if sum(row)][: 2 if len(counts[0]) == 3 else 3] or [[1] * len(counts[0])]


def labels(counts: list[list[int]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(f"row {i}" for i in range(len(counts))), tuple(f"column {j}" for j in range(len(counts[0])))


@tiny
@given(small_counts, st.integers(1, 14))
def test_bounds_are_those_of_all_tables(counts: list[list[int]], N: int) -> None:
    counts = few(counts)
    table = conditionals_of_counts(*labels(counts), np.array(counts))

    def same(own: list[int]) -> Callable[[Row], bool]:
        fractions = [Fraction(count, sum(own)) for count in own]
        return lambda row: [Fraction(count, sum(row)) for count in row] == fractions

    found = list(tables([same(own) for own in counts], len(counts[0]), N))
    if not found:
        with pytest.raises(DataError, match=r"too small|no table"):
            exact_bounds(table, N)
        return
    bounds, (lower, upper) = exact_bounds(table, N), ranges(found)
    assert (bounds.lower.tolist(), bounds.upper.tolist()) == (lower, upper)
    assert possible_totals(table, N) == totals(found)
    disclosed = [low == high for low, high in zip(lower, upper, strict=True)]
    assert bounds.disclosed.tolist() == [bool(row.disclosed_by) for row in explain_rows(table, N)] == disclosed


@tiny
@given(small_counts, st.integers(0, 2), st.sampled_from(RULES), st.integers(-1, 1), st.data())
def test_rounded_bounds_are_those_of_all_tables_that_round_so(
    counts: list[list[int]], decimals: int, rule: str, slip: int, data: st.DataObject
) -> None:
    """The printed values of true counts, one of them sometimes changed by a unit of the last decimal."""
    counts, rounding = few(counts), Rounding(decimals, rule)
    N = min(sum(map(sum, counts)), 14)
    printed = rounding.printed(np.array(counts))
    place = data.draw(st.integers(0, printed.size - 1))
    printed.flat[place] = max(0, printed.flat[place] + slip)
    table = RoundedConditionals(*labels(counts), printed, np.zeros(len(counts), dtype=bool), rounding)
    fits = [lambda row, own=own: all(prints_as(rule, decimals, c, sum(row), p) for c, p in zip(row, own, strict=True))
            for own in printed.tolist()]  # fmt: skip
    found = list(tables(fits, len(counts[0]), N))
    if not found:
        with pytest.raises(DataError, match=r"too small|no table|no counts"):
            bound_rounded(table, N)
        return
    bounds, (lower, upper) = bound_rounded(table, N), ranges(found)
    assert (bounds.lower.tolist(), bounds.upper.tolist()) == (lower, upper)
    assert [own.tolist() for own in rounded_totals(table, N)] == totals(found)


def prints_as(rule: str, decimals: int, count: int, total: int, printed: int) -> bool:
    """Whether count / total is printed so, by the words of the rule."""
    exact = Fraction(count, total) * 10**decimals
    down, rest = divmod(exact, 1)
    if rule == "either":
        return printed == exact if rest == 0 else printed in (down, down + 1)
    if rest != Fraction(1, 2):
        return printed == down + (rest > Fraction(1, 2))
    ties = {"nearest": (down, down + 1), "half_up": (down + 1,), "half_even": (down + down % 2,)}
    return printed in ties[rule]


@settings(tiny, max_examples=15)
@given(
    st.lists(st.integers(0, 7), min_size=1, max_size=5),
    st.sets(st.sampled_from(["AB", "BC", "AC", "A", "C"]), min_size=1).filter(lambda sets: set("ABC") == set("".join(sets))),
)
def test_marginal_bounds_are_those_of_all_tables(records: list[int], sets: set[str]) -> None:
    levels = (("a", "b"),) * 3

    def table(cells: Sequence[int]) -> Multiway:
        return Multiway(("A", "B", "C"), levels, np.bincount(cells, minlength=8).reshape(2, 2, 2))

    def published(full: Multiway) -> list[list[int]]:
        return [full.marginal([*own]).counts.ravel().tolist() for own in sorted(sets)]

    true = table(records)
    every = map(table, combinations_with_replacement(range(8), len(records)))
    kept = np.array([other.counts for other in every if published(other) == published(true)])
    found = bound_marginals([true.marginal([*own]) for own in sorted(sets)], Work())
    order = [found.names.index(name) for name in true.names]
    assert found.exact.all()
    assert found.lower.transpose(order).tolist() == kept.min(axis=0).tolist()
    assert found.upper.transpose(order).tolist() == kept.max(axis=0).tolist()
