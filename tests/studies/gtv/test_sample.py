"""Sampling: exact sizes, one seed per design and state, clear words where blocks are missing."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.model.errors import DataError
from studies.country.plan import in_words
from studies.country.sample import (
    COLUMNS,
    batch_of,
    batches_of,
    block_seconds,
    choose_blocks,
    households_of,
    number_of_batches,
    parts_of,
    sample_blocks,
)
from studies.country.settings import Design, Sample
from studies.gtv.benchmarks import CLASSES, named

DESIGNS = {
    "state_median": Design(size="state_median", blocks_per_state=2),
    "country_median": Design(size="country_median", blocks_per_state=3),
}


def sizes_of(states: dict[str, list[int]]) -> pd.DataFrame:
    """One block per size, numbered within its state."""
    rows = []
    for state, sizes in states.items():
        for number, n in enumerate(sizes):
            block = f"{state}001020100{number:04d}"
            rows.append({"block": block, "tract": block[:11], "county": block[:5], "state": state, "n": n})
    return pd.DataFrame(rows)


@pytest.fixture
def sizes() -> pd.DataFrame:
    """State 01 has the median 2, state 56 the median 6, the country 4."""
    return sizes_of({"01": [1] * 5 + [2] * 20 + [4] * 20, "56": [4] * 15 + [6] * 20 + [9] * 5})


def test_exact_sizes_and_numbers(sizes: pd.DataFrame) -> None:
    blocks = sample_blocks(sizes, DESIGNS, 1)
    assert list(blocks) == COLUMNS
    assert blocks.groupby(["design", "state"]).size().to_dict() == {
        ("country_median", "01"): 3, ("country_median", "56"): 3, ("state_median", "01"): 2, ("state_median", "56"): 2,
    }  # fmt: skip
    drawn = blocks.groupby(["design", "state"])["n_households"].unique().map(list).to_dict()
    assert drawn == {
        ("country_median", "01"): [4], ("country_median", "56"): [4],
        ("state_median", "01"): [2], ("state_median", "56"): [6],
    }  # fmt: skip
    assert not blocks.duplicated(["design", "block"]).any()
    truth = sizes.set_index("block")
    assert (blocks["n_households"].to_numpy() == truth.loc[blocks["block"], "n"].to_numpy()).all()
    assert (blocks["tract"] == blocks["block"].str[:11]).all()
    assert blocks[["design", "block"]].equals(blocks[["design", "block"]].sort_values(["design", "block"]))


def test_a_number_of_households_can_be_asked_for(sizes: pd.DataFrame) -> None:
    blocks = sample_blocks(sizes, {"four": Design(size=4, blocks_per_state=15)}, 1)
    assert blocks["n_households"].tolist() == [4] * 30


def test_the_seed_alone_decides(sizes: pd.DataFrame) -> None:
    one = sample_blocks(sizes, DESIGNS, 1)
    assert one.equals(sample_blocks(sizes.sample(frac=1, random_state=0), DESIGNS, 1))
    assert not one.equals(sample_blocks(sizes, DESIGNS, 2))


def test_designs_are_drawn_independently(sizes: pd.DataFrame) -> None:
    """Neither the presence nor the order of another design moves a draw; two designs of one size draw apart."""
    both = sample_blocks(sizes, DESIGNS, 1)
    for name, settings in DESIGNS.items():
        alone = sample_blocks(sizes, {name: settings}, 1)
        assert alone.equals(both[both["design"] == name].reset_index(drop=True))
    assert both.equals(sample_blocks(sizes, dict(reversed(DESIGNS.items())), 1))
    twins = sample_blocks(sizes, {"a": Design(size=4, blocks_per_state=5), "b": Design(size=4, blocks_per_state=5)}, 1)
    drawn = {design: set(rows["block"]) for design, rows in twins.groupby("design")}
    assert drawn["a"] != drawn["b"]


def test_a_block_of_two_designs_is_listed_twice() -> None:
    sizes = sizes_of({"01": [3, 3, 3]})
    blocks = sample_blocks(sizes, {"a": Design(size=3, blocks_per_state=3), "b": Design(size=3, blocks_per_state=3)}, 1)
    assert blocks["block"].value_counts().tolist() == [2, 2, 2]
    assert batch_of(blocks["block"], 2) == {"010010201000000": 0, "010010201000001": 1, "010010201000002": 0}


def test_every_block_is_drawn_about_equally_often() -> None:
    sizes = sizes_of({"01": [3] * 10})
    settings = {"a": Design(size=3, blocks_per_state=2)}
    drawn = pd.concat([sample_blocks(sizes, settings, seed) for seed in range(150)])["block"].value_counts()
    assert len(drawn) == 10
    assert drawn.between(10, 50).all()  # expected 30, standard deviation 5


def test_too_few_blocks_say_what_exists(sizes: pd.DataFrame) -> None:
    with pytest.raises(DataError) as error:
        sample_blocks(sizes, {"nine": Design(size=9, blocks_per_state=6)}, 1)
    assert str(error.value) == (
        "state 01, design nine: 6 blocks of 9 households wanted, 0 exist (blocks by size: none of a near size). "
        "Ask for fewer blocks, another size or other states in config.yaml (sample.designs), or use more microdata."
    )
    with pytest.raises(
        DataError, match=r"state 56, design six: 21 .* 20 exist \(blocks by size: 15 of 4, 20 of 6, 5 of 9\)"
    ):
        sample_blocks(sizes[sizes["state"] == "56"], {"six": Design(size=6, blocks_per_state=21)}, 1)


def test_batches_share_the_blocks_out_evenly() -> None:
    blocks = [f"{number:015d}" for number in np.random.default_rng(1).permutation(50)]
    batches = batch_of(pd.Series(blocks + blocks[:10]), 8)
    assert set(batches) == set(blocks)
    assert sorted(pd.Series(batches).value_counts()) == [6] * 6 + [7] * 2
    assert batch_of(pd.Series(sorted(blocks)), 8) == batches
    assert set(batch_of(pd.Series(blocks[:3]), 8).values()) == {0, 1, 2}


def test_batches_are_runs_of_neighbours_that_cost_about_the_same() -> None:
    """Sizes as of real blocks: many small ones, few large."""
    sizes = np.minimum(np.random.default_rng(1).geometric(0.02, 400), 400)
    sample = pd.DataFrame({"block": [f"{number:015d}" for number in range(400)], "n_households": sizes})
    found = batches_of(sample, 12, 100)
    assert found["block"].tolist() == sample["block"].tolist()
    assert found["batch"].is_monotonic_increasing
    loads = found["n_households"].map(block_seconds).groupby(found["batch"]).sum()
    assert len(loads) == 12
    assert loads.max() - loads.min() < 2 * block_seconds(400), "they differ by no more than a block at either end"
    assert batches_of(sample.iloc[::-1], 12, 100).equals(found)


def test_no_batch_holds_more_blocks_than_allowed() -> None:
    """One block costs as much as all the others together, which still do not share one job."""
    sample = pd.DataFrame({"block": ["large", *(f"small{n:02d}" for n in range(19))], "n_households": [1000, *[1] * 19]})
    assert batches_of(sample, 2, 10)["batch"].value_counts().tolist() == [10, 10]
    few = pd.DataFrame({"block": ["a", "b"], "n_households": [3, 2]})
    assert len(set(batches_of(few, 5, 10)["batch"])) == 2, "more jobs than blocks: some have none"


def test_a_block_of_two_designs_has_one_job() -> None:
    sample = pd.DataFrame({"block": ["b", "a", "b"], "n_households": [2, 1, 2], "design": ["one", "one", "two"]})
    assert households_of(sample) == {"a": 1, "b": 2}
    assert batches_of(sample, 1, 9)["block"].tolist() == ["a", "b"]


def settings_of(**changes: Any) -> Sample:
    return Sample(**{"universe": "all", "designs": {}, "all_blocks": {}, "batches": 2, "blocks_per_batch": 100, **changes})


def test_all_blocks_of_a_state_up_to_a_size(sizes: pd.DataFrame) -> None:
    settings = settings_of(designs={"gone": None}, all_blocks={"small": {"states": ["01"], "up_to": 2}, "gone_too": None})
    blocks = choose_blocks(sizes, settings, 1)
    assert list(blocks) == COLUMNS
    expected = sizes[(sizes["state"] == "01") & (sizes["n"] <= 2)]
    assert blocks["block"].tolist() == sorted(expected["block"])
    assert set(blocks["design"]) == {"small"}
    every = choose_blocks(sizes, settings_of(all_blocks={"every": {"states": "all", "up_to": 1000}}), 1)
    assert every["block"].tolist() == sorted(sizes["block"])
    assert every["n_households"].dtype == sample_blocks(sizes, DESIGNS, 1)["n_households"].dtype


def test_drawn_and_whole_designs_stand_beside_each_other(sizes: pd.DataFrame) -> None:
    both = choose_blocks(sizes, settings_of(designs=DESIGNS, all_blocks={"every": {"states": "all", "up_to": 4}}), 1)
    assert (
        both[both["design"] != "every"]
        .reset_index(drop=True)
        .equals(sample_blocks(sizes, DESIGNS, 1).sort_values(["design", "block"], ignore_index=True))
    )
    assert both.equals(both.sort_values(["design", "block"], ignore_index=True))
    assert (both["design"] == "every").sum() == (sizes["n"] <= 4).sum()


@pytest.mark.parametrize(
    ("whole", "message"),
    [
        ({"states": ["13"], "up_to": 5}, r"design all: the microdata hold no state '13': .*known: 01, 56"),
        ({"states": ["56"], "up_to": 3}, "design all: no block has at most 3 households"),
        ({"states": "all", "up_to": 99}, r"85 blocks in 2 batches are more than 40 a batch .*sample\.batches to 3 or more"),
    ],
)
def test_what_cannot_be_listed_is_said(sizes: pd.DataFrame, whole: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        choose_blocks(sizes, settings_of(all_blocks={"all": whole}, blocks_per_batch=40), 1)


def test_the_number_of_batches_follows_from_what_is_drawn() -> None:
    drawn = {"state_median": {"size": "state_median", "blocks_per_state": 5}, "large": {"size": 400, "blocks_per_state": 5}}
    one, both = ({name: drawn[name] for name in list(drawn)[:count]} for count in (1, 2))
    auto = {"batches": "auto", "blocks_per_batch": 250}
    assert number_of_batches(settings_of(batches=7, designs=both)) == 7
    assert number_of_batches(settings_of(**auto, designs=one)) == 2
    assert number_of_batches(settings_of(**auto, designs=both)) > 15, "larger blocks, more jobs"
    assert number_of_batches(settings_of(**{**auto, "blocks_per_batch": 10}, designs=one)) == 26, "a job may have so many"
    assert number_of_batches(settings_of(**auto, all_blocks={"whole": {"states": "all", "up_to": 9}})) == 25


def test_a_design_draws_from_its_states_as_a_design_of_all_does(sizes: pd.DataFrame) -> None:
    every, some = (Design(size=4, blocks_per_state=3, **states) for states in ({}, {"states": ["56"]}))
    drawn, whole = (sample_blocks(sizes, {"fours": design}, 1) for design in (some, every))
    assert drawn["block"].tolist() == whole.loc[whole["state"] == "56", "block"].tolist()
    assert "states" not in every.model_dump()  # jobs of designs without it do not see the setting


@pytest.mark.parametrize(
    ("design", "why"),
    [
        ({"size": 4, "states": ["65"]}, "design odd: the microdata hold no state '65': known: 01, 56"),
        ({"size": 9, "states": ["01", "56"]}, "state 01, design odd: 1 blocks of 9 households wanted, 0 exist"),
    ],
)
def test_states_that_do_not_exist_or_have_no_such_block_are_named(
    sizes: pd.DataFrame, design: dict[str, Any], why: str
) -> None:
    with pytest.raises(DataError) as error:
        sample_blocks(sizes, {"odd": Design(blocks_per_state=1, **design)}, 1)
    assert str(error.value).startswith(why)


def test_a_design_that_is_added_leaves_the_batches_of_the_others() -> None:
    medians = {name: {"size": name, "blocks_per_state": 5} for name in ("state_median", "country_median")}
    fours = {"fours": {"size": 4, "blocks_per_state": 60}}
    whole = {"every": {"states": ["13"], "up_to": 4}}
    auto: dict[str, Any] = {"batches": "auto", "blocks_per_batch": 2000}
    before = parts_of(settings_of(**auto, designs=medians))
    after = parts_of(settings_of(**auto, designs={**medians, "none": None, **fours}, all_blocks=whole))
    assert list(after) == ["state_median", "fours", "every"]
    assert {name: part.batches for name, part in after.items() if name in before} == {
        "state_median": before["state_median"].batches
    }
    assert after["state_median"].sample == before["state_median"].sample
    assert before["state_median"].sample.model_dump() == settings_of(**auto, designs=medians).model_dump()
    batches = [batch for part in after.values() for batch in part.batches]
    assert batches == [f"{batch:03d}" for batch in range(len(batches))]
    larger = {**medians, "more": {"size": "state_median", "blocks_per_state": 9}}
    assert list(parts_of(settings_of(**auto, designs=larger))) == ["state_median", "more"]


def test_costs_grow_with_households_and_times_are_said_as_one_reads_them() -> None:
    assert [round(block_seconds(n), 3) for n in (1, 10, 100)] == [0.021, 0.025, 0.105]
    assert [in_words(seconds) for seconds in (42, 600, 7300)] == ["42 s", "10 min", "2.0 h"]


def test_classes_of_sizes_are_named() -> None:
    assert [named(class_) for class_ in CLASSES[-2:]] == ["151-400", "over 400"]
