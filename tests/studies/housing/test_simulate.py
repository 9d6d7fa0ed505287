"""The households of the housing study: conditional distributions by counting, equation (7) by hand, bedrooms, properties."""

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from genverify.model.errors import ConfigError, DataError
from genverify.model.files import read_yaml
from studies.housing.households import (
    Conditionals,
    PropertyModel,
    chosen_blocks,
    complete_households,
    draw_bedrooms,
    draw_children,
    draw_households,
    draw_property,
    draw_sizes,
    heuristic_likelihood,
    locate_properties,
    read_conditionals,
    read_properties,
    read_states,
    simulate_states,
    write_households,
    write_states,
)

MANY = 40_000
OCCUPANCY = {1: 2, 2: 4}


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def text(root: Path) -> dict[str, Any]:
    return read_yaml(root / "data" / "housing" / "simulation.yaml")


@pytest.fixture(scope="module")
def given(text: dict[str, Any]) -> Conditionals:
    return read_conditionals(text["households"], "simulation.yaml")


def model_of(text: dict[str, Any], alpha: float = 1e-4, smallest: int = 11) -> PropertyModel:
    return read_properties(text["properties"], OCCUPANCY, alpha, smallest, "simulation.yaml")


def units(rows: list[tuple[Any, ...]]) -> pa.Table:
    """Units as (block, VACS, HHSIZE, TP18, HHT2, THHRACE, THHSPAN)."""
    names = ("block", "VACS", "HHSIZE", "TP18", "HHT2", "THHRACE", "THHSPAN")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return pa.table({name: pa.array(v, pa.string() if name == "block" else pa.int8()) for name, v in columns.items()})


def shares(values: Any) -> dict[int, float]:
    found, counts = np.unique(values, return_counts=True)
    return {int(value): 100 * count / len(values) for value, count in zip(found, counts, strict=True)}


@pytest.mark.parametrize("kind", ["couple_with_own_children", "single_parent", "no_own_children"])
@pytest.mark.parametrize("size", [2, 4, 7])
def test_children_follow_the_table(text: dict[str, Any], given: Conditionals, kind: str, size: int) -> None:
    row = text["households"]["children"][kind]
    group = given.group_of(np.full(MANY, row["HHT2"][0]))
    drawn = draw_children(np.full(MANY, size), np.ones(MANY, dtype=np.int64), group, given, rng())
    expected = {number: percent for number, percent in enumerate(row[size], 1) if percent}
    assert shares(drawn) == pytest.approx(expected, abs=1.0)


@pytest.mark.parametrize(("minors", "name"), [(0, "without_children"), (1, "with_children")])
def test_sizes_above_six_follow_the_table(text: dict[str, Any], given: Conditionals, minors: int, name: str) -> None:
    said = np.repeat([6, 7], MANY)
    drawn = draw_sizes(said, np.full(2 * MANY, minors), np.zeros(2 * MANY, dtype=np.int64), given, rng())
    assert (drawn[:MANY] == 6).all()
    expected = {size: percent for size, percent in enumerate(text["households"]["sizes"][name], 7) if percent}
    assert shares(drawn[MANY:]) == pytest.approx(expected, abs=1.0)


def test_a_larger_household_has_further_children_and_keeps_an_adult(given: Conditionals) -> None:
    group = given.group_of(np.full(MANY, 6))
    seven, twelve = (draw_children(np.full(MANY, n), np.ones(MANY, dtype=np.int64), group, given, rng()) for n in (7, 12))
    assert twelve.mean() - seven.mean() == pytest.approx(5 * given.another_child, abs=0.05)
    assert twelve.max() <= 11
    assert seven.max() == 6


