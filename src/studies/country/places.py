"""Places and the households drawn for them, one table of housing units per state, and how homogeneous blocks came out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.domain import DomainFile
from genverify.model.errors import ConfigError
from genverify.model.query import Query
from studies.country.neighbours import Model, build_model, sources
from studies.country.neighbours import Places as Drawn
from studies.country.people import Country, Margin, State, pick_cells, rake, read_country
from studies.country.settings import Synthetic
from studies.country.store import GEOGRAPHY

# Where households live: the blocks of a state, their sizes, and the tracts and counties that they lie in.

BLOCKS_OF_A_GROUP = 200  # below 1000: the first of four digits of a block's number is its group


@dataclass(frozen=True)
class Places:
    """The blocks of a state by GEOID: size (occupied households), tract; the county of each tract, and if it is rural."""

    state: State
    sizes: Ints
    tract: Ints
    county: Ints
    rural: Flags


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


def sizes_of_blocks(settings: Synthetic) -> pd.DataFrame:
    """The occupied households of every block that a country will have, which no chance decides; under names of their own."""
    country = read_country(Path(settings.country))
    parts = zip(country.states, share_out(settings.households, country.states), strict=True)
    sizes = {state.fips: block_sizes(state.median, country.block_spread, households) for state, households in parts}
    frames = [pd.DataFrame({"state": state, "county": "", "tract": "", "n": own}) for state, own in sizes.items()]
    return pd.concat(frames, ignore_index=True).reset_index(names="block")


def _quantiles(median: int, spread: float, number: int) -> Ints:
    from scipy.special import ndtri  # Snakemake reads this module at its start, and so need not read scipy

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
    rural = int(tracts * rural_share(state, country) + rng.random())
    return Places(state, sizes, tract, np.arange(tracts) * counties // tracts, np.arange(tracts) >= tracts - rural)


def rural_share(state: State, country: Country) -> float:
    """The share of a state's tracts that are rural: as the nation's, and the smaller its blocks, the more; 0 if unknown."""
    if country.blocks is None:
        return 0.0
    shares = [(other.share, other.median) for other in country.states]
    typical = sum(share for share, _ in shares) / sum(share / median for share, median in shares)
    return min(1.0, country.blocks.rural * typical / state.median)


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


# The places of a state, and what is common in each: drawn level by level, for the blocks whenever they are read.

CHUNK_BLOCKS = 512  # bounds memory: weights of some blocks at a time


@dataclass(frozen=True)
class Neighbourhoods:
    """The blocks of a state, what was drawn for its tracts, and the stream from which its blocks are drawn, always alike."""

    places: Places
    model: Model
    tracts: Drawn
    shares: Floats
    stream: np.random.SeedSequence

    def blocks(self) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Weights f and g of the blocks and shares of their races and origins (none if not known), a chunk at a time."""
        neighbours, composition = self.model.neighbours, self.model.composition
        rng = np.random.default_rng(self.stream)
        for first in range(0, self.places.sizes.size, CHUNK_BLOCKS):
            chunk = slice(first, first + CHUNK_BLOCKS)
            tract, sizes = self.places.tract[chunk], self.places.sizes[chunk]
            shares = self.shares[tract]
            if composition:
                shares = composition.blocks(shares, self.places.rural[tract], sizes, rng)
            drawn = neighbours.below("block", self.tracts[tract], rng, shares if composition else None)
            yield chunk, *neighbours.weights(drawn), shares


def neighbourhoods(model: Model, places: Places, stream: np.random.SeedSequence) -> Neighbourhoods:
    """The tracts of a state, drawn around its counties, these around the state."""
    neighbours, composition = model.neighbours, model.composition
    above, below = stream.spawn(2)
    rng = np.random.default_rng(above)
    state = neighbours.below("state", neighbours.nation(), rng)
    counties = neighbours.below("county", np.repeat(state, int(places.county[-1]) + 1, axis=0), rng)
    tracts = neighbours.below("tract", counties[places.county], rng)
    none: Floats = np.zeros((places.county.size, 0))
    shares = composition.tracts(places.county, places.rural, rng) if composition else none
    return Neighbourhoods(places, model, tracts, shares, below)


# Fit the nation: likeness moves the margins, so the joint distribution is raked again over the blocks as they are.

POINTS = 16_384  # households of the sample: bounds time and memory, whatever the size of the country
MOVES = 3  # of the neighbourhoods; the joint distribution is fitted after them
ROUNDS = 16  # of raking: bounds time
BLOCKS_MOVES, BLOCKS_ROUNDS = 5, 8  # with race and origin of real blocks, which no other block changes
STEP = 1.5  # blocks that are alike answer weakly to a change of the joint distribution, so each step is lengthened


