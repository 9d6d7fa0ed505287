"""Rounded counts of areas: ranges and chances against all true counts tried one by one; scripts; what cannot be read."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from genverify.model.errors import GenverifyError
from studies.disclosure.area_tables import (
    AreaTables,
    Part,
    Tree,
    _rounding_chances,
    bound_part,
    read_area_tables,
    read_areas,
    summary_frame,
    work_of,
)

SPEC = AreaTables(title="made up", source="synthetic", base=3, sums={"t": {"total": ["a", "b"]}})
WORK = work_of(20.0)


def possible(printed: int) -> range:
    return range(max(0, printed - 2), printed + 3)


def by_trying(areas: list[dict[str, int | None]]) -> dict[str, set[int]]:
    """Every true table of a larger area and two small ones that may have been printed so."""
    ends = [
        [range(9) if own[cell] is None else possible(int(own[cell] or 0)) for cell in ("t/a", "t/b", "t/total")]
        for own in areas
    ]
    found: dict[str, set[int]] = {}
    for a1, b1, a2, b2 in product(ends[1][0], ends[1][1], ends[2][0], ends[2][1]):
        counts = [(a1 + a2, b1 + b2), (a1, b1), (a2, b2)]
        if all(a in own[0] and b in own[1] and a + b in own[2] for (a, b), own in zip(counts, ends, strict=True)):
            for at, (a, b) in enumerate(counts):
                for cell, count in (("t/a", a), ("t/b", b), ("t/total", a + b)):
                    found.setdefault(f"{at}:{cell}", set()).add(count)
    return found


CASES = [
    [{"t/a": 0, "t/b": 0, "t/total": 6}, {"t/a": 0, "t/b": 0, "t/total": 0}, {"t/a": 0, "t/b": 3, "t/total": 3}],
    [{"t/a": 3, "t/b": 3, "t/total": 6}, {"t/a": 0, "t/b": None, "t/total": 3}, {"t/a": 3, "t/b": 0, "t/total": 6}],
    [{"t/a": 6, "t/b": 0, "t/total": 3}, {"t/a": 0, "t/b": 0, "t/total": 3}, {"t/a": 3, "t/b": 0, "t/total": 0}],
]


@pytest.mark.parametrize("areas", CASES)
def test_ranges_are_those_of_all_true_counts(areas: list[dict[str, int | None]]) -> None:
    wanted = by_trying(areas)
    rows, _ = bound_part(Part(tuple(areas)), SPEC, WORK)
    assert wanted
    for at in range(3):
        for row in rows.iloc[3 * at : 3 * at + 3].to_dict("records"):
            counts = wanted[f"{at}:{row['cell']}"]
            assert (row["lo"], row["hi"]) == (min(counts), max(counts))
            assert row["attained"]


def test_counts_that_break_the_rule_are_found() -> None:
    """Six people printed where at most four can be; and three small areas that cannot add up to their larger one."""
    alone, _ = bound_part(Part(({"t/a": 0, "t/b": 0, "t/total": 9}, {"t/a": 3, "t/b": 3, "t/total": 6})), SPEC, WORK)
    assert set(alone["contradicts"]) == {"area", "geography"}
    together, _ = bound_part(Part(({"t/a": 30, "t/b": 0, "t/total": 30}, {"t/a": 3, "t/b": 0, "t/total": 3})), SPEC, WORK)
    assert set(together["contradicts"]) == {"geography"}
    table = summary_frame(pd.concat([alone, together]))
    whole = table[table["table"] == "all tables"]
    assert whole["contradict_in_area"].sum() == 3
    assert whole["contradict_by_geography"].sum() == 9


def test_chances_are_those_of_all_true_tables() -> None:
    printed = {"a": 3, "b": 0, "total": 6}
    weights: dict[int, float] = {}
    for a, b in product(possible(3), possible(0)):
        chance = np.prod([_chance(3, a), _chance(0, b), _chance(6, a + b)])
        weights[a] = weights.get(a, 0.0) + float(chance)
    found = Tree({"total": ["a", "b"]}, 3).posterior(printed)["a"]
    positive = [weight for _, weight in sorted(weights.items())]
    expected = np.array(positive) / sum(positive)
    assert np.allclose(found[found > 0], expected[expected > 0])


def _chance(printed: int, true: int) -> float:
    own = _rounding_chances(printed, 3)
    at = true - own.start
    return float(own.weights[at]) if 0 <= at < len(own.weights) else 0.0


@pytest.mark.parametrize(("text", "message"), [
    ("area,variable,count\n1,t,3\n", "has no column 'group'"),
    ("area,variable,group,count\n1,t,a,3\n1,t,a,6\n", "two counts of one group"),
    ("area,variable,group,count\n1,t,a,-3\n", "negative"),
])  # fmt: skip
def test_files_of_areas_that_cannot_be_read(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(text)
    with pytest.raises(GenverifyError, match=message):
        read_areas(tmp_path / "counts.csv")


def test_a_count_that_is_no_multiple_is_refused() -> None:
    with pytest.raises(GenverifyError, match="not a multiple of 3"):
        bound_part(Part(({"t/a": 4, "t/b": 0, "t/total": 6},), has_larger=False), SPEC, WORK)


def test_the_shipped_tables_of_new_zealand_are_trees() -> None:
    spec = read_area_tables(Path(__file__).parents[2] / "data" / "nz" / "tables.yaml")
    for sums in spec.sums.values():
        parts = [part for own in sums.values() for part in own]
        assert len(parts) == len(set(parts))
