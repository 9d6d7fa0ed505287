"""Who lives beside whom: how the households of a place come to be alike, and the law of the households of a block."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Floats, Ints
from genverify.model.domain import DomainFile, Records
from genverify.model.errors import DataError
from studies.country.composition import GROUP, Composition, composition_of, log_dirichlet
from studies.country.people import (
    LEVELS,
    TENURE,
    TRAITS,
    Country,
    Likeness,
    Margin,
    Types,
    margins_of,
    odds_of_types,
    pick,
    pick_cells,
    possible_types,
    rake,
)

# How the households of a place come to be alike: the weights that the law of its households gives to cells and to traits.
#
# Three generators: around a prototype household, by shares drawn from a Dirichlet distribution, by copies from an urn.

ROUNDS = 50  # of a fixed point, always the same number, so that a country is the same everywhere
RAREST = 1e-9  # of the nation: a kind with a smaller share is an artefact of smooth odds, and not drawn as a rare one
MOST_COPIES = 0.95  # below 1: some households of a block are drawn, not repeated

Rows = npt.NDArray[np.intp]
Places = npt.NDArray[Any]


@dataclass(frozen=True)
class Groups:
    """
    The groups of columns in which neighbours are alike: the combination of codes that each cell or traits has in each.

    `shares` has the nation's share of each combination, group by group. Where race and origin are those of real blocks,
    `traits` is how they go together with tenure, and the columns of `nation` and of `of_traits` are tenures alone.
    """

    likeness: Likeness
    of_cells: tuple[Rows | None, ...]
    of_traits: tuple[Rows | None, ...]
    shares: tuple[Floats, ...]
    nation: Floats
    traits: "Traits | None" = None


@dataclass(frozen=True)
class Traits:
    """
    The tenure, and the race and origin, of each combination of traits, numbered; and how they go together in the nation:
    `given` has the share of each combination among the households of its cell and tenure.
    """

    tenure: Rows
    group: Rows
    given: Floats

    def chances(self, weights: Floats, shares: Floats) -> Floats:
        """Factors (blocks x traits) for which the weights have the given shares of races and origins in every block."""
        sums = np.maximum(weights @ np.eye(shares.shape[1])[self.group], np.finfo(float).tiny)
        return np.asarray((shares / sums)[:, self.group])


class Neighbours(ABC):
    """Places of a level, drawn around those of the level above, and what they make of the nation's law."""

    copies = 0.0  # the chance that a household repeats another of its block

    @abstractmethod
    def nation(self) -> Places:
        """The place around the states."""

    @abstractmethod
    def below(self, level: str, around: Places, rng: np.random.Generator, shares: Floats | None = None) -> Places:
        """One place of this level inside each given place; `shares` of races and origins, where blocks are as real ones."""

    @abstractmethod
    def weights(self, blocks: Places) -> tuple[Floats, Floats]:
        """f (blocks x cells) and g (blocks x traits): a household's chance is the joint distribution times both."""

    def moved(self, wanted: Floats) -> "Neighbours":
        """The same, with blocks of some cells and traits more often drawn: `wanted` times as often as now."""
        del wanted
        return self


class Prototypes(Neighbours):
    """
    Each place has a prototype household. A household of a block is likely where it is like the block's prototype; this is
    drawn around the tract's, and so on up to the nation.

    The kernel of a level is exp(-strength of every group in which two households differ); that of the tracts, say, decides
    how alike the prototypes of their blocks are, that of the blocks how alike their households. Households drawn around
    prototypes crowd at what is common, so prototypes are drawn from the distribution for which households come out as the
    nation's (by the EM algorithm). Every level keeps this distribution (Sinkhorn scaling).
    """

    def __init__(self, groups: Groups, scale: float, block_scale: float, copies: float = 0.0) -> None:
        self.copies = copies
        levels = {level: scale * (block_scale if level == "block" else 1.0) for level in LEVELS}
        self._kernels = {level: _kernels(groups, level, times) for level, times in levels.items()}
        self._prototypes = _mixing(groups.nation, *self._kernels["block"])
        self._bases = {level: _scaled(self._prototypes, *kernels) for level, kernels in self._kernels.items()}
        self._shape, self._traits, self._blocks = groups.nation.shape, groups.traits, self._bases["tract"]
        if self._traits:
            self._blocks = self._blocks[:, self._traits.tenure] * self._traits.given

    def nation(self) -> Places:
        return np.full((1, 2), -1)

    def below(self, level: str, around: Places, rng: np.random.Generator, shares: Floats | None = None) -> Places:
        if level == "state":
            ones, base = (np.ones((len(around), size)) for size in self._shape), self._prototypes
            f, g = ones
        else:
            f, g = self._seen(_ABOVE[level], around)
            base = self._blocks if level == "block" else self._bases[_ABOVE[level]]
        row, uniform = np.arange(len(around)), rng.random((len(around), 2))
        if shares is None or self._traits is None:
            return np.stack(pick_cells(base, f, (f @ base) * g, row, uniform), axis=1)
        _, first, own = np.unique(around @ (self._shape[1], 1), return_index=True, return_inverse=True)
        weights = ((f[first] @ base) * g[first][:, self._traits.tenure])[own]  # blocks of a tract share them
        cells, traits = pick_cells(base, f, weights * self._traits.chances(weights, shares), row, uniform)
        return np.stack([cells, self._traits.tenure[traits]], axis=1)

    def weights(self, blocks: Places) -> tuple[Floats, Floats]:
        return self._seen("block", blocks)

    def moved(self, wanted: Floats) -> Neighbours:
        other = copy(self)
        other._blocks = self._blocks * wanted
        return other

    def _seen(self, level: str, places: Places) -> tuple[Floats, Floats]:
        cells, traits = self._kernels[level]
        return cells[places[:, 0]], traits[places[:, 1]]