def fit(
    model: Model, margins: Sequence[Margin], country: Sequence[Neighbourhoods]
) -> tuple[Model, Sequence[Neighbourhoods]]:
    """
    The model, and the neighbourhoods, whose expected margins over the blocks of the country are the national ones.

    First the factors of races and origins, where they are those of real blocks; then other blocks are drawn: where nearly
    all households of a block have its prototype's race or tenure, only another prototype changes how many there are. Then
    the joint distribution is raked. Newcomers have the national margins already. The expectation is over a systematic
    sample: every k-th household stands for its block, so a small country is fitted over most of its blocks and a large one
    at the same cost.
    """
    moves, rounds = MOVES, ROUNDS
    if model.composition:
        *_, shares, weights = sample_blocks(country)
        model = replace(model, composition=model.composition.fitted(shares, weights))
        country = [replace(state, model=model) for state in country]
        moves, rounds = BLOCKS_MOVES, BLOCKS_ROUNDS
    margins = (*margins, *model.together())
    for _ in range(moves):
        expected = _expected(model, *sample_blocks(country))
        wanted = np.add.reduceat(_raked(expected, margins), model.starts, axis=0)
        now = np.add.reduceat(expected, model.starts, axis=0)
        moved = model.neighbours.moved(np.divide(wanted, now, out=np.ones_like(now), where=now > 0))
        model = replace(model, neighbours=moved)
        country = [replace(state, model=model) for state in country]
    sampled = sample_blocks(country)
    for _ in range(rounds):
        expected = _expected(model, *sampled)
        raked = _raked(expected, margins)
        joint = model.joint * np.divide(raked, expected, out=np.ones_like(raked), where=expected > 0) ** STEP
        model = replace(model, joint=joint / joint.sum())
    return model, country


def _expected(model: Model, f: Floats, g: Floats, shares: Floats, weights: Floats) -> Floats:
    """The distribution of the households of all sampled blocks."""
    mixed = model.mixed(f, g, shares, weights)
    return np.asarray(model.joint * np.repeat(mixed, np.diff(model.starts, append=len(model.joint)), axis=0))


def _raked(expected: Floats, margins: Sequence[Margin]) -> Floats:
    return rake(expected.ravel(), margins, rounds=3).reshape(expected.shape)


def sample_blocks(country: Sequence[Neighbourhoods]) -> tuple[Floats, Floats, Floats, Floats]:
    """f, g and shares of races and origins of the sampled blocks, and the share of the sampled households that each has."""
    counts, chosen = _hits([state.places.sizes for state in country]), []
    for state, hits in zip(country, counts, strict=True):
        chosen += [[part[hits[chunk] > 0] for part in drawn] for chunk, *drawn in state.blocks()]
    weights = np.concatenate([hits[hits > 0] for hits in counts])
    f, g, shares = (np.concatenate(parts) for parts in zip(*chosen, strict=True))
    return f, g, shares, weights / weights.sum()


def _hits(sizes: Sequence[Ints]) -> list[Ints]:
    """How many of the sampled households each block has, state by state."""
    last = np.cumsum(np.concatenate(sizes))
    points = (np.arange(POINTS) + 0.5) / POINTS * last[-1]
    hits = np.bincount(np.searchsorted(last, points, side="right"), minlength=last.size)
    return np.split(hits, np.cumsum([state.size for state in sizes])[:-1])


# Draw the households of a state from the law of their blocks.