def test_units_become_households(given: Conditionals) -> None:
    table = units(
        [
            ("010010201001001", 0, 1, 1, 5, 2, 1),
            ("010010201001000", 0, 2, 0, 2, 1, 2),
            ("010010201001001", 1, 0, 0, 0, 0, 0),
            ("010010201001000", 0, 7, 1, 1, 6, 2),
        ]
    )
    found = complete_households(table, given, rng())
    assert list(found.columns) == ["block", "SIZE", "CHILDREN", "RACE"]
    assert found["block"].tolist() == ["010010201001000", "010010201001000", "010010201001001"]
    assert found["RACE"].tolist() == [8, 13, 2]
    assert found["SIZE"].iloc[0] == 2
    assert found["SIZE"].iloc[1] >= 7
    assert found["CHILDREN"].iloc[[0, 2]].tolist() == [0, 1], "a minor can live alone"
    assert 1 <= found["CHILDREN"].iloc[1] < found["SIZE"].iloc[1]


def test_a_household_without_a_size_is_refused(given: Conditionals) -> None:
    with pytest.raises(DataError, match=r"block 010010201001000: an occupied unit has HHSIZE=0\. Check the microdata"):
        complete_households(units([("010010201001000", 0, 0, 0, 1, 1, 1)]), given, rng())


def test_equation_7_by_hand() -> None:
    """Households (Black, children): one has both, one neither, two have children only; the property: 60 % and 25 %."""
    attributes = np.array([[True, True], [False, False], [False, True], [False, True]])
    found = heuristic_likelihood(attributes, np.array([0.6, 0.25]))
    assert found == pytest.approx([0.6 * 0.25 / (1 / 4), 0.4 * 0.75 / (1 / 4), 0.4 * 0.25 / (2 / 4), 0.4 * 0.25 / (2 / 4)])


