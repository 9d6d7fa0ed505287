"""What swapping leaves alone, and what it moves: in the census alone, or in both releases."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from housing_condition import UNPROTECTED
from studies.housing.statistics import protect, swap_households

PUBLISHED = read_yaml(Path(__file__).parents[3] / "data" / "housing" / "published.yaml")


def state(seed: int = 3) -> pd.DataFrame:
    """Twenty blocks of forty households in two tracts; every other block holds a property of fifteen."""
    rng = np.random.default_rng(seed)
    blocks = [f"01001{1 + place // 10:06d}{1001 + place}" for place in range(20)]
    size = rng.integers(1, 5, 800)
    bedrooms = np.where((np.arange(800) // 40 % 2 == 0) & (np.arange(800) % 40 < 15), rng.integers(1, 4, 800), 0)
    columns = {"SIZE": size, "CHILDREN": rng.integers(0, size), "RACE": rng.integers(1, 4, 800), "BEDROOMS": bedrooms}
    return pd.DataFrame({"block": np.repeat(blocks, 40), **columns})


def published(smallest: int = 11, **change: object) -> pd.DataFrame:
    return protect([state()], UNPROTECTED.but(**change), smallest, PUBLISHED, None, seed=5)


def test_a_swap_of_the_census_alone_changes_races_and_nothing_that_detection_uses() -> None:
    before, after = published(), published(swap=0.3)
    moved = [name for name in before if not before[name].equals(after[name])]
    assert moved
    assert all(name.startswith("RACE_") for name in moved)


def test_a_swap_of_both_releases_takes_the_subsidy_along() -> None:
    before, after = published(), published(swap=0.3, swap_hud=True, smallest=1)
    shared = before.set_index("block").index
    assert after["block"].tolist() == shared.tolist()
    assert (before[["N", "P", "CHILDREN", "SIZE_1"]] == after[["N", "P", "CHILDREN", "SIZE_1"]]).all(axis=None)
    assert (before["HUD_N"] != after["HUD_N"]).any()
    moved, exchanged = swap_households(state(), UNPROTECTED.but(swap=0.3, swap_hud=True), 5)
    assert exchanged == 0.3 * len(state())
    assert sorted(moved["BEDROOMS"]) == sorted(state()["BEDROOMS"])
    kinds = ["SIZE", "CHILDREN", "RACE", "BEDROOMS"]
    assert moved[kinds].value_counts().sort_index().equals(state()[kinds].value_counts().sort_index())


@pytest.mark.parametrize("smallest", [11, 14])
def test_a_property_that_swapping_makes_too_small_is_suppressed(smallest: int) -> None:
    everything = published(swap=0.4, swap_hud=True, smallest=1)
    kept = published(swap=0.4, swap_hud=True, smallest=smallest)
    assert kept["block"].tolist() == everything.loc[everything["HUD_N"] >= smallest, "block"].tolist()


def test_partners_come_from_the_blocks_with_a_property_or_from_all_of_the_state() -> None:
    among, anywhere = (published(swap=0.4, swap_hud=True, swap_among=name, smallest=1) for name in ("properties", "state"))
    before = published(smallest=1)
    assert among["HUD_N"].sum() == before["HUD_N"].sum(), "no subsidy leaves the blocks with a property"
    assert anywhere["HUD_N"].sum() < before["HUD_N"].sum()


def test_a_swap_without_partners_is_refused_with_a_remedy() -> None:
    alone = state()[lambda frame: frame["block"] == frame["block"].iloc[0]]
    with pytest.raises(
        DataError, match=r"swap: 0.5, but nobody moved: among the blocks with a property .* swap_among: state"
    ):
        protect([alone], UNPROTECTED.but(swap=0.5), 1, PUBLISHED, None, seed=5)
