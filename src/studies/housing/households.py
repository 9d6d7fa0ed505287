"""Households of both releases: sizes, children and their chances; and the subsidized properties in which they live."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.domain import Domain, parse_domain
from genverify.model.errors import ConfigError, DataError, nearest
from genverify.model.files import read_yaml
from genverify.model.work import derive_seed
from studies.country.store import read_microdata

# A household of the two releases: its columns, what can be read off it, and the occupancy limit.

COLUMNS = ("BEDROOMS", "SIZE", "CHILDREN", "RACE")
LAST = "last"


@dataclass(frozen=True)
class Attribute:
    """Whether a column takes one of these codes, or a code from `least` on."""

    column: str
    codes: tuple[int, ...] | None
    least: int | None

    def read(self, codes: Ints) -> Ints:
        held = np.isin(codes, self.codes) if self.codes is not None else codes >= (self.least or 0)
        return held.astype(np.int64)


@dataclass(frozen=True, eq=False)
class HouseholdFile:
    """The columns (sizes as far as a block's counts allow), the attributes, and how many persons a unit may hold."""

    columns: Mapping[str, Any]
    attributes: Mapping[str, Attribute]
    occupancy: Mapping[int, int]

    @lru_cache(maxsize=256)  # noqa: B019  (one file a study, so nothing is kept alive)
    def domain(self, last: int) -> Domain:
        """The domain of a block whose households have at most a given number of persons."""
        return parse_domain({"columns": {name: _upto(entry, last) for name, entry in self.columns.items()}}).domain

    def values(self, name: str, households: pd.DataFrame) -> Ints:
        """A column or an attribute of every household."""
        if name in COLUMNS:
            return households[name].to_numpy(dtype=np.int64)
        if name not in self.attributes:
            raise DataError(f"no attribute {name!r} of a household: {nearest(name, [*COLUMNS, *self.attributes])}")
        attribute = self.attributes[name]
        return attribute.read(households[attribute.column].to_numpy(dtype=np.int64))

    def violates(self, bedrooms: Ints, size: Ints) -> Flags:
        """Which households have more than two persons per bedroom (those of the occupancy limit)."""
        flags = np.zeros(len(size), dtype=bool)
        for code, most in self.occupancy.items():
            flags |= (bedrooms == code) & (size > most)
        return flags


def _upto(entry: Mapping[str, Any], last: int) -> dict[str, Any]:
    if "range" not in entry:
        return dict(entry)
    return {**entry, "range": [last if end == LAST else end for end in entry["range"]]}


def read_household_file(path: Path) -> HouseholdFile:
    text = read_yaml(path)
    try:
        attributes = {str(name): _attribute(entry) for name, entry in text["attributes"].items()}
        occupancy = {int(code): int(most) for code, most in text["occupancy"].items()}
        found = HouseholdFile(text["columns"], attributes, occupancy)
        known = found.domain(7)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: not a household file ({error!r}); see data/housing/domain.yaml for the form") from None
    if known.names != COLUMNS:
        raise DataError(f"{path}: the columns are {', '.join(known.names)}; the housing study needs {', '.join(COLUMNS)}")
    return found


def _attribute(entry: Mapping[str, Any]) -> Attribute:
    codes = tuple(int(code) for code in entry["codes"]) if "codes" in entry else None
    return Attribute(str(entry["column"]), codes, None if codes is not None else int(entry["from"]))


# Exact sizes above 7 and numbers of children: the conditional distributions that the paper takes from PUMS (appendix B).

LARGEST = 7
"""The last size that the census counts by itself: 7 stands for 7 or more."""

ANY = -1
"""The group of a distribution over all groups."""


@dataclass(frozen=True)
class Distribution:
    """Whole numbers and their chances."""

    values: Ints
    chances: Floats

    @classmethod
    def of(cls, weights: Mapping[int, float]) -> "Distribution":
        kept = {value: weight for value, weight in sorted(weights.items()) if weight > 0}
        total = sum(kept.values())
        return cls(np.array(list(kept)), np.array([weight / total for weight in kept.values()]))

    def draw(self, count: int, rng: np.random.Generator) -> Ints:
        return self.values[rng.choice(len(self.values), size=count, p=self.chances)]


@dataclass(frozen=True)
class Conditionals:
    """
    How sizes and children are drawn: `sizes` by group and whether there is anybody under 18, `children` by group and size.

    A group is a set of codes of `column` (HHT2 or RACE); a household whose group is not known is drawn over all groups.
    """

    column: str
    groups: Mapping[int, int]
    sizes: Mapping[tuple[int, int], Distribution]
    children: Mapping[tuple[int, int], Distribution]
    another_child: float

    def group_of(self, codes: Ints) -> Ints:
        table = np.full(max([*self.groups, *codes.tolist()], default=0) + 1, ANY)
        table[list(self.groups)] = list(self.groups.values())
        return table[codes]


def read_conditionals(text: Mapping[str, Any], where: str) -> Conditionals:
    """The table of assumptions, section `households`."""
    try:
        sizes = {
            (ANY, with_children): _percentages(text["sizes"][name], LARGEST, f"{where}: sizes.{name}")
            for with_children, name in enumerate(("without_children", "with_children"))
        }
        groups: dict[int, int] = {}
        children: dict[tuple[int, int], Distribution] = {}
        for group, (name, rows) in enumerate(text["children"].items()):
            groups |= dict.fromkeys(rows["HHT2"], group)
            for size in range(2, LARGEST + 1):
                children[group, size] = _children(rows[size], size, f"{where}: children.{name}.{size}")
        return Conditionals("HHT2", groups, sizes, children, float(text["another_child"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{where}: not a table of households ({error!r}); see data/housing/simulation.yaml") from None


def _children(row: list[float], size: int, where: str) -> Distribution:
    found = _percentages(row, 1, where)
    if found.values[-1] >= size:
        raise DataError(f"{where}: {found.values[-1]} under 18 among {size} persons leave no adult; shorten the list")
    return found


def _percentages(row: list[float], first: int, where: str) -> Distribution:
    """Percentages of the numbers from `first` on."""
    if not row or min(row) < 0 or abs(sum(row) - 100) > 0.5:
        raise DataError(f"{where}: percentages must be 0 or more and add up to 100, not {row}")
    return Distribution.of(dict(enumerate(map(float, row), first)))


def draw_sizes(coded: Ints, minors: Ints, group: Ints, given: Conditionals, rng: np.random.Generator) -> Ints:
    """The exact size of each household: as coded, above 6 drawn among those with or without anybody under 18."""
    size = coded.copy()
    for rows, key in _cells(np.flatnonzero(coded >= LARGEST), group, minors):
        found = given.sizes.get(key) or given.sizes.get((ANY, key[1]))
        if found is not None:
            size[rows] = found.draw(len(rows), rng)
    return size


def draw_children(size: Ints, minors: Ints, group: Ints, given: Conditionals, rng: np.random.Generator) -> Ints:
    """The persons under 18: none, or drawn by size so that an adult stays; who lives alone can be a minor."""
    children = np.where(minors > 0, 1, 0)
    for rows, key in _cells(np.flatnonzero((minors > 0) & (size > 1)), group, size):
        children[rows] = _draw_children_of(*key, given, len(rows), rng)
    return children


def _draw_children_of(group: int, size: int, given: Conditionals, count: int, rng: np.random.Generator) -> Ints:
    """Households of one group and size: its own distribution, that of all groups, or of the next smaller size, enlarged."""
    for smaller in range(size, 1, -1):
        found = given.children.get((group, smaller)) or given.children.get((ANY, smaller))
        if found is not None:
            drawn: Ints = found.draw(count, rng) + rng.binomial(size - smaller, given.another_child, count)
            return drawn.clip(max=size - 1)
    return np.ones(count, dtype=np.int64)


def _cells(rows: Ints, first: Ints, second: Ints) -> list[tuple[Ints, tuple[int, int]]]:
    """The rows of each combination of two keys, in the order of the keys."""
    if not len(rows):
        return []
    found, which = np.unique(np.stack([first[rows], second[rows]], axis=1), axis=0, return_inverse=True)
    return [(rows[which == place], (int(values[0]), int(values[1]))) for place, values in enumerate(found)]


# Estimate from a survey how large households of seven or more are, and how many children there are by number of persons.
#
# The survey counts households by persons, own children and whether anybody is under 18, but does not say which of them are
# couples; a second one counts these by size. Own children stand for all persons under 18.

HOUSEHOLDS = "households"
PERSONS, OWN, MINORS = "persons", "own_children", "TP18"
COUPLES, SINGLES = (1, 3), (6, 10)
"""HHT2 of couples, and of householders without a partner, with own children under 18."""


def estimate_conditionals(children: pd.DataFrame, types: pd.DataFrame) -> dict[str, Any]:
    """`sizes` and `children` as in the file of assumptions, in percent: of couples and of single parents."""
    check_columns(children, (PERSONS, OWN, MINORS), "the survey of children")
    check_columns(types, ("HHSIZE", "HHT2"), "the survey of types")
    own = children[children[OWN] > 0]
    couples, singles = ({}, {})
    for size in range(2, LARGEST + 1):
        counts = own[own[PERSONS] == size].groupby(OWN)[HOUSEHOLDS].sum().reindex(range(1, size), fill_value=0).tolist()
        couples[size], singles[size] = _split(counts, _share_of_singles(types, size))
    return {
        "sizes": {name: _sizes(children, code) for code, name in ((1, "with_children"), (0, "without_children"))},
        "children": {"couple_with_own_children": couples, "single_parent": singles},
    }


def check_columns(table: pd.DataFrame, columns: Sequence[str], what: str) -> None:
    """A survey must have these columns, and count households."""
    for name in (*columns, HOUSEHOLDS):
        if name not in table:
            raise DataError(f"{what}: the column {name} is missing; it needs {', '.join((*columns, HOUSEHOLDS))}")


def _sizes(children: pd.DataFrame, minors: int) -> list[float]:
    """Of the households of 7 or more, with or without anybody under 18, the percentages of 7, 8, 9, ... persons."""
    chosen = children[(children[MINORS] == minors) & (children[PERSONS] >= LARGEST)]
    last = int(chosen[PERSONS].max()) if len(chosen) else LARGEST
    counts = chosen.groupby(PERSONS)[HOUSEHOLDS].sum().reindex(range(LARGEST, last + 1), fill_value=0)
    return percentages(counts.tolist())


def _share_of_singles(types: pd.DataFrame, size: int) -> float:
    """The share of single parents among the households of this size that have own children."""
    of_size = types[types["HHSIZE"] == size]
    singles, couples = (int(of_size.loc[of_size["HHT2"].isin(codes), HOUSEHOLDS].sum()) for codes in (SINGLES, COUPLES))
    return singles / max(1, singles + couples)


def _split(counts: Sequence[int], singles: float) -> tuple[list[float], list[float]]:
    """
    Percentages of 1, 2, ... children for couples and for single parents, from counts of both together.

    Where all but one are children, the one has no partner. The other single parents are taken to have as many as couples.
    """
    *together, alone = counts
    if not together:
        return [100.0], [100.0]
    left = max(0.0, singles * sum(counts) - alone)
    return percentages(together), percentages([left * count / max(1, sum(together)) for count in together] + [alone])


def percentages(counts: Sequence[float]) -> list[float]:
    """Percentages with one decimal that add up to 100: what rounding leaves over goes to the largest."""
    total = sum(counts)
    if not total:
        raise DataError("the survey has no household of some kind; give one with more households")
    rounded = [round(100 * count / total, 1) for count in counts]
    largest = rounded.index(max(rounded))
    rounded[largest] = round(rounded[largest] + 100 - sum(rounded), 1)
    return rounded


# Subsidized properties: where they stand, who lives in them (equation 7) and in what units, simulated and stored.


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
    """What is assumed about properties; `whole_blocks`: the share of them beside which no other household lives."""

    subsidized: tuple[float, float]
    others: tuple[float, float]
    whole_blocks: float
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
        fit, concentration = (float(text[name]) for name in ("fit", "concentration"))
        whole = float(text.get("whole_blocks", 0)) / 100
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{where}: not a table of properties ({error!r}); see data/housing/simulation.yaml") from None
    if concentration <= 0 or min(odds for _, odds in races.values()) <= 0:
        raise DataError(f"{where}: concentration ({concentration}) and the odds of races must be greater than 0")
    if not 0 <= whole <= 1:
        raise DataError(f"{where}: whole_blocks ({text['whole_blocks']}) is a percentage")
    return PropertyModel(sizes[0], sizes[1], whole, kinds, fit, concentration, races, occupancy, alpha, smallest)


def _kind(name: str, text: Mapping[str, Any], where: str) -> Kind:
    bedrooms = np.array(text["bedrooms"], dtype=np.float64) / 100
    if len(bedrooms) != len(BEDROOMS) or bedrooms.min() < 0 or abs(bedrooms.sum() - 1) > 1e-9:
        raise DataError(f"{where}: bedrooms must be {len(BEDROOMS)} percentages that add up to 100, not {text['bedrooms']}")
    if not 0 <= text["children"] <= 100 or text["percent"] < 0:
        raise DataError(f"{where}: children ({text['children']}) and percent ({text['percent']}) are percentages")
    return Kind(name, float(text["percent"]), bedrooms, text["children"] / 100)


def locate_properties(sizes: Ints, count: int, model: PropertyModel, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """
    Which blocks (positions in `sizes`, households per block) hold a property, and how many subsidized households each has.

    Wanted sizes are drawn; from the largest down, each gets a block of that size or the next smaller one that is free, and
    keeps its share of subsidized households.
    """
    sizes_of = (model.subsidized, model.others)
    subsidized, others = (np.rint(middle * np.exp(spread * rng.standard_normal(count))) for middle, spread in sizes_of)
    if model.whole_blocks:
        others = np.where(rng.random(count) < model.whole_blocks, 0.0, others)
    subsidized = np.maximum(subsidized, model.smallest)
    wanted = subsidized + others
    largest_first = np.argsort(-wanted, kind="stable")
    free = rng.permutation(np.flatnonzero(sizes >= model.smallest))
    free = free[np.argsort(-sizes[free], kind="stable")]
    if not len(free):
        remedy = "raise housing.households in config/housing.yaml"
        raise ConfigError(f"no block has {model.smallest} households or more: {remedy}")
    first = np.searchsorted(-sizes[free], -wanted[largest_first])
    position = np.maximum.accumulate(first - np.arange(count)) + np.arange(count)
    located = position < len(free)
    blocks, share = free[position[located]], (subsidized / wanted)[largest_first][located]
    return blocks, np.clip(np.rint(share * sizes[blocks]).astype(np.int64), model.smallest, sizes[blocks])


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


# The households of the housing study from those of the census: exact size, children, race and origin (appendix B).

HISPANIC, RACES = 2, 7
NEEDED = ("VACS", "HHSIZE", "TP18", "HHT2", "THHRACE", "THHSPAN")
KINDS = {"SIZE": np.int16, "CHILDREN": np.int16, "RACE": np.int8, "BEDROOMS": np.int8}
"""The columns of a household and how they are stored."""


def complete_households(units: pa.Table, given: Conditionals, rng: np.random.Generator) -> pd.DataFrame:
    """The occupied units of a table, sorted by block: block, SIZE, CHILDREN and RACE."""
    codes: dict[str, Ints] = {name: units[name].to_numpy().astype(np.int64) for name in NEEDED}
    blocks = units["block"].cast(pa.string()).to_numpy(zero_copy_only=False)
    kept = np.flatnonzero(codes["VACS"] == 0)
    kept = kept[np.argsort(blocks[kept].astype(str), kind="stable")]
    codes = {name: values[kept] for name, values in codes.items()}
    _check(codes, blocks[kept])
    codes["RACE"] = codes["THHRACE"] + RACES * (codes["THHSPAN"] == HISPANIC)
    group = given.group_of(codes[given.column])
    size = draw_sizes(codes["HHSIZE"], codes["TP18"], group, given, rng)
    children = draw_children(size, codes["TP18"], group, given, rng)
    found = {"SIZE": size, "CHILDREN": children, "RACE": codes["RACE"]}
    return pd.DataFrame({"block": blocks[kept], **{name: found[name].astype(KINDS[name]) for name in found}})


def _check(codes: Mapping[str, Ints], blocks: Any) -> None:
    for name in ("HHSIZE", "THHRACE", "THHSPAN"):
        wrong = np.flatnonzero(codes[name] < 1)
        if wrong.size:
            raise DataError(
                f"block {blocks[wrong[0]]}: an occupied unit has {name}={codes[name][wrong[0]]}. Check the microdata: a "
                "household has a size, and its householder a race and an origin."
            )


def simulate_states(tables: Iterator[pa.Table], given: Conditionals, seed: int) -> Iterator[pd.DataFrame]:
    """The households of each state; `tables` holds one table per state."""
    for units in tables:
        state = str(units["block"][0])[:2]
        yield complete_households(units, given, np.random.default_rng(derive_seed(seed, "housing", "households", state)))


# The private households of the housing study: one Parquet file, a row group per state, never the country in memory.

SCHEMA = pa.schema([("block", pa.string()), *((name, pa.from_numpy_dtype(kind)) for name, kind in KINDS.items())])


def units_of_states(microdata: Path, columns: Collection[str]) -> Iterator[pa.Table]:
    for path in sorted(microdata.glob("*.parquet")):
        yield read_microdata(microdata, columns=["block", *columns], states=[path.stem])


def write_households(states: Iterable[pd.DataFrame], path: Path, model: PropertyModel, blocks: int, seed: int) -> int:
    """Write the households of all states, sorted by block, with properties in at most `blocks` blocks; their number."""
    part = path.with_suffix(".part")
    try:
        sizes = write_states((frame.assign(BEDROOMS=0) for frame in states), part)
        wanted = choose_blocks(sizes, blocks, model, seed)
        write_states((with_properties(frame, wanted, model, seed) for frame in read_states(part)), path)
    finally:
        part.unlink(missing_ok=True)
    return len(wanted)


def write_states(states: Iterable[pd.DataFrame], path: Path) -> pd.DataFrame:
    """Write households as they come, a row group per state; the number of households of every block (block, n)."""
    counted, last = [], ""
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as file:
        for frame in states:
            if frame["block"].iloc[0] <= last:
                raise DataError(f"{path}: block {frame['block'].iloc[0]} comes after {last}: give the states in order")
            last = frame["block"].iloc[-1]
            file.write_table(pa.Table.from_pandas(frame, SCHEMA, preserve_index=False), row_group_size=len(frame))
            counted.append(block_sizes(frame))
    if not counted:
        raise DataError(f"{path}: there is no household to write. Check that the microdata hold occupied units.")
    return pd.concat(counted, ignore_index=True)


def block_sizes(frame: pd.DataFrame) -> pd.DataFrame:
    """The number of households of each block (block, n)."""
    return frame.groupby("block", sort=False).size().rename("n").reset_index()


def choose_blocks(sizes: pd.DataFrame, blocks: int, model: PropertyModel, seed: int) -> dict[str, int]:
    """The blocks that hold a property, at most `blocks`, and how many subsidized households each has."""
    rng = np.random.default_rng(derive_seed(seed, "housing", "properties"))
    chosen, subsidized = locate_properties(sizes["n"].to_numpy(), blocks, model, rng)
    return dict(zip(sizes["block"].iloc[chosen], subsidized.tolist(), strict=True))


def read_states(path: Path) -> Iterator[pd.DataFrame]:
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group).to_pandas()


def with_properties(frame: pd.DataFrame, wanted: Mapping[str, int], model: PropertyModel, seed: int) -> pd.DataFrame:
    """The households of a state with the properties of its blocks, each drawn by a seed of its own."""
    bedrooms = np.zeros(len(frame), dtype=np.int64)
    columns: dict[str, Ints] = {name: frame[name].to_numpy().astype(np.int64) for name in ("SIZE", "CHILDREN", "RACE")}
    for block, (start, stop) in block_rows(frame["block"]).items():
        if block in wanted:
            rng = np.random.default_rng(derive_seed(seed, "housing", "property", block))
            own = {name: values[start:stop] for name, values in columns.items()}
            bedrooms[start:stop] = draw_property(own, wanted[block], model, rng)
    return frame.assign(BEDROOMS=bedrooms.astype(KINDS["BEDROOMS"]))


def block_rows(blocks: "pd.Series[Any]") -> dict[str, tuple[int, int]]:
    """Where the rows of each block begin and end, of rows sorted by block."""
    values = blocks.to_numpy()
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    stops = np.r_[starts[1:], len(values)]
    return {str(values[a]): (int(a), int(b)) for a, b in zip(starts, stops, strict=True)}


def chosen_blocks(blocks: "pd.Series[Any]", count: int) -> set[str]:
    """So many of the blocks, fewer always part of more: by their numbers read backwards, which say nothing of size."""
    return set(sorted(map(str, blocks.unique()), key=lambda block: block[::-1])[:count])


def property_households(frame: pd.DataFrame) -> pd.DataFrame:
    """The households of the blocks that hold a property."""
    return frame[frame["block"].isin(frame.loc[frame["BEDROOMS"] > 0, "block"])].reset_index(drop=True)


# Estimate from a survey what the units of a property hold: bedrooms, and how many of its households have children.
#
# A kind of property is the units that it has (only small ones, say). Among renters of such units the survey counts how many
# have each number of bedrooms, and in how many somebody is under 18.

TENURE, RENTED, ROOMS = "TEN", 3, "bedrooms"
KEYS = [TENURE, PERSONS, MINORS, ROOMS]

UNITS: Mapping[str, Sequence[int]] = {
    "small_units": (1,),
    "medium_units": (1, 2),
    "all_units": (1, 2, 3),
    "large_units": (2, 3),
}
"""The bedrooms that the units of each kind of property have: 1 stands for 0 or 1, 3 for 3 or more."""


def count_renters(survey: pd.DataFrame) -> pd.DataFrame:
    """Renters by persons (7: 7 or more), anybody under 18 and bedrooms (1: 0 or 1, 3: 3 or more)."""
    check_columns(survey, KEYS, "the survey of bedrooms")
    renters = survey[survey[TENURE] == RENTED]
    if not renters[HOUSEHOLDS].sum():
        raise DataError(f"the survey of bedrooms: no household rents ({TENURE} = {RENTED})")
    coded = {PERSONS: renters[PERSONS].clip(upper=LARGEST), ROOMS: renters[ROOMS].clip(min(BEDROOMS), max(BEDROOMS))}
    return renters.assign(**coded).groupby(KEYS)[HOUSEHOLDS].sum().reset_index()


def estimate_kinds(survey: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """`bedrooms` and `children` of each kind of property as in the file of assumptions, in percent."""
    renters = count_renters(survey)
    kinds = {}
    for name, units in UNITS.items():
        tenants = renters[renters[ROOMS].isin(units)]
        by_rooms = tenants.groupby(ROOMS)[HOUSEHOLDS].sum().reindex(BEDROOMS, fill_value=0).tolist()
        minors, total = int(tenants.loc[tenants[MINORS] == 1, HOUSEHOLDS].sum()), sum(by_rooms)
        children = percentages([minors, total - minors])[0]
        kinds[name] = {"bedrooms": percentages(by_rooms), "children": children, HOUSEHOLDS: total}
    return kinds