_ABOVE = dict(zip(LEVELS[1:], LEVELS[:-1], strict=True))


def _kernels(groups: Groups, level: str, scale: float) -> tuple[Floats, Floats]:
    """The likeness of cells with cells, and of traits with traits."""
    found = []
    for size, codes in zip(groups.nation.shape, (groups.of_cells, groups.of_traits), strict=True):
        log = np.zeros((size, size))
        for group, own in zip(groups.likeness.groups, codes, strict=True):
            if own is not None:
                log -= scale * group.strength[level] * (own[:, None] != own)
        found.append(np.exp(log))
    return found[0], found[1]


def _mixing(nation: Floats, cells: Floats, traits: Floats) -> Floats:
    """The distribution of prototypes around which the households of all blocks come nearest to the nation's."""
    around = np.maximum(cells @ nation @ traits, np.finfo(float).tiny)
    prototypes = nation.copy()
    for _ in range(ROUNDS):
        households = nation * (cells @ (prototypes / around) @ traits)
        ratio = np.divide(nation, households, out=np.zeros_like(nation), where=households > 0)
        prototypes = prototypes / around * (cells @ (nation * ratio) @ traits)
    return np.asarray(prototypes / prototypes.sum(), dtype=np.float64)


def _scaled(prototypes: Floats, cells: Floats, traits: Floats) -> Floats:
    """The base b for which b(x) * kernel(x, y) * b(y) has the prototypes' distribution as margin on both sides."""
    base = prototypes.copy()
    for _ in range(ROUNDS):
        reached = base * (cells @ base @ traits)
        base *= np.sqrt(np.divide(prototypes, reached, out=np.zeros_like(base), where=reached > 0))
    return base


class Shares(Neighbours):
    """Shares of every group from a Dirichlet around those of the place around; `strength`: its inverse concentration."""

    def __init__(self, groups: Groups, scale: float) -> None:
        self._groups, self._scale = groups, scale

    def nation(self) -> Places:
        return np.log(np.concatenate(self._groups.shares))[None, :]

    def below(self, level: str, around: Places, rng: np.random.Generator, shares: Floats | None = None) -> Places:
        drawn: Floats = around.copy()
        for group, own in zip(self._groups.likeness.groups, self._spans(), strict=True):
            spread = self._scale * group.strength[level]
            if spread > 0:
                drawn[:, own] = log_dirichlet(np.exp(around[:, own]) / spread, rng)
        return drawn

    def weights(self, blocks: Places) -> tuple[Floats, Floats]:
        tilts = blocks - self.nation()
        found = []
        for size, codes in zip(self._groups.nation.shape, (self._groups.of_cells, self._groups.of_traits), strict=True):
            log = np.zeros((len(blocks), size))
            for own, span in zip(codes, self._spans(), strict=True):
                if own is not None:
                    log += tilts[:, span][:, own]
            found.append(np.exp(log - log.max(axis=1, keepdims=True)))
        return found[0], found[1]

    def _spans(self) -> list[slice]:
        ends = np.cumsum([0, *(shares.size for shares in self._groups.shares)]).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]


def neighbours_of(groups: Groups, homogeneity: float) -> Neighbours:
    """The generator that the country's file of likeness describes."""
    kind, scale = groups.likeness.kind, groups.likeness.scale
    if kind == "dirichlet":
        return Shares(groups, homogeneity * scale)
    if kind == "urn":
        return Prototypes(groups, homogeneity, 1.0, min(MOST_COPIES, homogeneity * scale))
    return Prototypes(groups, homogeneity, scale)


