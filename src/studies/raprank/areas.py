"""The areas of an experiment: sampled blocks, six blocks of each state by size, a tract of each state, or states."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.errors import DataError
from genverify.core.seeds import derive_seed
from genverify.papers.raprank.settings import ResolvedExperiment

SHARES_OF_MAX = {"max": 1, "max/2": 2, "max/4": 4, "max/8": 8, "max/16": 16}
COLUMNS = ["area", "block", "size", "n"]


def draw_areas(sizes: pd.DataFrame, sample: set[str], experiment: ResolvedExperiment, seed: int) -> pd.DataFrame:
    """
    The blocks of every area: area, block, size (the word for which it was drawn) and n, the records of the block.

    `sizes` has one row per block (block, tract, state, n), `sample` the blocks of the study. The draw depends on the data
    and the kind of area, not on the experiment's name: two experiments on the same areas reconstruct the same records.
    """
    states = _largest_states(sizes, experiment.states)
    sizes = sizes[sizes["state"].isin(states)]
    kind = experiment.areas
    if kind == "sample":
        drawn = [_areas(sizes[sizes["block"].isin(sample)], "block", "sample")]
    elif kind == "state":
        drawn = [_areas(sizes, "state", "state")]
    else:
        draw = _blocks_by_size if kind == "block" else _tracts
        seeds = {state: derive_seed(seed, "areas", experiment.data, kind, state) for state in states}
        streams = {state: np.random.default_rng(own) for state, own in seeds.items()}
        drawn = [draw(own, experiment, streams[str(state)]) for state, own in sizes.groupby("state")]
    return pd.concat(drawn, ignore_index=True).sort_values(["area", "block"], ignore_index=True)[COLUMNS]


def _areas(blocks: pd.DataFrame, level: str, size: str) -> pd.DataFrame:
    return blocks.assign(area=blocks[level], size=size)


def _largest_states(sizes: pd.DataFrame, count: int | None) -> list[str]:
    totals = sizes.groupby("state")["n"].sum().sort_values(ascending=False, kind="stable")
    return sorted(map(str, totals.index[:count]))


def _blocks_by_size(blocks: pd.DataFrame, experiment: ResolvedExperiment, rng: np.random.Generator) -> pd.DataFrame:
    """The blocks closest in size to the mean, the maximum M, M/2, M/4, M/8 and M/16, each another one."""
    limit = experiment.limit
    fitting = blocks[blocks["n"] <= limit] if limit else blocks
    wanted = {"mean": float(blocks["n"].mean())}
    wanted |= {name: float(fitting["n"].max()) / part for name, part in SHARES_OF_MAX.items()}
    if len(fitting) < len(wanted):
        raise DataError(
            f"state {blocks['state'].iloc[0]}: {len(fitting)} blocks{f' of at most {limit} records' if limit else ''}, "
            f"{len(wanted)} are needed. Raise the limit of the experiment in config/raprank.yaml (raprank.experiments), or "
            "set `states`: the largest ones are taken."
        )
    left = fitting.sort_values("block").iloc[rng.permutation(len(fitting))]
    chosen = []
    for name, size in wanted.items():
        place = int((left["n"] - size).abs().to_numpy().argmin())
        chosen.append(_areas(left.iloc[[place]], "block", name))
        left = left.drop(left.index[place])
    return pd.concat(chosen)


def _tracts(blocks: pd.DataFrame, experiment: ResolvedExperiment, rng: np.random.Generator) -> pd.DataFrame:
    """Some tracts at random, or all of them."""
    drawn = rng.permutation(np.sort(blocks["tract"].unique()))[: experiment.tracts]
    return pd.concat([_tract(blocks[blocks["tract"] == tract], experiment.limit, rng) for tract in np.sort(drawn)])


def _tract(own: pd.DataFrame, limit: int | None, rng: np.random.Generator) -> pd.DataFrame:
    """A tract; where it is larger than the limit, whole blocks of it in random order, each that still fits."""
    tract = own["tract"].iloc[0]
    own = own.sort_values("block").iloc[rng.permutation(len(own))]
    if limit:
        own = own.loc[list(_fitting(own["n"], limit))]
    if own.empty:
        raise DataError(
            f"tract {tract}: no block of at most {limit} records. Raise the limit of the experiment in config/raprank.yaml."
        )
    return _areas(own, "tract", "tract")


def _fitting(sizes: "pd.Series[int]", limit: int) -> Iterator[Any]:
    total = 0
    for label, n in sizes.items():
        if total + n <= limit:
            total += int(n)
            yield label
