"""Subsidized properties: where they stand, who lives in them (equation 7) and in how many bedrooms (appendix B, step 2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.core.errors import ConfigError, DataError

Block = Mapping[str, Ints]
"""The households of a block by column: SIZE, CHILDREN, RACE."""

BEDROOMS = (1, 2, 3)


@dataclass(frozen=True)
class Kind:
    """A kind of property: how common it is, its mean shares of units by bedrooms and of households with children."""

    name: str
    percent: float
    bedrooms: Floats
    children: float


@dataclass(frozen=True)
class PropertyModel:
    """What is assumed about properties; `occupancy` gives the most persons per unit by its bedrooms."""

    subsidized: tuple[float, float]
    others: tuple[float, float]
    kinds: tuple[Kind, ...]
    fit: float
    concentration: float
    races: Mapping[str, tuple[tuple[int, ...], float]]
    occupancy: Mapping[int, int]
    alpha: float
    smallest: int

    def violates(self, bedrooms: Any, size: Any) -> Any:
        """Whether a household of that size has more than two persons a bedroom."""
        limits = np.array([self.occupancy.get(code, np.iinfo(np.int32).max) for code in range(max(BEDROOMS) + 1)])
        return np.asarray(size) > limits[bedrooms]


def read_properties(
    text: Mapping[str, Any], occupancy: Mapping[int, int], alpha: float, smallest: int, where: str
) -> PropertyModel:
    """The table of assumptions, section `properties`."""
    try:
        kinds = tuple(_kind(name, kind, f"{where}: kinds.{name}") for name, kind in text["kinds"].items())
        sizes = [(float(text[name]["median"]), float(text[name]["spread"])) for name in ("subsidized", "others")]
        races = {name: (tuple(race["codes"]), float(race["odds"])) for name, race in text["races"].items()}
        fit, concentration = float(text["fit"]), float(text["concentration"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{where}: not a table of properties ({error!r}); see data/housing/simulation.yaml") from None
    if concentration <= 0 or min(odds for _, odds in races.values()) <= 0:
        raise DataError(f"{where}: concentration ({concentration}) and the odds of races must be greater than 0")
    return PropertyModel(sizes[0], sizes[1], kinds, fit, concentration, races, occupancy, alpha, smallest)


def _kind(name: str, text: Mapping[str, Any], where: str) -> Kind:
    bedrooms = np.array(text["bedrooms"], dtype=np.float64) / 100
    if len(bedrooms) != len(BEDROOMS) or bedrooms.min() < 0 or abs(bedrooms.sum() - 1) > 1e-9:
        raise DataError(f"{where}: bedrooms must be {len(BEDROOMS)} percentages that add up to 100, not {text['bedrooms']}")
    if not 0 <= text["children"] <= 100 or text["percent"] < 0:
        raise DataError(f"{where}: children ({text['children']}) and percent ({text['percent']}) are percentages")
    return Kind(name, float(text["percent"]), bedrooms, text["children"] / 100)


def place_properties(sizes: Ints, count: int, model: PropertyModel, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """
    Which blocks (places in `sizes`, households per block) hold a property, and how many subsidized households each has.

    Wanted sizes are drawn; from the largest down, each gets a block of that size or the next smaller one that is free, and
    keeps its share of subsidized households.
    """
    subsidized, others = (np.rint(_lognormal(*given, count, rng)) for given in (model.subsidized, model.others))
    subsidized = np.maximum(subsidized, model.smallest)
    wanted = subsidized + others
    largest_first = np.argsort(-wanted, kind="stable")
    free = rng.permutation(np.flatnonzero(sizes > model.smallest))
    free = free[np.argsort(-sizes[free], kind="stable")]
    if not len(free):
        remedy = "raise housing.households in config/housing.yaml"
        raise ConfigError(f"no block has more than {model.smallest} households: {remedy}")
    first = np.searchsorted(-sizes[free], -wanted[largest_first])
    place = np.maximum.accumulate(first - np.arange(count)) + np.arange(count)
    found = place < len(free)
    blocks, share = free[place[found]], (subsidized / wanted)[largest_first][found]
    return blocks, np.clip(np.rint(share * sizes[blocks]).astype(np.int64), model.smallest, sizes[blocks])


def _lognormal(median: float, spread: float, count: int, rng: np.random.Generator) -> Floats:
    return median * np.exp(spread * rng.standard_normal(count))


def draw_property(block: Block, subsidized: int, model: PropertyModel, rng: np.random.Generator) -> Ints:
    """BEDROOMS of each household of a block: 0 unless it lives in the property."""
    kind = _draw_kind(block, model, rng)
    attributes, shares = _shares(block, kind, model, rng)
    lone_minor = block["SIZE"] == block["CHILDREN"]
    chosen = draw_households(heuristic_likelihood(attributes, shares), lone_minor, subsidized, rng)
    bedrooms = np.zeros(len(block["SIZE"]), dtype=np.int64)
    mix = _vary(kind.bedrooms, model.concentration, rng)
    bedrooms[chosen] = draw_bedrooms(block["SIZE"][chosen], mix, model, rng)
    return bedrooms


def _draw_kind(block: Block, model: PropertyModel, rng: np.random.Generator) -> Kind:
    largest = [int(np.flatnonzero(kind.bedrooms)[-1]) + 1 for kind in model.kinds]
    fitting = np.array([1 - model.violates(bedrooms, block["SIZE"]).mean() for bedrooms in largest])
    weights = np.array([kind.percent for kind in model.kinds]) * fitting**model.fit
    if not weights.sum():
        weights = np.array([kind.percent for kind in model.kinds])
    return model.kinds[rng.choice(len(model.kinds), p=weights / weights.sum())]


def _shares(block: Block, kind: Kind, model: PropertyModel, rng: np.random.Generator) -> tuple[Flags, Floats]:
    """The binary attributes of each household that HUD counts, and the property's share of each, drawn."""
    columns, means = [block["CHILDREN"] > 0], [kind.children]
    for codes, odds in model.races.values():
        columns.append(np.isin(block["RACE"], codes))
        own = columns[-1].mean()
        means.append(odds * own / (odds * own + 1 - own))
    shares = [_vary(np.array([mean, 1 - mean]), model.concentration, rng)[0] for mean in means]
    return np.stack(columns, axis=1), np.array(shares)