def sources(block: Ints, copies: float, rng: np.random.Generator) -> Ints:
    """Which household of its block (numbered in order) each one repeats, itself where none; never a copy of a copy."""
    source: Ints = np.arange(block.size)
    if copies == 0 or not block.size:
        return source
    before = source - np.searchsorted(block, block)
    uniform = rng.random((block.size, 2))
    repeats = (uniform[:, 0] < copies) & (before > 0)
    source = np.where(repeats, source - before + (uniform[:, 1] * before).astype(np.int64), source)
    while (source != (further := source[source])).any():
        source = further
    return source


# The law of the households of a block: the nation's, weighted by what is common in the block.


@dataclass(frozen=True)
class Model:
    """
    The law of a household: p_block(profile, traits) ~ joint(profile, traits) * f_block(profile) * g_block(traits).

    Profiles that f cannot distinguish form a cell: they stand together in `types`, `starts` has the first one of each cell.
    A share of the households, the newcomers, do not resemble their neighbours: their law is the national one, to the power
    `common`.
    """

    types: Types
    joint: Floats
    national: Floats
    newcomers: float
    starts: Ints
    neighbours: Neighbours
    composition: Composition | None = None
    common: float = field(default=1.0, kw_only=True)

    @cached_property
    def arriving(self) -> Floats:
        if self.common == 1:
            return self.national
        possible = self.national > RAREST * self.national.sum()
        return np.where(possible, np.maximum(self.national, np.finfo(float).tiny) ** self.common, 0.0)

    def by_cell(self) -> Floats:
        return np.add.reduceat(self.joint, self.starts, axis=0)

    def together(self) -> Iterable[Margin]:
        """What goes together in the nation and must in the country, besides the national margins."""
        return ()

    def mixed(self, f: Floats, g: Floats, shares: Floats, weights: Floats) -> Floats:
        """What weighted blocks together make of the joint distribution (cells x traits)."""
        del shares
        sums = ((f @ self.by_cell()) * g).sum(axis=1)
        return np.asarray(f.T @ (g * (weights / sums)[:, None]))

    def chances(self, by_cell: Floats, f: Floats, g: Floats, shares: Floats) -> Floats:
        """The chance of every combination of traits (blocks x traits), up to a factor of the block."""
        del shares
        return np.asarray((f @ by_cell) * g)

    def newcomers_of(self, traits: Ints, uniform: Floats) -> tuple[Ints, Ints]:
        """Profiles and traits of newcomers, in place of households of these traits."""
        drawn = pick(self.arriving.reshape(1, -1), np.zeros_like(traits), uniform[:, 1])
        profiles, found = np.divmod(drawn, self.arriving.shape[1])
        return profiles, found

    def urns(self, block: Ints, traits: Ints) -> Ints:
        """The households among which each one may repeat another: those of its block."""
        del traits
        return block


@dataclass(frozen=True)
class BlocksModel(Model):
    """
    The law where race and origin are those of real blocks: they are drawn by the shares of the block; given these
    p_block(profile, tenure) ~ joint(profile, traits) * f_block(profile) * g_block(tenure).

    Given race and origin, the law of newcomers is the national one; and a household repeats one of its race and origin.
    """

    traits: Traits = field(kw_only=True)

    def together(self) -> Iterable[Margin]:
        """Tenure, type, race and origin; tenure and age."""
        for columns in ((TENURE, "HHT", *GROUP), (TENURE, "THHLDRAGE")):
            codes = [self.types.records[name] for name in columns]
            _, cells = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
            yield Margin(cells.reshape(-1), np.bincount(cells.reshape(-1), self.national.ravel()).astype(np.float64))

    def mixed(self, f: Floats, g: Floats, shares: Floats, weights: Floats) -> Floats:
        return np.asarray(f.T @ (self._factors(self.by_cell(), f, g, shares)[0] * weights[:, None]))

    def chances(self, by_cell: Floats, f: Floats, g: Floats, shares: Floats) -> Floats:
        factors, inside = self._factors(by_cell, f, g, shares)
        return np.asarray(inside * factors)

    def newcomers_of(self, traits: Ints, uniform: Floats) -> tuple[Ints, Ints]:
        group = self.traits.group
        tenures = self.arriving.sum(axis=0) * (group == np.arange(group.max() + 1)[:, None])
        found = pick(tenures, group[traits], uniform[:, 1])
        return pick(self.arriving.T, found, uniform[:, 0]), found

    def urns(self, block: Ints, traits: Ints) -> Ints:
        group = self.traits.group
        return np.asarray(block * (group.max() + 1) + group[traits], dtype=np.int64)

    def _factors(self, by_cell: Floats, f: Floats, g: Floats, shares: Floats) -> tuple[Floats, Floats]:
        """What each block makes of the traits of its cells (blocks x traits), and their weights inside it."""
        inside, common = f @ by_cell, g[:, self.traits.tenure]
        return common * self.traits.chances(inside * common, shares), inside


