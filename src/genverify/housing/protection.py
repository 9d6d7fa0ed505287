"""The statistics of a condition: households swapped before the census counts them, noise on what is published."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from genverify.errors import DataError
from genverify.housing.statistics import census_statistics, hud_statistics, join
from genverify.housing.store import property_households
from genverify.microdata.store import GEOGRAPHY
from genverify.seeds import derive_seed

CENSUS_COLUMNS = ["SIZE", "CHILDREN", "RACE"]
"""What moves with a household that is swapped; the unit stays, and so does what HUD knows of it."""


def protect(
    states: Iterable[pd.DataFrame], condition: Mapping[str, Any], published: Mapping[str, Any], seed: int
) -> pd.DataFrame:
    """The statistics of every block that holds a property, as they are published under a condition; `states` one by one."""
    parts = list(_tabulate(states, condition["swap"], published, seed))
    if not parts:
        raise DataError("no household lives in a property: draw the households of the housing study again (draw_housing)")
    return _with_noise(pd.concat(parts, ignore_index=True), condition, seed)


def is_protected(condition: Mapping[str, Any]) -> bool:
    """Whether anything is swapped or noised."""
    return bool(condition["swap"] or condition["noise"] != "none" or condition["noise_hud"])


def _tabulate(
    states: Iterable[pd.DataFrame], rate: float, published: Mapping[str, Any], seed: int
) -> Iterator[pd.DataFrame]:
    for households in states:
        own = property_households(households)
        if len(own):
            counted = swap_households(households, rate, seed) if rate else households
            census = census_statistics(counted[counted["block"].isin(own["block"])])
            yield join(census, hud_statistics(own, published))


def swap_households(households: pd.DataFrame, rate: float, seed: int) -> pd.DataFrame:
    """The households of a state after swapping; partners have the same size and number of adults."""
    from genverify.protect.swapping import Records, swap

    columns = {name: households[name].to_numpy().astype(np.int64) for name in CENSUS_COLUMNS}
    block, tract = (pd.factorize(households["block"].str.slice(0, GEOGRAPHY[of]), sort=True)[0] for of in ("block", "tract"))
    key = np.stack([columns["SIZE"], columns["SIZE"] - columns["CHILDREN"]], axis=1)
    records = Records(block, tract, key, np.stack(list(columns.values()), axis=1), columns["SIZE"])
    state = households["block"].iloc[0][: GEOGRAPHY["state"]]
    source = swap(records, rate, np.random.default_rng(derive_seed(seed, "housing", "swap", state)))
    return households.assign(**{name: households[name].to_numpy()[source] for name in CENSUS_COLUMNS})


def _with_noise(statistics: pd.DataFrame, condition: Mapping[str, Any], seed: int) -> pd.DataFrame:
    if condition["noise"] != "none":
        from genverify.housing.noise import noisy_census

        statistics = noisy_census(
            statistics, condition, np.random.default_rng(derive_seed(seed, "housing", "noise", "census"))
        )
    if condition["noise_hud"]:
        from genverify.housing.noise import noisy_hud

        statistics = noisy_hud(statistics, condition, np.random.default_rng(derive_seed(seed, "housing", "noise", "hud")))
    return statistics
