"""Protections by hand and against enumeration: what a printed count still says, and coarser tables."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genverify.model.domain import Column, Domain, Predicate, Rule
from genverify.model.errors import DataError, ReleaseError
from genverify.model.query import Query
from genverify.model.release import Release, Schema, recode
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate
from genverify.protect.publishing import SUPPRESSED, Publishing, publish, publish_counts, without

quick = settings(max_examples=80, deadline=None, derandomize=True)
TOP = 60


def outcomes(how: Publishing, count: int) -> set[int]:
    """Everything that can be printed for a count."""
    if count < how.suppress and not (count == 0 and how.zeros):
        return {SUPPRESSED}
    low = count // how.base * how.base
    return {
        "none": {count},
        "nearest": {low + how.base * (2 * (count - low) >= how.base)},
        "random": {low, low + how.base * (count > low)},
        "stated": {max(0, count + off) for off in range(-how.base, how.base + 1)},
    }[how.rounding]


@quick
@given(
    st.integers(0, 7), st.booleans(), st.sampled_from(["none", "nearest", "random", "stated"]), st.integers(1, 7),
    st.integers(0, TOP // 2),
)  # fmt: skip
def test_a_printed_count_says_what_all_counts_that_print_so_have_in_common(
    suppress: int, zeros: bool, rounding: str, base: int, count: int
) -> None:
    how = Publishing(suppress, zeros, rounding, base if rounding != "none" else 1)
    printed = how.published(np.array([count] * 20), np.random.default_rng(count))
    assert set(printed.tolist()) <= outcomes(how, count)
    lo, hi = how.known(printed)
    for value, least, most in zip(printed.tolist(), lo.tolist(), hi.tolist(), strict=True):
        possible = [c for c in range(TOP) if value in outcomes(how, c)]
        assert (least, most) == (min(possible), max(possible))


def test_random_rounding_is_unbiased_and_keeps_multiples() -> None:
    how = Publishing(rounding="random", base=3)
    printed = how.published(np.repeat([4, 6], 3000), np.random.default_rng(1))
    assert set(printed[3000:]) == {6}
    assert abs(printed[:3000].mean() - 4) < 0.1


def test_a_count_that_should_be_suppressed_is_refused() -> None:
    with pytest.raises(ReleaseError, match="count of 2 is shown, but counts below 5"):
        Publishing(suppress=5).known(np.array([2]))


def a_column(name: str, codes: int) -> Column:
    return Column(name, name, tuple(range(1, codes + 1)), tuple(f"{name}{code}" for code in range(1, codes + 1)))


DOMAIN = Domain((a_column("A", 4), a_column("B", 2)))
CROSS = tuple(Query(f"t.{a}.{b}", "t", "", Predicate.of({"A": [a], "B": [b]})) for a, b in product((1, 2, 3, 4), (1, 2)))
LINES = (*CROSS, Query("u.12", "u", "", Predicate.of({"A": [1, 2]})), Query("u.34", "u", "", Predicate.of({"A": [3, 4]})))


def a_release(
    queries: tuple[Query, ...], seed: int = 0, rules: tuple[Rule, ...] = ()
) -> tuple[Release, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    records = {"A": rng.integers(1, 5, 20), "B": rng.integers(1, 3, 20)}
    counts = tabulate(records, np.array([0]), DOMAIN, queries)[0]
    return Release(Schema(DOMAIN, rules, queries), "x", 20, np.arange(len(queries)), counts, counts), records


@quick
@given(st.integers(0, 1000), st.sets(st.integers(1, 4), min_size=1))
def test_coarser_counts_are_those_of_coarser_records(seed: int, merged: set[int]) -> None:
    release, records = a_release(LINES, seed)
    found = recode(release.schema, "A", {"merged": sorted(merged)})
    coarse = found.release(release)
    recoded = {**records, "A": np.array([found.code[code] for code in records["A"]])}
    counts = tabulate(recoded, np.array([0]), found.schema.domain, found.schema.queries)[0]
    assert coarse.lo.tolist() == counts[coarse.cells].tolist() == coarse.hi.tolist()
    assert len(coarse.cells) == len(found.schema.queries)
    assert len(found.schema.domain["A"].codes) == 5 - len(merged)
    assert found.schema.domain["A"].meaning[min(merged)] == "merged"


def test_a_line_that_cuts_through_merged_codes_is_left_out() -> None:
    schema = recode(a_release(LINES)[0].schema, "A", {"middle": [2, 3]}).schema
    assert not [query for query in schema.queries if query.table == "u"]
    assert len(schema.queries) == 6


def test_overlapping_lines_are_not_added_up() -> None:
    lines = (Query("a", "t", "", Predicate.of({"A": [1, 2]})), Query("b", "t", "", Predicate.of({"A": [2]})))
    assert recode(a_release(lines)[0].schema, "A", {"low": [1, 2, 3]}).schema.queries == ()


def test_a_cell_is_published_only_where_all_its_parts_are() -> None:
    release, _ = a_release(CROSS)
    found = recode(release.schema, "A", {"low": [1, 2]})
    coarse = found.release(without(release, {"t.1.1"}))
    assert "t.1.1+" not in [query.id for query in coarse.queries]
    assert "t.1.2+" in [query.id for query in coarse.queries]


def test_a_rule_keeps_what_still_holds_of_it() -> None:
    rule = Rule("r", Predicate.of({"A": [1, 3]}), (Predicate.of({"B": [1]}),))
    release, _ = a_release(CROSS, rules=(rule,))
    assert recode(release.schema, "A", {"low": [1, 2]}).schema.rules[0].when == Predicate.of({"A": [3]})
    only = Rule("r", Predicate.of({"A": [1]}), (Predicate.of({"B": [1]}),))
    release, _ = a_release(CROSS, rules=(only,))
    assert recode(release.schema, "A", {"low": [1, 2]}).schema.rules == ()


def test_protected_counts_hold_the_truth_and_exempt_tables_stay() -> None:
    release, _ = a_release(LINES)
    seen = publish(release, Publishing(suppress=5), np.random.default_rng(0), exempt=["u"])
    assert (seen.lo <= release.lo).all()
    assert (release.hi <= seen.hi).all()
    assert (seen.lo < seen.hi).any()
    assert seen.lo[-2:].tolist() == seen.hi[-2:].tolist() == release.lo[-2:].tolist()
    with pytest.raises(DataError, match="known only to a range"):
        publish(seen, Publishing(suppress=5), np.random.default_rng(0))


def test_tables_and_cells_can_be_left_out() -> None:
    release, _ = a_release(LINES)
    assert {query.table for query in without(release, tables=["t"]).queries} == {"u"}
    assert len(without(release, {"u.12", "t.1.1"}).cells) == len(LINES) - 2


def test_counts_of_blocks_as_settings_publish_them(toy_schema: Schema, toy_settings: ReleaseSettings) -> None:
    ids = ["N", *(query.id for query in toy_schema.queries[:5])]
    counts = pd.DataFrame({"block": "b", "query": ids, "count": [9, 0, 1, 2, 5, 6]})

    def published(**changes: int) -> list[tuple[int, int]]:
        frame = publish_counts(counts, toy_schema, toy_settings.but(**changes))
        return list(zip(frame["lo"], frame["hi"], strict=True))

    assert publish_counts(counts, toy_schema, toy_settings) is counts
    assert published(round=5) == [(9, 9), (0, 0), (1, 5), (1, 5), (1, 5), (6, 10)]
    assert published(suppress=3) == [(9, 9), (0, 0), (1, 2), (1, 2), (5, 5), (6, 6)]
    assert published(suppress=3, round=5) == [(9, 9), (0, 0), (1, 2), (1, 2), (3, 5), (6, 10)]
