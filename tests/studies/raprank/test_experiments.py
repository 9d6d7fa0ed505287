"""Experiments of RAP-RANK on data small enough to be worked out by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.model.domain import EVERY, Column, Domain, Predicate
from genverify.model.errors import DataError
from genverify.model.query import Query
from genverify.model.release import Schema
from genverify.model.settings import validate_part
from studies.country.store import write_microdata
from studies.raprank.areas import (
    BLOCK,
    ConfidenceSet,
    _rank_counts,
    area_records,
    assign_blocks,
    baselines_above,
    both_schemas,
    codes_of,
    count_rows,
    draw_areas,
    make_target,
    populate_blocks,
    publish_areas,
    rank_geographies,
    read_areas,
    repeat_rows,
    split_areas,
    with_block,
)
from studies.raprank.rank import Area, _baseline_sets, _curve_rows, grid_of, mean_curves
from studies.raprank.settings import ResolvedExperiment

COLOURS = Domain((Column("A", "a", (0, 1, 2), ("x", "y", "z")), Column("B", "b", (0, 1), ("no", "yes"))))
HERE, NEAR, FAR, AWAY = "010010201001000", "010010201001001", "010030201001000", "560010201001000"
TRACT = "01001020100"


def experiment(**changes: Any) -> ResolvedExperiment:
    settings = {"data": "toy", "areas": "block", "states": None, "tracts": 1, "limit": None} | changes
    return validate_part(ResolvedExperiment, settings, "toy")


def sizes_of(*rows: tuple[str, int]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["block", "n"])
    return frame.assign(tract=frame["block"].str[:11], county=frame["block"].str[:5], state=frame["block"].str[:2])


def blocks_of(state: str, *sizes: int) -> list[tuple[str, int]]:
    return [(f"{state}0010201001{place:03d}", n) for place, n in enumerate(sizes)]


def test_six_blocks_of_a_state_by_size() -> None:
    sizes = sizes_of(*blocks_of("01", 160, 80, 41, 19, 10, 33, 3, 1))
    drawn = draw_areas(sizes, set(), experiment(), 1)
    found = drawn.set_index("size")["n"].to_dict()
    # the mean is 43.4; of 160, 80, 40, 20 and 10 the closest that is left
    assert found == {"mean": 41, "max": 160, "max/2": 80, "max/4": 33, "max/8": 19, "max/16": 10}
    assert drawn["area"].tolist() == drawn["block"].tolist()


def test_no_larger_block_than_the_limit() -> None:
    drawn = draw_areas(sizes_of(*blocks_of("01", 160, 80, 41, 19, 10, 33, 3, 1)), set(), experiment(limit=80), 1)
    assert drawn["n"].max() == 80
    with pytest.raises(DataError, match="2 blocks of at most 3 records, 6 are needed"):
        draw_areas(sizes_of(*blocks_of("01", 160, 80, 41, 19, 10, 33, 3, 1)), set(), experiment(limit=3), 1)


def test_whole_blocks_of_a_tract_up_to_the_limit() -> None:
    sizes = sizes_of(*blocks_of("01", 50, 40, 30, 5), *blocks_of("56", 20, 20))
    whole = draw_areas(sizes, set(), experiment(areas="tract"), 1)
    assert whole.groupby("area")["n"].sum().to_dict() == {"01001020100": 125, "56001020100": 40}
    drawn = draw_areas(sizes, set(), experiment(areas="tract", limit=60), 1)
    assert drawn.groupby("area")["n"].sum().max() <= 60
    assert set(drawn["block"]) <= set(sizes["block"])
    again = draw_areas(sizes, set(), experiment(areas="tract", limit=60), 1)
    assert drawn.equals(again)
    with pytest.raises(DataError, match="no block of at most 4 records"):
        draw_areas(sizes, set(), experiment(areas="tract", limit=4), 1)


def test_all_tracts_of_a_state_or_some() -> None:
    tracts = [(f"010010201{place:02d}1000", 10 + place) for place in range(5)]
    sizes = sizes_of(*tracts, *blocks_of("56", 20))
    assert draw_areas(sizes, set(), experiment(areas="tract", tracts=None), 1)["area"].nunique() == 6
    assert draw_areas(sizes, set(), experiment(areas="tract", tracts=2), 1).groupby(sizes["state"]).size().sum() == 3


def test_a_state_of_too_few_blocks_is_named() -> None:
    with pytest.raises(DataError, match=r"state 01: 2 blocks, 6 are needed.*set `states`"):
        draw_areas(sizes_of(*blocks_of("01", 5, 6)), set(), experiment(), 1)


def test_rows_of_a_start_stay_in_their_block_where_there_is_room() -> None:
    rows = np.array([[1, 0], [2, 0], [3, 0], [4, 1], [5, 2]])
    placed = assign_blocks(rows, np.array([1, 3, 1]), seed=4)
    assert placed[:, -1].tolist() == [0, 1, 1, 1, 2]
    assert sorted(placed[:, 0].tolist()) == [1, 2, 3, 4, 5]
    assert {tuple(row) for row in placed.tolist()} >= {(4, 1), (5, 2)}
    assert placed[0, 0] in (1, 2, 3)


def test_only_the_largest_states() -> None:
    sizes = sizes_of(*blocks_of("01", 5, 6), *blocks_of("02", 9, 9), *blocks_of("56", 10, 2))
    drawn = draw_areas(sizes, set(), experiment(areas="state", states=2), 1)
    assert drawn.groupby("area")["n"].sum().to_dict() == {"02": 18, "56": 12}


def test_sampled_blocks_are_areas() -> None:
    sizes = sizes_of(*blocks_of("01", 5, 6, 7))
    assert draw_areas(sizes, {sizes["block"][1]}, experiment(areas="sample"), 1)["n"].tolist() == [6]


def toy_records() -> pd.DataFrame:
    rows = [(HERE, 0, 0), (HERE, 0, 1), (HERE, 1, 0), (NEAR, 2, 1), (NEAR, 2, 1), (FAR, 1, 1)]
    return pd.DataFrame(rows, columns=["block", "A", "B"])


def toy_areas() -> pd.DataFrame:
    return pd.DataFrame({"area": [TRACT, TRACT], "block": [HERE, NEAR], "size": "tract", "n": [3, 2]})


def test_halves_make_up_the_area() -> None:
    records = area_records(toy_records(), toy_areas(), COLOURS)
    assert records[BLOCK].tolist() == [0, 0, 0, 1, 1]
    private, holdout = split_areas(records, experiment(areas="tract"), 1)
    assert (len(private), len(holdout)) == (2, 3)
    both = pd.concat([private, holdout]).sort_values(list(records)).reset_index(drop=True)
    assert both.equals(records.sort_values(list(records)).reset_index(drop=True))
    assert not split_areas(records, experiment(areas="tract"), 2)[0].equals(private)


def test_an_area_of_one_record_is_left_out() -> None:
    areas = pd.DataFrame({"area": [HERE, FAR], "block": [HERE, FAR], "size": "sample", "n": [3, 1]})
    private, holdout = split_areas(area_records(toy_records(), areas, COLOURS), experiment(), 1)
    assert set(private["area"]) == set(holdout["area"]) == {HERE}


def test_of_a_state_no_more_than_the_limit_is_drawn() -> None:
    records = area_records(toy_records(), toy_areas().assign(area="01"), COLOURS)
    private, holdout = split_areas(records, experiment(areas="state", limit=4), 1)
    assert (len(private), len(holdout)) == (2, 2)


def schema_of(*where: dict[str, list[int]]) -> Schema:
    queries = [Query(f"T.{place}", "T", "", Predicate.of(clauses)) for place, clauses in enumerate(where)]
    return Schema(COLOURS, (), tuple(queries))


def test_counts_of_an_area_and_of_each_block(tmp_path: Path) -> None:
    private = area_records(toy_records(), toy_areas(), COLOURS).iloc[:3]  # D lies in the first block
    of_area = schema_of({"A": [0]})
    of_block = Schema(COLOURS, (), (Query("S.yes", "S", "", Predicate.of({"B": [1]})),))
    counts = publish_areas(private, toy_areas(), of_area, of_block)
    told = {(row.block, row.query): row.count for row in counts.itertuples()}
    assert told == {
        (TRACT, "N"): 3, (TRACT, "T.0"): 2, (HERE, "N"): 3, (HERE, "S.yes"): 1, (NEAR, "N"): 0, (NEAR, "S.yes"): 0,
    }  # fmt: skip
    counts.to_parquet(tmp_path / "000.parquet", index=False)
    (area,) = read_areas(tmp_path / "000.parquet", both_schemas(of_area, of_block))
    known = make_target(area)
    assert (known.counts.tolist(), known.published, known.domain.names) == ([2], 3, ("A", "B", BLOCK))
    assert known.blocks is not None
    assert (known.blocks.sizes.tolist(), known.blocks.counts.tolist()) == ([3, 0], [[1], [0]])
    target = make_target(area, learned=True)
    assert (target.area, target.rows, target.domain.names) == (TRACT, 3, ("A", "B", BLOCK))
    assert target.domain[BLOCK].meanings == (HERE, NEAR)
    assert dict(zip(map(str, target.predicates), target.counts.tolist(), strict=True)) == {
        "A=0": 2, "BLOCK=0": 3, "B=1 and BLOCK=0": 1, "BLOCK=1": 0, "B=1 and BLOCK=1": 0,
    }  # fmt: skip


def test_without_blocks_the_area_is_counted_once(tmp_path: Path) -> None:
    areas = pd.DataFrame({"area": [HERE, NEAR], "block": [HERE, NEAR], "size": "sample", "n": [3, 2]})
    private = area_records(toy_records(), areas, COLOURS)
    publish_areas(private, areas, schema_of({"A": [2]}), None).to_parquet(tmp_path / "000.parquet")
    targets = [make_target(area) for area in read_areas(tmp_path / "000.parquet", schema_of({"A": [2]}))]
    assert [(t.area, t.rows, t.counts.tolist(), t.domain.names) for t in targets] == [
        (HERE, 3, [0], ("A", "B")), (NEAR, 2, [2], ("A", "B")),
    ]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rows = [*toy_records().itertuples(index=False), *[(AWAY, 1, 1)] * 3, (AWAY, 0, 0)]
    blocks, a, b = zip(*rows, strict=True)
    table = pa.table({"block": list(blocks), "A": pa.array(a, pa.int8()), "B": pa.array(b, pa.int8())})
    write_microdata([table], tmp_path / "store", COLOURS)
    return tmp_path / "store"


def listed(ranked: ConfidenceSet) -> dict[tuple[int, ...], int]:
    return dict(zip(map(tuple, ranked.rows.tolist()), ranked.frequency.tolist(), strict=True))


def test_geographies_are_ranked_by_frequency(store: Path) -> None:
    counted = count_rows(store, [HERE], COLOURS, EVERY)
    assert set(counted) == {"", "01", "01001", TRACT}
    ranked = dict(rank_geographies(counted, COLOURS, {HERE: 10}, 1))
    assert listed(ranked[""]) == {(1, 1): 4, (0, 0): 2, (2, 1): 2, (0, 1): 1, (1, 0): 1}
    assert listed(ranked["01"]) == {(2, 1): 2, (0, 0): 1, (0, 1): 1, (1, 0): 1, (1, 1): 1}
    assert listed(ranked[TRACT]) == listed(ranked["01001"]) == {(2, 1): 2, (0, 0): 1, (0, 1): 1, (1, 0): 1}
    assert next(iter(listed(ranked[""]))) == (1, 1)
    only = count_rows(store, [HERE], COLOURS, Predicate.of({"B": [1]}))
    assert only[TRACT].times.tolist() == [1, 2]


def test_no_longer_list_than_wanted(store: Path) -> None:
    ranked = dict(rank_geographies(count_rows(store, [HERE], COLOURS, EVERY), COLOURS, {HERE: 2}, 1))
    assert [len(found.rows) for found in ranked.values()] == [2, 2, 2, 2]


def test_a_tract_has_no_tract_above_it() -> None:
    assert list(baselines_above(HERE)) == ["tract", "county", "state", "national"]
    assert list(baselines_above("06")) == ["national"]


def test_blocks_are_populated_as_in_the_private_half() -> None:
    ranked = ConfidenceSet(np.array([[1, 1], [0, 0], [2, 1]]), np.array([6, 2, 1]))
    found = populate_blocks(ranked, np.array([0, 0, 0, 3]), 1, 4)
    # D has three rows in block 0 and one in block 3: 6x3, 6x1 and 2x3 (a tie), 1x3
    assert found.frequency.tolist() == [18, 6, 6, 3]
    assert listed(found) == {(1, 1, 0): 18, (1, 1, 3): 6, (0, 0, 0): 6, (2, 1, 0): 3}


def test_curves_of_an_area_worked_out_by_hand(store: Path) -> None:
    private, holdout = np.array([[2, 1], [0, 0]]), np.array([[2, 1], [0, 1], [1, 0]])
    area = Area(HERE, COLOURS, private, holdout)
    geographies = dict(rank_geographies(count_rows(store, [HERE], COLOURS, EVERY), COLOURS, {HERE: area.u}, 1))
    sets = _baseline_sets(area, geographies, 1) | {"RAP-RANK random": ConfidenceSet(private[::-1], np.array([2, 1]))}
    rates = _curve_rows(area, sets, "sample", grid_of(2)).pivot(index="source", columns="x", values="match_rate")
    assert area.u == 2
    assert rates.loc["RAP-RANK random"].tolist() == [1, 1]
    assert rates.loc["tract", 0.5] == rates.loc["state", 0.5] == 1  # (2, 1) comes first there
    assert rates.loc["national", 0.5] == 0  # (1, 1) comes first in the nation
    assert rates.loc["holdout", 1.0] in (0.0, 0.5)


def test_with_block_a_match_needs_the_block() -> None:
    domain = with_block(COLOURS, [HERE, NEAR])
    area = Area(TRACT, domain, np.array([[2, 1, 0], [0, 0, 0]]), np.array([[2, 1, 1], [0, 0, 0]]))
    ranked = {name: ConfidenceSet(np.array([[2, 1], [0, 0]]), np.array([5, 4])) for name in ("01001", "01", "")}
    rates = _curve_rows(area, _baseline_sets(area, ranked, 1), "tract", grid_of(1)).set_index("source")["match_rate"]
    assert rates.to_dict() == {"county": 1.0, "state": 1.0, "national": 1.0, "holdout": 0.5}


def test_means_over_areas() -> None:
    rows = [
        (area, "s", x, rate)
        for area, rates in (("a", (1, 0.5)), ("b", (0, 0.5)))
        for x, rate in zip((0.5, 1), rates, strict=True)
    ]
    means = mean_curves(pd.DataFrame(rows, columns=["area", "source", "x", "match_rate"]), 1)
    assert means["match_rate"].tolist() == [0.5, 0.5]
    assert means["areas"].tolist() == [2, 2]
    assert (means["low"].tolist(), means["high"].tolist()) == ([0, 0.5], [1, 0.5])


def test_data_of_another_domain_are_refused() -> None:
    with pytest.raises(DataError, match="rows of x: no column B; the queries speak of A, B"):
        codes_of(pd.DataFrame({"A": [1]}), COLOURS, "rows of x")
    with pytest.raises(DataError, match="A=7 is not a code of the domain"):
        codes_of(pd.DataFrame({"A": [7], "B": [1]}), COLOURS, "rows of x")


def test_ties_are_drawn_from_the_seed() -> None:
    rows, times = np.arange(30)[:, None], np.ones(30, dtype=np.int64)
    first, second = (_rank_counts(rows, times, seed).rows.ravel().tolist() for seed in (1, 2))
    assert first == _rank_counts(rows, times, 1).rows.ravel().tolist()
    assert first != second
    assert first[:5] == _rank_counts(rows, times, 1, 5).rows.ravel().tolist()


@pytest.mark.parametrize("share", [0.095, 0.25, 1.0])
def test_a_share_of_the_persons_stands_in_rows_of_exactly_five(share: float) -> None:
    rng = np.random.default_rng(2)
    sizes = {HERE: 200, NEAR: 3}
    rows = pd.DataFrame({"block": np.repeat(list(sizes), list(sizes.values())), "A": rng.integers(0, 40, 203)})
    rows["B"] = rng.integers(0, 40, 203)
    changed = repeat_rows(rows, ["A", "B"], share, 1)
    assert changed["block"].tolist() == rows["block"].tolist()
    times = changed[changed["block"] == HERE].value_counts(["A", "B"])
    in_fives = 5 * (times == 5).sum()
    assert abs(in_fives - share * 200) <= 5
    assert changed.equals(repeat_rows(rows, ["A", "B"], share, 1))
    small = [frame[frame["block"] == NEAR].reset_index(drop=True) for frame in (rows, changed)]
    assert share > 0.5 or small[0].equals(small[1])  # three persons have no row of five


def test_no_share_changes_nothing() -> None:
    rows = pd.DataFrame({"block": [HERE] * 6, "A": [0, 0, 1, 2, 2, 2], "B": [0, 1, 0, 1, 0, 1]})
    assert repeat_rows(rows, ["A", "B"], 0.0, 1).equals(rows)
