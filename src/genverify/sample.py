"""Sampling of blocks: so many of a given size from every state, as the paper does."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from genverify.errors import DataError
from genverify.seeds import derive_seed

COLUMNS = ["block", "state", "county", "tract", "design", "n_households"]


def sample_blocks(sizes: pd.DataFrame, designs: Mapping[str, Mapping[str, Any]], seed: int) -> pd.DataFrame:
    """
    The blocks of every design, drawn independently of each other: a block of two designs is listed twice.

    `sizes` has one row per block: block, state, county, tract and n, its number of households.
    """
    country_median = lower_median(sizes["n"])
    drawn = []
    for design, settings in designs.items():
        for state, blocks in sizes.groupby("state", sort=True):
            size = _size(settings["size"], blocks["n"], country_median)
            rng = np.random.default_rng(derive_seed(seed, "sample", design, str(state)))
            drawn.append(_draw(blocks, size, settings["blocks_per_state"], rng, f"state {state}, design {design}"))
            drawn[-1]["design"] = design
    frame = pd.concat(drawn).rename(columns={"n": "n_households"})
    frame["n_households"] = frame["n_households"].astype("int32")
    return frame[COLUMNS].sort_values(["design", "block"], ignore_index=True)


def lower_median(values: "pd.Series[int]") -> int:
    """
    The median as a size that exists; of the two middle values the smaller one.

    >>> lower_median(pd.Series([1, 2, 9, 10]))
    2
    """
    ordered = np.sort(values.to_numpy())
    return int(ordered[(len(ordered) - 1) // 2])


def _size(size: str | int, state_sizes: "pd.Series[int]", country_median: int) -> int:
    named = {"state_median": lambda: lower_median(state_sizes), "country_median": lambda: country_median}
    return named[size]() if isinstance(size, str) else size


def _draw(blocks: pd.DataFrame, size: int, count: int, rng: np.random.Generator, where: str) -> pd.DataFrame:
    fitting = blocks[blocks["n"] == size].sort_values("block")
    if len(fitting) < count:
        near = blocks["n"][(blocks["n"] - size).abs() <= 3].value_counts().sort_index()
        exist = ", ".join(f"{number} of {n}" for n, number in near.items()) or "none of a near size"
        raise DataError(
            f"{where}: {count} blocks of {size} households wanted, {len(fitting)} exist (blocks by size: {exist}). "
            "Ask for fewer blocks or another size in config.yaml (sample.designs), or use more microdata."
        )
    return fitting.iloc[np.sort(rng.choice(len(fitting), count, replace=False))].copy()


def draw_blocks(sample: pd.DataFrame, design: str, number: int, seed: int, purpose: str) -> set[str]:
    """So many sampled blocks of a design (all, if it has fewer), for work that need not be done on every one of them."""
    blocks = sample.loc[sample["design"] == design, "block"].sort_values()
    rng = np.random.default_rng(derive_seed(seed, purpose))
    return set(rng.choice(blocks.to_numpy(dtype=str), min(number, len(blocks)), replace=False).tolist())


def batch_of(blocks: "pd.Series[str]", batches: int) -> dict[str, int]:
    """The job that works on each block: distinct blocks in order, dealt out in turn."""
    return {block: place % batches for place, block in enumerate(sorted(set(blocks)))}
