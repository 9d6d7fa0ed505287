"""The statistics of a condition: households swapped before the census counts them, noise on what is published."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.errors import DataError
from genverify.core.seeds import derive_seed
from genverify.microdata.store import GEOGRAPHY
from genverify.papers.housing.private.store import property_households
from genverify.papers.housing.published.statistics import census_statistics, hud_statistics, join
from genverify.papers.housing.settings import Condition

CENSUS_COLUMNS = ["SIZE", "CHILDREN", "RACE"]
"""What moves with a household that is swapped, where only the census swaps: the unit stays, and what HUD knows of it."""


def protect(
    states: Iterable[pd.DataFrame],
    condition: Condition,
    smallest: int,
    published: Mapping[str, Any],
    budget: Path | None,
    seed: int,
) -> pd.DataFrame:
    """
    The statistics of every block that holds a property, as they are published under a condition; `states` one by one.

    Nothing is said of a property with fewer than `smallest` households.
    """
    parts = list(_tabulate(states, condition, smallest, published, seed))
    if not parts:
        raise DataError("no household lives in a property: draw the households of the housing study again (draw_housing)")
    return _with_noise(pd.concat(parts, ignore_index=True), condition, published, budget, seed)


def _tabulate(
    states: Iterable[pd.DataFrame], condition: Condition, smallest: int, published: Mapping[str, Any], seed: int
) -> Iterator[pd.DataFrame]:
    for households in states:
        own = property_households(households)
        if len(own):
            counted = swap_households(households, condition, seed) if condition.swap else households
            counted = counted[counted["block"].isin(own["block"])]
            hud = hud_statistics(counted if condition.swap_hud else own, published)
            hud = hud[hud["HUD_N"] >= smallest]
            yield join(census_statistics(counted[counted["block"].isin(hud["block"])]), hud)


def swap_households(households: pd.DataFrame, condition: Condition, seed: int) -> pd.DataFrame:
    """
    The households of a state after swapping; partners have the same size and number of adults.

    With `swap_hud` a household takes its subsidy and its unit along: both releases are made of the swapped records.
    """
    from genverify.protect.swapping import Records, swap

    columns = {name: households[name].to_numpy().astype(np.int64) for name in CENSUS_COLUMNS}
    block, tract = (pd.factorize(households["block"].str.slice(0, GEOGRAPHY[of]), sort=True)[0] for of in ("block", "tract"))
    key = np.stack([columns["SIZE"], columns["SIZE"] - columns["CHILDREN"]], axis=1)
    records = Records(block, tract, key, np.stack(list(columns.values()), axis=1), columns["SIZE"])
    state = households["block"].iloc[0][: GEOGRAPHY["state"]]
    source = swap(records, condition.swap, np.random.default_rng(derive_seed(seed, "housing", "swap", state)))
    moved = [*CENSUS_COLUMNS, *(["BEDROOMS"] if condition.swap_hud else [])]
    return households.assign(**{name: households[name].to_numpy()[source] for name in moved})


def _with_noise(
    statistics: pd.DataFrame, condition: Condition, published: Mapping[str, Any], budget: Path | None, seed: int
) -> pd.DataFrame:
    if condition.noise == "none" and not condition.noise_hud:
        return statistics
    if budget is None:
        raise DataError("noise needs the file of budgets (data/housing/budget.yaml): name it for this condition")
    from genverify.papers.housing.published.appendix_f import read_budget, with_noise

    return with_noise(statistics, condition, read_budget(budget), published, seed)