def build_model(file: DomainFile, country: Country, kind: str, homogeneity: float) -> tuple[Model, tuple[Margin, ...]]:
    """The model before any place is known: its joint distribution has the national margins."""
    if kind not in country.likeness:
        raise DataError(f"likeness.yaml: the entry {kind} is missing; it describes microdata.synthetic.likeness: {kind}")
    likeness = country.likeness[kind]
    types, starts, margins, joint = national_law(file, country, likeness)
    by_cell = np.add.reduceat(joint, starts, axis=0)
    if country.blocks is None:
        neighbours = neighbours_of(_groups(types, starts, likeness, types.traits, by_cell), homogeneity)
        return Model(types, joint, joint, likeness.newcomers, starts, neighbours, common=likeness.common), margins
    tenures, tenure = np.unique(types.traits[TENURE], return_inverse=True)
    pairs, group = np.unique(np.stack([types.traits[name] for name in GROUP], axis=1), axis=0, return_inverse=True)
    tenure, group = tenure.reshape(-1), group.reshape(-1)
    nation = by_cell @ np.eye(len(tenures))[tenure]
    given = np.divide(by_cell, nation[:, tenure], out=np.zeros_like(by_cell), where=nation[:, tenure] > 0)
    traits = Traits(tenure, group, given)
    neighbours = neighbours_of(_groups(types, starts, likeness, {TENURE: tenures}, nation, traits), homogeneity)
    shares = np.bincount(group, joint.sum(axis=0)).astype(np.float64)
    composition = composition_of(country.blocks, pairs, shares, homogeneity)
    arrival = {"newcomers": likeness.newcomers, "common": likeness.common}
    return BlocksModel(types, joint, joint, starts=starts, neighbours=neighbours, composition=composition, traits=traits,
                       **arrival), margins  # fmt: skip


def national_law(file: DomainFile, country: Country, likeness: Likeness) -> tuple[Types, Ints, tuple[Margin, ...], Floats]:
    """The types in cells, the first profile of each cell, the national margins, and the joint distribution that has them."""
    # the order of the traits decides which household a random number gives: each of the two countries has always had its own
    order = TRAITS if country.blocks is None else (TENURE, *GROUP)
    types, starts = _in_cells(possible_types(file, order), likeness)
    margins = margins_of(file, country, types)
    return types, starts, margins, rake(odds_of_types(country, types), margins).reshape(types.shape)


def _in_cells(types: Types, likeness: Likeness) -> tuple[Types, Ints]:
    """The same types with the profiles of a cell together, and the first profile of each cell."""
    columns = [name for group in likeness.groups for name in group.columns]
    shown = [types.profiles[name] for name in columns if name in types.profiles]
    length = types.shape[0]
    _, cell = np.unique(np.stack([np.zeros(length), *shown], axis=1), axis=0, return_inverse=True)
    order = np.argsort(cell.reshape(-1), kind="stable")
    starts = np.flatnonzero(np.diff(cell.reshape(-1)[order], prepend=-1)).astype(np.int64)
    return Types({name: codes[order] for name, codes in types.profiles.items()}, types.traits), starts


def _groups(
    types: Types, starts: Ints, likeness: Likeness, others: Records, nation: Floats, traits: Traits | None = None
) -> Groups:
    """The groups of the likeness over the cells and the others (traits, or tenures alone), with the nation's shares."""
    cells = {name: codes[starts] for name, codes in types.profiles.items()}
    of_cells, of_traits, shares = [], [], []
    for group in likeness.groups:
        on_cells, on_traits = (_combinations(group.columns, records) for records in (cells, others))
        if on_cells is None and on_traits is None:
            both = f"{', '.join(types.profiles)}, or all of {', '.join(others)}"
            raise DataError(f"likeness.yaml, {' '.join(group.columns)}: the columns of a group must be all of {both}")
        of_cells.append(on_cells)
        of_traits.append(on_traits)
        shares.append(_shares(on_cells, nation.sum(axis=1)) + _shares(on_traits, nation.sum(axis=0)))
    return Groups(likeness, tuple(of_cells), tuple(of_traits), tuple(shares), nation, traits)


def _shares(combinations: Rows | None, weights: Floats) -> Floats:
    """The share of each combination, 0 where the group is about other columns."""
    return np.zeros(1) if combinations is None else np.bincount(combinations, weights).astype(np.float64)


def _combinations(columns: tuple[str, ...], records: Records) -> Rows | None:
    """The combination of codes that each record has in these columns, numbered; None where it lacks one of them."""
    if not set(columns) <= set(records):
        return None
    _, number = np.unique(np.stack([records[name] for name in columns], axis=1), axis=0, return_inverse=True)
    return np.asarray(number.reshape(-1), dtype=np.intp)