def _draw(
    model: Model, law: tuple[Floats, Floats], parts: Sequence[Floats], sizes: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Draw the cell and the traits of each household, its profile given both; then the newcomers and the copies."""
    block = np.repeat(np.arange(sizes.size), sizes)
    uniform = rng.random((block.size, 4))
    cells, traits = pick_cells(law[0], parts[0], model.chances(law[0], *parts), block, uniform[:, :2])
    profiles = _profiles(model.starts, law[1], cells, traits, uniform[:, 2])
    new = np.flatnonzero(uniform[:, 3] < model.newcomers)
    if new.size:
        chances = np.stack([uniform[new, 2], uniform[new, 3] / model.newcomers], axis=1)
        profiles[new], traits[new] = model.newcomers_of(traits[new], chances)
    if model.neighbours.copies == 0:
        return profiles, traits
    urns = model.urns(block, traits)
    order = np.argsort(urns, kind="stable")
    source = order[sources(urns[order], model.neighbours.copies, rng)]
    return profiles[source], traits[source]


def _profiles(starts: Ints, cumulated: Floats, cells: Ints, traits: Ints, uniform: Floats) -> Ints:
    """A profile of each given cell, by the joint distribution: within a cell all blocks are alike."""
    first = starts[cells]
    last = np.append(starts[1:], len(cumulated))[cells] - 1
    below = np.where(first > 0, cumulated[first - 1, traits], 0.0)
    sought = below + uniform * (cumulated[last, traits] - below)
    rows = np.arange(cumulated.shape[1])
    flat = (cumulated + rows).T.ravel()
    found = np.searchsorted(flat, sought + traits, side="right") - traits * len(cumulated)
    return np.asarray(np.clip(found, first, last), dtype=np.int64)


# Draw the country: one table of housing units per state.


def synthesize(settings: Synthetic, seed: int, domain_file: DomainFile, country: Country) -> Iterator[pa.Table]:
    """The housing units of each state by FIPS code, sorted by block; each state has random streams of its own."""
    model, margins = build_model(domain_file, country, settings.likeness, settings.homogeneity)
    laid_out = list(states_of(settings, seed, country))
    fitted, drawn_states = fit(model, margins, [neighbourhoods(model, places, streams[0]) for places, streams in laid_out])
    cumulated = np.cumsum(fitted.joint, axis=0)  # over the profiles, for each combination of traits
    law = fitted.by_cell(), np.asarray(cumulated / cumulated[-1], dtype=np.float64)
    for drawn, (_, streams) in zip(drawn_states, laid_out, strict=True):
        rng, for_vacant = map(np.random.default_rng, streams[1:])
        parts = [_draw(fitted, law, part, drawn.places.sizes[chunk], rng) for chunk, *part in drawn.blocks()]
        profiles, traits = (np.concatenate(side) for side in zip(*parts, strict=True))
        vacant = vacant_units(drawn.places, country, for_vacant)
        yield _table(domain_file, fitted, drawn.places, (profiles, traits), vacant)


def states_of(settings: Synthetic, seed: int, country: Country) -> Iterator[tuple[Places, Sequence[np.random.SeedSequence]]]:
    """The places of each state, and the streams for what is drawn there."""
    for state, households in zip(country.states, share_out(settings.households, country.states), strict=True):
        first, *others = np.random.SeedSequence(seed, spawn_key=(int(state.fips),)).spawn(4)
        yield lay_out(state, households, country, np.random.default_rng(first)), others


def rural_tracts(settings: Synthetic, seed: int, country: Country) -> set[str]:
    """The digits of the rural tracts of the country that `synthesize` draws."""
    found: set[str] = set()
    for places, _ in states_of(settings, seed, country):
        blocks = zip(geoids(places), places.rural[places.tract].tolist(), strict=True)
        found |= {block[: GEOGRAPHY["tract"]] for block, rural in blocks if rural}
    return found


def _table(
    file: DomainFile, model: Model, places: Places, households: tuple[Ints, Ints], vacant: tuple[Ints, Ints]
) -> pa.Table:
    """The units of a state, sorted by block, in a block the occupied ones first."""
    block = np.concatenate([np.repeat(np.arange(places.sizes.size), places.sizes), vacant[0]])
    order = np.argsort(block, kind="stable")
    occupied = {name: codes[households[0]] for name, codes in model.types.profiles.items()}
    occupied |= {name: codes[households[1]] for name, codes in model.types.traits.items()}
    columns = {"block": pa.array(geoids(places), pa.string()).take(pa.array(block[order]))}
    for name in file.domain.names:
        codes = np.zeros(block.size, dtype=np.int8)
        if name in occupied:
            codes[: households[0].size] = occupied[name]
        else:
            codes[households[0].size :] = vacant[1]
        columns[name] = pa.array(codes[order])
    return pa.table(columns)


# How homogeneous the blocks came out: the shares of answers that are 0 and 1, the figures that the scales are fitted to.


def answer_shares(tables: Iterable[pa.Table], queries: Sequence[Query], size: int) -> dict[str, int | float]:
    """The shares of 0 and 1 among the answers on the occupied households of every block of this size, and how many."""
    answers = block_answers(pa.concat_tables([blocks_of_size(table, size) for table in tables]), queries)
    asked = max(1, answers.size)
    zeros, ones = int((answers == 0).sum()), int((answers == 1).sum())
    return {"size": size, "blocks": len(answers), "zeros": zeros / asked, "ones": ones / asked}


def blocks_of_size(table: pa.Table, size: int) -> pa.Table:
    """The occupied households of the blocks that have exactly this many of them."""
    occupied = table.filter(pc.equal(table["VACS"], 0))
    sizes = occupied.group_by("block").aggregate([("block", "count")])
    chosen = sizes.filter(pc.equal(sizes["block_count"], size))["block"].combine_chunks()
    return occupied.filter(pc.is_in(occupied["block"], chosen))


def block_answers(households: pa.Table, queries: Sequence[Query]) -> npt.NDArray[np.int64]:
    """The answers (blocks x queries) on the blocks of these households."""
    coded = households["block"].combine_chunks().dictionary_encode()
    block, blocks = coded.indices.to_numpy(), len(coded.dictionary)
    records = {name: households[name].to_numpy() for name in households.column_names[1:]}
    counts = [np.bincount(block, query.predicate.matches(records), blocks) for query in queries]
    return np.array(counts, dtype=np.int64).reshape(len(queries), blocks).T


def calibrate(
    settings: Synthetic, seed: int, domain_file: DomainFile, country: Country, queries: Sequence[Query],
    multipliers: Sequence[float], size: int = 10,
) -> Iterator[dict[str, str | int | float]]:  # fmt: skip
    """The shares of 0 and 1 on blocks of one size by kind of likeness and multiplier of homogeneity, all from one seed."""
    for kind, multiplier in product(country.likeness, multipliers):
        chosen = settings.model_copy(update={"likeness": kind, "homogeneity": multiplier})
        shares = answer_shares(synthesize(chosen, seed, domain_file, country), queries, size)
        yield {"likeness": kind, "homogeneity": multiplier, **shares}
