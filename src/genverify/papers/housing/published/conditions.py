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
    found = list(_tabulate(states, condition, smallest, published, seed))
    if not found:
        raise DataError("no household lives in a property: draw the households of the housing study again (draw_housing)")
    if condition.swap and not sum(moved for _, moved in found):
        raise DataError(_without_partners(condition))
    return _with_noise(pd.concat([part for part, _ in found], ignore_index=True), condition, published, budget, seed)


def _tabulate(
    states: Iterable[pd.DataFrame], condition: Condition, smallest: int, published: Mapping[str, Any], seed: int
) -> Iterator[tuple[pd.DataFrame, int]]:
    """The statistics of each state that holds a property, and how many of its households were swapped."""
    for households in states:
        own = property_households(households)
        if len(own):
            universe = own if condition.swap_among == "properties" else households
            counted, moved = swap_households(universe, condition, seed) if condition.swap else (own, 0)
            counted = counted[counted["block"].isin(own["block"])]
            hud = hud_statistics(counted if condition.swap_hud else own, published)
            hud = hud[hud["HUD_N"] >= smallest]
            yield join(census_statistics(counted[counted["block"].isin(hud["block"])]), hud), moved


def _without_partners(condition: Condition) -> str:
    among = "blocks with a property" if condition.swap_among == "properties" else "blocks"
    remedy = "take more blocks (housing.blocks)" + (" or swap_among: state" if condition.swap_among == "properties" else "")
    return (
        f"swap: {condition.swap}, but nobody moved: among the {among} of a state, no household was chosen that has another "
        f"of the same size and number of adults in a different block. {remedy[0].upper()}{remedy[1:]}, or raise swap."
    )


def swap_households(households: pd.DataFrame, condition: Condition, seed: int) -> tuple[pd.DataFrame, int]:
    """
    Households of a state after swapping among themselves, and how many moved; partners have the same size and adults.

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
    swapped = households.assign(**{name: households[name].to_numpy()[source] for name in moved})
    return swapped, int((source != np.arange(len(source))).sum())


def _with_noise(
    statistics: pd.DataFrame, condition: Condition, published: Mapping[str, Any], budget: Path | None, seed: int
) -> pd.DataFrame:
    if condition.noise == "none" and not condition.noise_hud:
        return statistics
    if budget is None:
        raise DataError("noise needs the file of budgets (data/housing/budget.yaml): name it for this condition")
    from genverify.papers.housing.published.appendix_f import read_budget, with_noise

    return with_noise(statistics, condition, read_budget(budget), published, seed)
