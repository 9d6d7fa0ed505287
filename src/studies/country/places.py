"""Where households live: the blocks of a state, their sizes, and the tracts and counties that they lie in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from genverify.core.arraytypes import Floats, Ints
from genverify.core.errors import ConfigError
from genverify.microdata.synthetic.country import Country, State

BLOCKS_OF_A_GROUP = 200


@dataclass(frozen=True)
class Places:
    """The blocks of a state in the order of their GEOIDs: size (occupied households), tract; the county of each tract."""

    state: State
    sizes: Ints
    tract: Ints
    county: Ints


def share_out(households: int, states: Sequence[State]) -> list[int]:
    """The households of each state: its share, rounded so that nobody is lost."""
    shares = np.array([state.share for state in states])
    exact = np.cumsum(shares) / shares.sum() * households
    parts = np.diff(np.rint(exact).astype(np.int64), prepend=0)
    for state, part in zip(states, parts, strict=True):
        if part < state.median:
            raise ConfigError(f"{households} households are too few: {state.name} would get {part}, less than one block")
    return [int(part) for part in parts]


def block_sizes(median: int, spread: float, households: int) -> Ints:
    """
    Sizes of blocks that hold the given households, ascending: the quantiles of a lognormal distribution.

    Their number is odd, so the median is exact; what rounding leaves over is added to the largest blocks.

    >>> block_sizes(3, 0.9, 40).tolist()
    [1, 1, 2, 2, 3, 4, 5, 8, 14]
    """
    number = int(households / (median * np.exp(spread**2 / 2)) * 1.1) | 1
    while (sizes := _quantiles(median, spread, number)).sum() > households:
        over = (sizes.sum() - households) / sizes.mean()
        number = max(1, number - max(2, 2 * int(over / 4)))
    largest = max(1, sizes.size // 2)
    each, rest = divmod(households - int(sizes.sum()), largest)
    sizes[-largest:] += each
    sizes[sizes.size - rest :] += 1
    return sizes


def _quantiles(median: int, spread: float, number: int) -> Ints:
    scores = ndtri((np.arange(number) + 0.5) / number)
    sizes: Ints = np.maximum(1, np.rint(median * np.exp(spread * scores))).astype(np.int64)
    return sizes


def lay_out(state: State, households: int, country: Country, rng: np.random.Generator) -> Places:
    """The blocks of a state in random order, cut into tracts of similar size and counties of neighbouring tracts."""
    sizes = rng.permutation(block_sizes(state.median, country.block_spread, households))
    tracts = min(sizes.size, max(2, round(households / country.tract_households)))
    tract = _cut(sizes, tracts)
    tracts = int(tract[-1]) + 1
    counties = round(tracts**0.5)
    return Places(state, sizes, tract, np.arange(tracts) * counties // tracts)


def _cut(sizes: Ints, parts: int) -> Ints:
    """Number consecutive blocks by part, the parts about equal in households and none empty."""
    middles = np.cumsum(sizes) - sizes / 2
    part: Ints = (middles * parts / sizes.sum()).astype(np.int64)
    _, numbers = np.unique(part, return_inverse=True)
    return np.asarray(numbers, dtype=np.int64)


def geoids(places: Places) -> list[str]:
    """The 15 digits of each block: state, county (odd numbers), tract, block (the first digit is the block group)."""
    first_tract = np.searchsorted(places.county, places.county)
    first_block = np.searchsorted(places.tract, places.tract)
    group, member = np.divmod(np.arange(places.tract.size) - first_block, BLOCKS_OF_A_GROUP)
    tracts = [
        f"{places.state.fips}{2 * county + 1:03d}{100 * (tract - first + 1):06d}"
        for tract, (county, first) in enumerate(zip(places.county, first_tract, strict=True))
    ]
    numbers = 1000 * (group + 1) + member
    return [f"{tracts[tract]}{number:04d}" for tract, number in zip(places.tract, numbers, strict=True)]


def vacant_units(places: Places, country: Country, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """The vacant units of a state: the block and the vacancy status of each, in the order of the blocks."""
    vacancy, tracts = country.vacancy, places.county.size
    odds = vacancy.percent / (100 - vacancy.percent) * np.exp(_spread(vacancy.rate, tracts, 1, rng))[:, 0]
    count = rng.poisson(places.sizes * odds[places.tract])
    block = np.repeat(np.arange(places.sizes.size), count)
    codes = np.array(list(vacancy.statuses))
    weights = np.array(list(vacancy.statuses.values())) * np.exp(_spread(vacancy.status, tracts, codes.size, rng))
    cumulated = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    chosen = (rng.random(block.size)[:, None] > cumulated[places.tract[block]]).sum(axis=1)
    return block, codes[np.minimum(chosen, codes.size - 1)]


def _spread(spread: Mapping[str, float], tracts: int, width: int, rng: np.random.Generator) -> Floats:
    """Normal deviations of a state and of its tracts, shifted so that their exponentials average 1."""
    state = spread["state"] * rng.standard_normal((1, width))
    tract = spread["tract"] * rng.standard_normal((tracts, width))
    shifted: Floats = state + tract - (spread["state"] ** 2 + spread["tract"] ** 2) / 2
    return shifted
