"""The results of the cell-bounding paper: each against the exact method, and the paper's own examples and tables."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from genverify.bounds.count_tables import PrintedTwoWay, read_printed
from genverify.bounds.exact import (
    Multipliers,
    Prior,
    Rounding,
    bound_rounded,
    conditionals_of_counts,
    exact_bounds,
    row_multipliers,
    solve_knapsack,
)
from genverify.bounds.propositions import (
    LAST_ROW,
    Facts,
    corollary_3_5,
    corollary_3_9,
    explain_rows,
    proposition_3_1,
    proposition_3_2b,
    proposition_3_2c,
    proposition_3_2d,
    theorem_3_4,
)
from genverify.model.errors import DataError
from studies.cellbounds.tables import compare, possible_totals, read_paper

tiny = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
knapsacks = st.tuples(
    st.lists(st.integers(1, 14), min_size=1, max_size=6), st.lists(st.integers(0, 3), min_size=6, max_size=6)
)


@pytest.fixture(scope="module")
def table(root: Path) -> dict[str, PrintedTwoWay]:
    return {name: read_printed(root / "data" / "cellbounds" / f"{name}.csv") for name in
            ("table1", "table2", "table3", "table6", "table7", "table9")}  # fmt: skip


def said(facts: Facts, found: list[Multipliers]) -> bool:
    lower = all(found[i].least == value for i, value in facts.lower.items())
    return lower and all(found[i].greatest == value for i, value in facts.upper.items())


@tiny
@given(knapsacks)
def test_what_a_result_says_is_true(drawn: tuple[list[int], list[int]]) -> None:
    r, nu = drawn
    remainder = sum(r_i * times for r_i, times in zip(r, nu, strict=False))
    found = solve_knapsack(r, remainder)
    upper = {i: row.greatest for i, row in enumerate(found)}
    for facts in (proposition_3_1(r, remainder), theorem_3_4(r, upper), corollary_3_5(r, remainder)):
        assert said(facts, found)
    for part in (proposition_3_2b, proposition_3_2c, proposition_3_2d):
        assert all(found[i].values == (0,) for i in part(r, remainder))
    assert proposition_3_2c(r, remainder) <= proposition_3_2d(r, remainder)
    for i in corollary_3_9(r):
        assert found[i].least == 0
        assert list(found[i].values) == list(range(found[i].greatest + 1))


@pytest.mark.parametrize(("counts", "name"), [("table2", "table5"), ("table7", "table8"), ("table9", "table9")])
def test_the_tables_of_the_paper_as_printed(root: Path, table: dict[str, PrintedTwoWay], counts: str, name: str) -> None:
    compared = compare(table[counts], read_paper(root / "data" / "cellbounds" / "paper.yaml", name))
    assert compared["equal"].all()
    assert len(compared) == {"table5": 4, "table8": 8, "table9": 32}[name]
    printed = [column for column in compared if column.startswith("paper_")]
    assert len(printed) == {"table5": 10, "table8": 11, "table9": 6}[name]


def test_a_wrong_number_is_not_equal(root: Path, table: dict[str, PrintedTwoWay]) -> None:
    paper = read_paper(root / "data" / "cellbounds" / "paper.yaml", "table5")
    paper["rows"]["Beta"]["bounds"][1] = [1, 6]
    assert compare(table["table2"], paper)["equal"].tolist() == [True, False, True, True]
    with pytest.raises(DataError, match="no table4; it holds table5, table8, table9"):
        read_paper(root / "data" / "cellbounds" / "paper.yaml", "table4")


def test_section_1_2(table: dict[str, PrintedTwoWay]) -> None:
    first, second = table["table1"].conditionals(), table["table2"].conditionals()
    assert first.sums.tolist() == [20, 11, 25, 35]
    assert (first.total, first.remainder(135), second.total, second.remainder(130)) == (91, 44, 90, 40)
    assert possible_totals(first, 135) == [[20], [55], [25], [35]]
    bounds = exact_bounds(first, 135)
    assert bounds.lower.tolist() == bounds.upper.tolist() == table["table1"].counts.tolist()
    assert possible_totals(second, 130) == [[20, 40, 60], [10, 30, 50], [25], [35]]
    known = exact_bounds(second, 130, [Prior("Alpha", ("Low",), upper=28)])
    assert known.lower.tolist() == known.upper.tolist() == table["table2"].counts.tolist()


def test_three_decimals_disclose_table_3_and_two_would_disclose_table_1(table: dict[str, PrintedTwoWay]) -> None:
    """Table 3 is rounded consistently: 2/11 is 0.182 in one column and 0.181 in the next, which no rule for ties does."""
    for name, rounding in (("table3", Rounding(3, "either")), ("table1", Rounding(2))):
        found = bound_rounded(table[name].rounded(rounding), 135)
        assert found.lower.tolist() == found.upper.tolist() == table["table1"].counts.tolist()
    with pytest.raises(DataError, match="row 'Beta': no counts with a total up to 135 round to these values"):
        bound_rounded(table["table3"].rounded(Rounding(3)), 135)


def test_table_6_is_disclosed_and_its_fourth_row_not_its_third_is_the_reduced_one(table: dict[str, PrintedTwoWay]) -> None:
    """The text says that all rows except the third exceed N - R = 31; the row with r = 31 is the fourth."""
    rows = explain_rows(table["table6"].conditionals(), 1055)
    assert [row.disclosed_by for row in rows] == [("3.2 (b)",)] * 3 + [(LAST_ROW,)] + [("3.2 (b)",)] * 5
    assert [row.multipliers.values for row in rows] == [(0,)] * 3 + [(1,)] + [(0,)] * 5


def test_the_slips_around_table_7(table: dict[str, PrintedTwoWay]) -> None:
    """
    Section 3.1 credits Proposition 3.2 (d) with nu_3+ = 0. But with i' = 5, r_3 + r_5 = 31 is neither above N - R = 34 nor
    between 32 and 34, so (d) does not apply; Table 8 rightly names Proposition 3.6. Section 3.2 calls r_1 = 28 "r_1 = 20".
    """
    found = table["table7"].conditionals()
    r, remainder = found.sums.tolist(), found.remainder(193)
    assert (r[0], r[2], r[4], remainder) == (28, 29, 2, 34)
    assert 2 not in proposition_3_2b(r, remainder) | proposition_3_2c(r, remainder) | proposition_3_2d(r, remainder)
    assert solve_knapsack(r, remainder)[2].greatest == 0
    assert corollary_3_9(r) == {0, 1, 2, 3, 6, 7}


def test_the_multipliers_of_the_fifth_row_of_table_7_have_gaps(table: dict[str, PrintedTwoWay]) -> None:
    """Its bounds are [0, 17], but seven of the values between them belong to no table."""
    found = row_multipliers(table["table7"].conditionals(), 193)[4]
    assert found.values == (0, 1, 2, 3, 5, 6, 8, 9, 11, 14, 17)


def test_priors_and_empty_rows_are_explained() -> None:
    table = conditionals_of_counts(["a", "b", "c"], ["x", "y"], np.array([[1, 1], [1, 2], [0, 0]]))
    plain = explain_rows(table, 11)
    assert [row.multipliers.values for row in plain] == [(0, 3), (0, 2), (0,)]
    assert plain[2].disclosed_by == ("empty row",)
    known = explain_rows(table, 11, [Prior("a", ("x",), 4, 4)])
    assert [row.disclosed_by for row in known] == [("3.2 (a)",), ("(6)-(8) with prior bounds",), ("empty row",)]
    whole = explain_rows(table, 5)
    assert [row.disclosed_by for row in whole] == [("3.3",), ("3.3",), ("empty row",)]
