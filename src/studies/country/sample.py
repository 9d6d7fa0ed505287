"""The blocks of a study: a number of a given size from every state, as the paper draws them, and what each costs."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from genverify.model.errors import DataError, nearest
from genverify.model.work import derive_seed
from studies.country.settings import Design, Sample

# What the attack on a block costs, by its number of households: batches and the plan of a run reckon with it.

# seconds of one core per block (generated, verified and proved): what every block takes, and what grows with its households.
# Fitted to the built-in country (up to 5 households 0.022 s, 10 0.024, 50 0.055, 100 0.105, 200 0.22); batches need only the
# proportions. Real blocks, which are more diverse, cost several times as much, the large ones more so.
SECONDS_PER_BLOCK, SECONDS_PER_HOUSEHOLD, GROWTH = 0.021, 0.00021, 1.3


def block_seconds(households: int) -> float:
    """The seconds of one core that a block takes, about."""
    return SECONDS_PER_BLOCK + SECONDS_PER_HOUSEHOLD * math.pow(households, GROWTH)


# before the microdata are there: the most states, and the size of a block that is known only with them
STATES, TYPICAL_HOUSEHOLDS = 51, 10
# of work on blocks in the jobs of a batch (tabulation, generation, verification, baselines), so that their starts, more than
# half a second each, are a quarter of all; the default study has two batches, one for each core of a small machine
SECONDS_PER_BATCH = 8.0
WHOLE_BATCHES = 25  # where all blocks of states are asked for: how many there are is known only with the microdata


class Part(NamedTuple):
    """Designs whose blocks are divided into jobs together, as settings of a sample, and the names of these jobs."""

    sample: Sample
    batches: list[str]


def parts_of(settings: Sample) -> dict[str, Part]:
    """
    The designs in the order in which they are written, by the first name of each part. Medians of the same states and number
    are one part, as in the paper; every other design is its own, so that one that is added leaves the jobs of others alone.
    """
    both: dict[str, dict[str, Any]] = {"designs": settings.designs, "all_blocks": settings.all_blocks}
    together: dict[str, Any] = {name: name for designs in both.values() for name, design in designs.items() if design}
    for name, design in settings.designs.items():
        if design and isinstance(design.size, str):
            together[name] = design.blocks_per_state, str(design.states)
    parts: dict[str, Part] = {}
    for key in dict.fromkeys(together.values()):
        own = {kind: {name: one[name] for name in one if together.get(name) == key} for kind, one in both.items()}
        sample, first = settings.but(**own), sum(len(part.batches) for part in parts.values())
        names = [f"{first + batch:03d}" for batch in range(number_of_batches(sample))]
        parts[next(name for name in together if together[name] == key)] = Part(sample, names)
    return parts


def number_of_batches(settings: Sample) -> int:
    """As given, or from what the drawn blocks cost about: the same on every machine, so that files and bytes repeat."""
    if settings.batches != "auto":
        return settings.batches
    if any(settings.all_blocks.values()):
        return WHOLE_BATCHES
    sizes = {name: design.size for name, design in settings.designs.items() if design}
    blocks = {name: design.blocks_per_state * states_of(design) for name, design in settings.designs.items() if design}
    seconds = sum(
        blocks[name] * block_seconds(size if isinstance(size, int) else TYPICAL_HOUSEHOLDS) for name, size in sizes.items()
    )
    at_least = -(-sum(blocks.values()) // settings.blocks_per_batch)
    return max(1, math.ceil(seconds / SECONDS_PER_BATCH), at_least)


def states_of(design: Design, known: int = STATES) -> int:
    """How many states a design draws from, of those that are known."""
    return known if design.states == "all" else len(design.states)


def batches_of(sample: pd.DataFrame, batches: int, most: int) -> pd.DataFrame:
    """
    The job that works on each block: neighbours together, which stand together in the store, in runs that cost about the
    same; `most` blocks a job. Each block once, in order.
    """
    blocks = sample[["block", "n_households"]].drop_duplicates("block").sort_values("block", ignore_index=True)
    seconds = blocks["n_households"].map(block_seconds).to_numpy()
    wanted = np.searchsorted(np.cumsum(seconds) - seconds / 2, seconds.sum() * np.arange(1, batches) / batches)
    ends = [0]
    for batch, end in enumerate([*wanted.tolist(), len(blocks)], 1):
        ends.append(min(max(end, ends[-1], len(blocks) - (batches - batch) * most), ends[-1] + most))
    return blocks.assign(batch=np.repeat(np.arange(batches), np.diff(ends)))


def read_batch(path: Path, batch: str) -> set[str]:
    """The blocks of one job, from a file of all: other row groups are passed over."""
    return set(pd.read_parquet(path, columns=["block"], filters=[("batch", "==", int(batch))])["block"])


def households_of(sample: pd.DataFrame) -> dict[str, int]:
    """The number of households of each sampled block; a block of two designs is listed once."""
    return dict(zip(sample["block"].tolist(), sample["n_households"].tolist(), strict=True))


# The blocks of a study: a number of a given size from every state, as the paper does, or every block of chosen states.

COLUMNS = ["block", "state", "county", "tract", "design", "n_households"]


def choose_blocks(sizes: pd.DataFrame, settings: Sample, seed: int) -> pd.DataFrame:
    """The blocks of every design of the section `sample`, drawn or taken whole, sorted by design and block."""
    designs = {name: design for name, design in settings.designs.items() if design}
    found = [sample_blocks(sizes, designs, seed)] if designs else []
    found += [all_blocks(sizes, name, whole.states, whole.up_to) for name, whole in settings.all_blocks.items() if whole]
    blocks = pd.concat(found).sort_values(["design", "block"], ignore_index=True)
    number, most, batches = blocks["block"].nunique(), settings.blocks_per_batch, number_of_batches(settings)
    if number > batches * most:
        raise DataError(
            f"{number} blocks in {batches} batches are more than {most} a batch (sample.blocks_per_batch). "
            f"Set sample.batches to {-(-number // most)} or more in config.yaml."
        )
    return blocks


def all_blocks(sizes: pd.DataFrame, design: str, states: str | Sequence[str], up_to: int) -> pd.DataFrame:
    """Every block of the states that has at most `up_to` households."""
    inside = _inside(sizes, design, states)
    chosen = inside[inside["n"] <= up_to]
    if chosen.empty:
        raise DataError(f"design {design}: no block has at most {up_to} households. Raise up_to (sample.all_blocks).")
    return _listed(chosen.assign(design=design))


def _inside(sizes: pd.DataFrame, design: str, states: str | Sequence[str]) -> pd.DataFrame:
    """The blocks of the states that a design names."""
    known = set(sizes["state"])
    for state in [] if states == "all" else states:
        if state not in known:
            raise DataError(f"design {design}: the microdata hold no state {state!r}: {nearest(state, sorted(known))}")
    return sizes if states == "all" else sizes[sizes["state"].isin(list(states))]


def sample_blocks(sizes: pd.DataFrame, designs: Mapping[str, Design], seed: int) -> pd.DataFrame:
    """
    The blocks of every design, drawn independently of each other: a block of two designs is listed twice.

    `sizes` has one row per block: block, state, county, tract and n, its number of households.
    """
    medians = {"country_median": median_low(sizes["n"])}
    drawn = []
    for design, settings in designs.items():
        for state, blocks in _inside(sizes, design, settings.states).groupby("state", sort=True):
            medians["state_median"] = median_low(blocks["n"])
            size = medians[settings.size] if isinstance(settings.size, str) else settings.size
            rng = np.random.default_rng(derive_seed(seed, "sample", design, str(state)))
            drawn.append(_draw(blocks, size, settings.blocks_per_state, rng, f"state {state}, design {design}"))
            drawn[-1]["design"] = design
    return _listed(pd.concat(drawn))


def _listed(blocks: pd.DataFrame) -> pd.DataFrame:
    frame = blocks.rename(columns={"n": "n_households"}).astype({"n_households": "int32"})
    return frame[COLUMNS].sort_values(["design", "block"], ignore_index=True)


def _draw(blocks: pd.DataFrame, size: int, count: int, rng: np.random.Generator, where: str) -> pd.DataFrame:
    fitting = blocks[blocks["n"] == size].sort_values("block")
    if len(fitting) < count:
        near = blocks["n"][(blocks["n"] - size).abs() <= 3].value_counts().sort_index()
        exist = ", ".join(f"{number} of {n}" for n, number in near.items()) or "none of a near size"
        raise DataError(
            f"{where}: {count} blocks of {size} households wanted, {len(fitting)} exist (blocks by size: {exist}). "
            "Ask for fewer blocks, another size or other states in config.yaml (sample.designs), or use more microdata."
        )
    return fitting.iloc[np.sort(rng.choice(len(fitting), count, replace=False))].copy()


def draw_blocks(sample: pd.DataFrame, design: str, number: int, seed: int, purpose: str) -> set[str]:
    """A number of sampled blocks of a design (all, if it has fewer), for work that need not be done on every one of them."""
    blocks = sample.loc[sample["design"] == design, "block"].sort_values()
    rng = np.random.default_rng(derive_seed(seed, purpose))
    return set(rng.choice(blocks.to_numpy(dtype=str), min(number, len(blocks)), replace=False).tolist())


def chosen_blocks(sample: pd.DataFrame, design: str, number: int, seed: int, purpose: str) -> set[str]:
    """The same, with an error where the design has no blocks."""
    blocks = draw_blocks(sample, design, number, seed, purpose)
    if not blocks:
        known = nearest(design, sorted(set(sample["design"])))
        raise DataError(f"config.yaml: {purpose}.blocks.design is {design!r}, which has no sampled block: {known}")
    return blocks


def batch_of(blocks: "pd.Series[str]", batches: int) -> dict[str, int]:
    """The job that works on each block: distinct blocks in order, dealt out in turn."""
    return {block: place % batches for place, block in enumerate(sorted(set(blocks)))}