def _vary(means: Floats, concentration: float, rng: np.random.Generator) -> Floats:
    """Shares around their means (Dirichlet); a share of 0 stays 0."""
    shares = np.zeros(len(means))
    positive = np.flatnonzero(means)
    shares[positive] = rng.dirichlet(means[positive] * concentration)
    return shares


def heuristic_likelihood(attributes: Flags, shares: Floats) -> Floats:
    """
    Equation (7): how likely each household of a block is subsidized, up to a factor.

    The product of the property's shares over the attributes that the household has or has not, divided by the share of the
    block's households with the very same attributes.

    >>> heuristic_likelihood(np.array([[True], [True], [False], [False]]), np.array([0.25])).tolist()
    [0.5, 0.5, 1.5, 1.5]
    """
    product = np.where(attributes, shares, 1 - shares).prod(axis=1)
    _, which, alike = np.unique(attributes, axis=0, return_inverse=True, return_counts=True)
    likelihood: Floats = product / (alike[which.ravel()] / len(attributes))
    return likelihood


def draw_households(likelihood: Floats, last: Flags, count: int, rng: np.random.Generator) -> Ints:
    """
    A number of households, drawn one after the other without replacement, in proportion to their likelihood.

    Where those with a likelihood above 0 run out, the others follow at random, and at the very end those marked `last`
    (a minor who lives alone holds no lease).
    """
    with np.errstate(divide="ignore"):
        keys = np.log(likelihood) + rng.gumbel(size=len(likelihood))
    order = np.lexsort((rng.random(len(likelihood)), -keys, last))
    return np.sort(order[:count])


def draw_bedrooms(size: Ints, mix: Floats, model: PropertyModel, rng: np.random.Generator) -> Ints:
    """Bedrooms of each subsidized household, from p_b * alpha^violation(b, household)."""
    against: npt.NDArray[np.bool_] = np.stack([model.violates(code, size) for code in BEDROOMS], axis=1)
    weights = mix * np.where(against, model.alpha, 1.0)
    weights = np.where(weights.any(axis=1, keepdims=True), weights, mix)  # alpha = 0, and no unit is large enough
    cumulated = np.cumsum(weights, axis=1)
    drawn = (rng.random(len(size))[:, None] * cumulated[:, -1:] >= cumulated[:, :-1]).sum(axis=1)
    codes: Ints = np.array(BEDROOMS)[drawn]
    return codes