def test_households_are_drawn_in_proportion_to_their_likelihood() -> None:
    likelihood, none = np.array([3.0, 1.0, 0.0, 4.0]), np.zeros(4, dtype=bool)
    generator = rng()
    first = [draw_households(likelihood, none, 1, generator)[0] for _ in range(MANY // 4)]
    assert shares(np.array(first)) == pytest.approx({0: 37.5, 1: 12.5, 3: 50.0}, abs=1.5)
    # without replacement: the second draw is in proportion to what is left, 3 : 1 after the 4
    pairs = [tuple(draw_households(likelihood, none, 2, generator).tolist()) for _ in range(MANY // 4)]
    both = 0.5 * 3 / 4 + 0.375 * 4 / 5
    assert pairs.count((0, 3)) / len(pairs) == pytest.approx(both, abs=0.015)


def test_where_the_likely_ones_run_out_the_others_follow_and_lone_minors_last() -> None:
    likelihood, last = np.array([1.0, 0.0, 5.0, 0.0]), np.array([False, False, True, False])
    assert draw_households(likelihood, last, 1, rng()).tolist() == [0]
    assert draw_households(likelihood, last, 3, rng()).tolist() == [0, 1, 3]
    assert draw_households(likelihood, last, 4, rng()).tolist() == [0, 1, 2, 3]


def test_bedrooms_follow_the_mix_and_alpha(text: dict[str, Any]) -> None:
    """A household of 3 or 4 goes against the limit of small units only, one of 5 against that of medium units too."""
    mix = np.array([0.5, 0.3, 0.2])
    for size, against in ((2, []), (4, [1]), (5, [1, 2])):
        drawn = draw_bedrooms(np.full(MANY, size), mix, model_of(text, alpha=0.1), rng())
        weights = {code: p * (0.1 if code in against else 1) for code, p in zip((1, 2, 3), mix, strict=True)}
        expected = {code: 100 * weight / sum(weights.values()) for code, weight in weights.items()}
        assert shares(drawn) == pytest.approx(expected, abs=1.0)


def test_alpha_0_gives_no_violation_wherever_a_unit_is_large_enough(text: dict[str, Any]) -> None:
    model, sizes = model_of(text, alpha=0.0), np.tile(np.arange(1, 12), 2000)
    for mix in ([0.9, 0.05, 0.05], [0.999999, 0.0, 0.000001], [0.0, 0.3, 0.7], [0.0, 0.0, 1.0]):
        assert not model.violates(draw_bedrooms(sizes, np.array(mix), model, rng()), sizes).any()
    small = draw_bedrooms(sizes, np.array([0.4, 0.6, 0.0]), model, rng())
    assert (model.violates(small, sizes) == (sizes > 4)).all(), "nobody of 5 or more fits a unit of two bedrooms"


def test_properties_stand_in_blocks_that_can_hold_them(text: dict[str, Any]) -> None:
    sizes = rng().integers(1, 300, 2000)
    model = model_of(text)
    blocks, subsidized = locate_properties(sizes, 400, model, rng(2))
    assert len(blocks) == len(set(blocks)) == 400
    assert (subsidized >= 11).all()
    assert (subsidized <= sizes[blocks]).all()
    assert 0.35 < subsidized.sum() / sizes[blocks].sum() < 0.6
    again = locate_properties(sizes, 400, model, rng(2))
    assert (again[0] == blocks).all()
    assert (again[1] == subsidized).all()
    assert set(locate_properties(sizes, 400, model, rng(3))[0]) != set(blocks)


def test_the_simulation_where_races_live_apart_has_other_properties_only(root: Path, text: dict[str, Any]) -> None:
    other = read_yaml(root / "data" / "housing" / "simulation_separate.yaml")
    assert {**other, "properties": None} == {**text, "properties": None}
    different = {name for name in text["properties"] if text["properties"][name] != other["properties"].get(name)}
    assert different == {"subsidized", "others", "whole_blocks", "fit"}
    sizes = rng().integers(1, 300, 2000)
    blocks, subsidized = locate_properties(sizes, 400, model_of(text), rng(2))
    assert 0.1 < (subsidized == sizes[blocks]).mean() < 0.2, "15 % of properties fill their block"


@pytest.mark.parametrize(("percent", "words"), [(101, r"whole_blocks \(101\) is a percentage"), ("many", "not a table of")])
def test_properties_that_fill_their_block_are_a_percentage(text: dict[str, Any], percent: Any, words: str) -> None:
    every = {**text, "properties": {**text["properties"], "whole_blocks": 100}}
    sizes = rng().integers(1, 300, 2000)
    blocks, subsidized = locate_properties(sizes, 400, model_of(every), rng(2))
    assert (subsidized == sizes[blocks]).all()
    none = {**text, "properties": {**text["properties"], "whole_blocks": 0}}
    blocks, subsidized = locate_properties(sizes, 400, model_of(none), rng(2))
    assert (subsidized == sizes[blocks]).mean() < 0.03
    with pytest.raises(DataError, match=words):
        model_of({**text, "properties": {**text["properties"], "whole_blocks": percent}})


def test_fewer_chosen_blocks_are_part_of_more_and_of_all_states() -> None:
    blocks = pd.Series([f"{state:02d}0010201001{number:03d}" for state in range(1, 51) for number in range(9)] * 2)
    few, many = (chosen_blocks(blocks, count) for count in (50, 120))
    assert (len(few), len(many), len(chosen_blocks(blocks, 10**6))) == (50, 120, 450)
    assert few < many
    assert {block[:2] for block in few} == {f"{state:02d}" for state in range(1, 51)}


def test_fewer_blocks_than_wanted_hold_a_property_each_and_none_is_an_error(text: dict[str, Any]) -> None:
    blocks, subsidized = locate_properties(np.array([10, 12, 40, 5]), 9, model_of(text), rng())
    assert set(blocks) <= {1, 2}
    assert (subsidized >= 11).all()
    with pytest.raises(ConfigError, match=r"no block has 11 households or more: raise housing\.households"):
        locate_properties(np.array([3, 10]), 1, model_of(text), rng())


def test_a_property_takes_its_number_of_households_and_no_lone_minor(text: dict[str, Any]) -> None:
    block = {"SIZE": np.array([1, 1, 2, 3, 5, 2, 8]), "CHILDREN": np.array([1, 0, 1, 0, 3, 0, 4])}
    block["RACE"] = np.array([1, 2, 2, 1, 8, 4, 1])
    for seed in range(50):
        bedrooms = draw_property(block, 4, model_of(text, smallest=2), rng(seed))
        assert (bedrooms > 0).sum() == 4
        assert bedrooms[0] == 0
        assert set(bedrooms) <= {0, 1, 2, 3}


def country(text: dict[str, Any], states: tuple[str, ...] = ("01", "02", "04")) -> Iterator[pd.DataFrame]:
    given = read_conditionals(text["households"], "simulation.yaml")
    for state in states:
        draw = rng(int(state))
        rows = [(f"{state}0010201001{block:03d}", 0, int(draw.integers(1, 8)), 1, int(draw.choice([1, 6, 7])), 1, 1)
                for block in range(30) for _ in range(5 * block + 1)]  # fmt: skip
        rows = [(b, v, size, int(size > 2), kind, race, origin) for b, v, size, _, kind, race, origin in rows]
        yield from simulate_states(iter([units(rows)]), given, 7)


def test_the_country_is_written_sorted_and_repeats(text: dict[str, Any], tmp_path: Path) -> None:
    model = model_of(text)
    number = write_households(country(text), tmp_path / "a.parquet", model, 20, 5)
    write_households(country(text), tmp_path / "b.parquet", model, 20, 5)
    write_households(country(text), tmp_path / "c.parquet", model, 20, 6)
    frame = pd.read_parquet(tmp_path / "a.parquet")
    assert frame["block"].is_monotonic_increasing
    assert {name: str(kind) for name, kind in frame.dtypes.items() if name != "block"} == {
        "SIZE": "int16", "CHILDREN": "int16", "RACE": "int8", "BEDROOMS": "int8"}  # fmt: skip
    held = frame.groupby("block")["BEDROOMS"].agg(lambda codes: (codes > 0).sum())
    assert number == 20 == (held > 0).sum()
    assert held[held > 0].min() >= 11
    assert (frame["CHILDREN"] <= frame["SIZE"] - (frame["SIZE"] > 1)).all()
    a, b, c = ((tmp_path / f"{name}.parquet").read_bytes() for name in "abc")
    assert a == b != c
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "b.parquet", "c.parquet"]


def test_never_two_states_are_in_memory(text: dict[str, Any], tmp_path: Path) -> None:
    alive: list[weakref.ref[pd.DataFrame]] = []

    def watched() -> Iterator[pd.DataFrame]:
        for frame in country(text):
            gc.collect()
            assert sum(one() is not None for one in alive) <= 1, "an earlier state is still in memory"
            alive.append(weakref.ref(frame))
            yield frame
            del frame

    write_households(watched(), tmp_path / "a.parquet", model_of(text), 20, 5)
    assert len(alive) == 3
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 3
    assert [frame["block"].iloc[0][:2] for frame in read_states(tmp_path / "a.parquet")] == ["01", "02", "04"]


def test_states_out_of_order_and_no_state_are_refused(text: dict[str, Any], tmp_path: Path) -> None:
    frames = [frame.assign(BEDROOMS=0) for frame in country(text, ("02", "01"))]
    with pytest.raises(DataError, match=r"block 010010201001000 comes after 020010201001029: give the states in order"):
        write_states(frames, tmp_path / "a.parquet")
    with pytest.raises(DataError, match="there is no household to write"):
        write_states([], tmp_path / "b.parquet")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": {"with_children": [50, 40], "without_children": [100]}}, r"sizes\.with_children: percentages must be"),
        ({"children": {"one": {"HHT2": [1], 2: [50, 50]}}}, r"children\.one\.2: 2 under 18 among 2 persons leave no adult"),
        ({"children": {"one": {"HHT2": [1], 2: [100]}}}, r"not a table of households \(KeyError\(3\)\)"),
    ],
)
def test_a_mistake_in_the_table_of_households_is_named(text: dict[str, Any], change: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_conditionals({**text["households"], **change}, "simulation.yaml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kinds": {"one": {"percent": 1, "bedrooms": [50, 40, 0], "children": 5}}}, r"kinds\.one: bedrooms must be 3"),
        ({"kinds": {"one": {"percent": 1, "bedrooms": [50, 50, 0], "children": 105}}}, r"kinds\.one: children \(105\)"),
        ({"concentration": 0}, r"concentration \(0\.0\) and the odds of races must be greater than 0"),
        ({"fit": None}, "not a table of properties"),
    ],
)
def test_a_mistake_in_the_table_of_properties_is_named(text: dict[str, Any], change: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_properties({**text["properties"], **change}, OCCUPANCY, 0.1, 11, "simulation.yaml")
