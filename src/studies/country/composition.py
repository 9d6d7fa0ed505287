"""Race and origin of the households of a block: shares drawn around those of its tract, as alike as in real blocks."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from genverify.model.tablefiles import Expected, open_csv, refuse_row
from studies.country.store import GEOGRAPHY

GROUP = ("THHRACE", "THHSPAN")
SETTINGS = ("urban", "rural")
SMALLEST_SHARE = 1e-9  # keeps logarithms and shapes of gammas finite
MOST_ALIKE = 0.95  # below 1: a spread is finite
REMEDY = "make the file again with `genverify estimate neighbours`"


def shares_around(mean: Floats, likeness: Floats, rng: np.random.Generator) -> Floats:
    """
    Shares around the mean, one row per place.

    `likeness` is the chance, beyond that of two strangers, that two households of a place have the same code, of the rows or
    of every share: the correlation 1 / (1 + concentration) of a Dirichlet distribution, whose gammas have scales of their
    own where it differs by share; 0 gives the mean itself.
    """
    alike = np.clip(likeness, SMALLEST_SHARE, MOST_ALIKE)
    spread = alike / (1 - alike)
    return np.exp(log_dirichlet(mean / spread, rng, spread))


def log_dirichlet(shape: Floats, rng: np.random.Generator, scale: Floats | float = 1.0) -> Floats:
    """
    Logs of shares from a Dirichlet distribution, one row per place; none below that of SMALLEST_SHARE.

    Small shapes give gammas that no float can hold, but Gamma(a) is distributed as Gamma(a + 1) * U^(1 / a).
    """
    shape = np.maximum(shape, SMALLEST_SHARE)
    logs = np.log(rng.gamma(shape + 1)) + np.log(1 - rng.random(shape.shape)) / shape + np.log(scale)
    logs -= logs.max(axis=1, keepdims=True)
    shares = np.maximum(np.exp(logs), SMALLEST_SHARE)
    return np.asarray(np.log(shares / shares.sum(axis=1, keepdims=True)), dtype=np.float64)


# What real blocks say of a setting, urban or rural: data/synthetic/neighbours.yaml.


@dataclass(frozen=True)
class Setting:
    """Shares of races and origins, and how alike households are: of a tract in its county, of a block in its tract."""

    codes: Ints
    shares: Floats
    tract: Floats
    sizes: Ints
    block: Floats


@dataclass(frozen=True)
class RealBlocks:
    """Race and origin as in real blocks: settings, rural share of the nation, likeness of states and counties."""

    settings: tuple[Setting, ...]
    rural: float
    around: Mapping[str, float]


def read_blocks_of_country(path: Path, entry: Mapping[str, Any]) -> RealBlocks:
    """The estimates of a file, and the entry `race_and_origin` of likeness.yaml, whose `block` replaces theirs."""
    try:
        rural, around = float(entry["rural"]) / 100, {level: float(entry[level]) for level in ("state", "county")}
        block = float(entry["block"]) if "block" in entry else None
    except (TypeError, ValueError) as error:
        raise DataError(f"likeness.yaml, race_and_origin: {error}; give numbers for rural, state and county") from None
    if not 0 <= rural < 1 or min(around.values()) < 0 or not 0 <= (block or 0) < 1:
        limits = "rural is a percentage under 100, state and county are 0 or more, block is a share under 1"
        raise DataError(f"likeness.yaml, race_and_origin: {limits}")
    settings = read_settings(path)
    if block is not None:
        settings = tuple(replace(one, block=np.full_like(one.block, block)) for one in settings)
    return RealBlocks(settings, rural, around)


def read_settings(path: Path) -> tuple[Setting, ...]:
    if not path.exists():
        raise DataError(f"{path} does not exist; {REMEDY}")
    text = read_yaml(path)
    missing = [name for name in SETTINGS if name not in text]
    if missing:
        raise DataError(f"{path}: the entry {missing[0]} is missing; {REMEDY}")
    return tuple(_setting(text[name], f"{path}, {name}") for name in SETTINGS)


def _setting(entry: Mapping[str, Any], where: str) -> Setting:
    try:
        parts = {"race_and_origin": (*GROUP, "percent", "tracts"), "blocks": ("households", "likeness")}
        rows = [[[float(line[name]) for name in names] for line in entry[part]] for part, names in parts.items()]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{where}: {error} is missing or no number; {REMEDY}") from None
    if not all(rows):
        raise DataError(f"{where}: race_and_origin and blocks need a line each at least; {REMEDY}")
    groups, (sizes, block) = np.array(rows[0]), np.array(rows[1]).T
    percent = groups[:, 2]
    alike = np.concatenate([groups[:, 3], block])
    if sizes[0] != 1 or (np.diff(sizes) <= 0).any() or not 0 <= alike.min() <= alike.max() < 1:
        raise DataError(f"{where}: sizes must rise from 1, and a likeness be a share under 1; {REMEDY}")
    if not (percent >= 0).all() or abs(percent.sum() - 100) > 0.1:
        raise DataError(f"{where}: the percentages of races and origins add up to {percent.sum():g}, not 100; {REMEDY}")
    return Setting(groups[:, :2].astype(np.int64), percent / 100, groups[:, 3], sizes, block)


# The composition of the tracts and blocks of a country.


@dataclass(frozen=True)
class Composition:
    """
    How shares of races and origins are drawn: `means` of each setting, and how alike tracts are in each (`tract`); likeness
    of states and counties as multiples of it; of blocks by setting.

    `factors` are what every share is multiplied by so that the country comes out as the nation. At `homogeneity` 0 all
    places have the nation's shares.
    """

    settings: tuple[Setting, ...]
    means: Floats
    tract: Floats
    nation: Floats
    around: Mapping[str, float]
    homogeneity: float
    factors: Floats

    def tracts(self, county: Ints, rural: Flags, rng: np.random.Generator) -> Floats:
        """Shares of every tract, around those of its county and state."""
        setting, counties = rural.astype(np.int64), int(county[-1]) + 1
        states = self._around(self.means, self.around["state"] * self.tract, rng)
        alike = np.repeat(self.around["county"] * self.tract, counties, axis=0)
        around = self._around(np.repeat(states, counties, axis=0), alike, rng)
        return self._around(around[setting * counties + county], self.tract[setting], rng)

    def blocks(self, tracts: Floats, rural: Flags, sizes: Ints, rng: np.random.Generator) -> Floats:
        """Shares of blocks, around those of the tract of each; the larger the block, the nearer."""
        alike = [one.block[np.searchsorted(one.sizes, sizes, side="right") - 1] for one in self.settings]
        drawn = self._around(tracts, np.where(rural, alike[1], alike[0])[:, None], rng) * self.factors
        return np.asarray(drawn / drawn.sum(axis=1, keepdims=True), dtype=np.float64)

    def fitted(self, blocks: Floats, weights: Floats, rounds: int = 30) -> "Composition":
        """The same, with factors for which these blocks together have the shares of the nation."""
        factors = np.ones_like(self.nation)
        for _ in range(rounds):
            scaled = blocks * factors
            factors *= self.nation / ((weights / scaled.sum(axis=1)) @ scaled)
        return replace(self, factors=self.factors * factors)

    def _around(self, mean: Floats, likeness: Floats, rng: np.random.Generator) -> Floats:
        return shares_around(mean, likeness * self.homogeneity, rng)


def composition_of(blocks: RealBlocks, codes: Ints, nation: Floats, homogeneity: float) -> Composition:
    """The composition for groups of these codes; a setting has the nation's shares times its own relative to both."""
    found = []
    for name, setting in zip(SETTINGS, blocks.settings, strict=True):
        lines = zip(setting.codes.tolist(), setting.shares, setting.tract, strict=True)
        known, wanted = {tuple(pair): numbers for pair, *numbers in lines}, [tuple(pair) for pair in codes.tolist()]
        if set(known) != set(wanted):
            pair = sorted(set(known) ^ set(wanted))[0]
            words = ", ".join(f"{column}={code}" for column, code in zip(GROUP, pair, strict=True))
            raise DataError(f"neighbours.yaml, {name}: {words} stands in one of file and domain only; {REMEDY}")
        found.append([known[pair] for pair in wanted])
    shares, tract = np.moveaxis(np.array(found), 2, 0)
    shares = shares + SMALLEST_SHARE
    both = blocks.rural * shares[1] + (1 - blocks.rural) * shares[0]
    means = nation * (shares / both) ** min(1.0, homogeneity)
    means /= means.sum(axis=1, keepdims=True)
    return Composition(blocks.settings, means, tract, nation, blocks.around, homogeneity, np.ones_like(nation))


# Estimate a setting from block counts.

FIRST_SIZES = (1, 4, 7, 13, 21, 41, 81, 161)
"""Households of the smallest block of each class: every next one holds blocks of about twice the size."""
FEWEST = 1000  # householders: a class with fewer joins the next smaller one
TRACT = GEOGRAPHY["tract"]


def read_blocks(path: Path, layouts: Mapping[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """
    Counts by block of a csv file in one of the layouts: of the stand-ins for householders, by race (and origin), and of
    those of whom the shares are taken, by race and origin. Which columns: data/census/block_layouts.yaml.
    """
    hint = "see data/census/block_layouts.yaml"
    file = open_csv(path, Expected("a CSV file of block counts", hint))
    key = next((name for name in ("block", "GEOID") if name in file.names), "block")
    wanted = {name: list(dict.fromkeys([*_names(one["neighbours"]), *_names(one["shares"]), *one.get("total", [])]))
              for name, one in layouts.items()}  # fmt: skip
    missing = {name: [column for column in needed if column not in file.names] for name, needed in wanted.items()}
    best = min(missing, key=lambda name: len(missing[name]))  # the first of those of which the file has all columns
    if missing[best]:
        lacks = f"of {best!r} it lacks {', '.join(missing[best][:5])}" + " and more" * (len(missing[best]) > 5)
        raise DataError(f"{path}: has the columns of no layout ({', '.join(layouts)}): {lacks}; {hint}")
    layout, needed = layouts[best], wanted[best]
    frame = file.frame([key, *needed], texts=[key])
    wrong = ~frame[key].str.fullmatch(f"[0-9]{{{GEOGRAPHY['block']}}}") | frame[key].duplicated()
    refuse_row(path, frame[key], wrong, f"is not a block of {GEOGRAPHY['block']} digits, or is listed twice; correct it")
    for name in needed:
        values = pd.to_numeric(frame[name], errors="coerce")
        refuse_row(path, frame[name], ~(values >= 0) | (values % 1 != 0), "is not a whole number of 0 or more; correct it")
    neighbours, shares = (_sums(frame, layout[part]) for part in ("neighbours", "shares"))
    apart = (shares < 0).any(axis=1)
    for name in layout.get("total", []):
        apart |= shares.sum(axis=1) != frame[name]
    for group in neighbours:
        apart |= neighbours[group] > shares[[own for own in shares if f"{own} ".startswith(f"{group} ")]].sum(axis=1)
    refuse_row(path, frame[key], apart, "has counts of races and origins that do not add up; correct the row")
    return neighbours.set_index(frame[key].to_numpy()), shares.set_index(frame[key].to_numpy())


def _names(groups: Mapping[str, str]) -> list[str]:
    return [name.removeprefix("-") for words in groups.values() for name in words.split()]


def _sums(frame: pd.DataFrame, groups: Mapping[str, str]) -> pd.DataFrame:
    """Each group: the sum of its columns, those after a minus subtracted."""

    def total(words: str) -> Any:
        return sum((-frame[name[1:]] if name.startswith("-") else frame[name]) for name in words.split())

    return pd.DataFrame({group: total(words) for group, words in groups.items()})


def estimate_setting(neighbours: pd.DataFrame, shares: pd.DataFrame, counties: Sequence[str]) -> dict[str, Any]:
    """A setting as in data/synthetic/neighbours.yaml, from the blocks of some counties."""
    chosen = neighbours.index.str.startswith(tuple(counties))
    listed = sorted(set(neighbours.index.str[: GEOGRAPHY["county"]]))
    absent = [county for county in counties if county not in listed]
    if absent:
        held = f"{listed[0]} to {listed[-1]}" if listed else "none"
        remedy = f"give five digits of counties that it holds: {held}"
        raise DataError(f"county {absent[0]}: no block of the file lies in it; {remedy}")
    inside = neighbours[chosen & (neighbours.sum(axis=1) > 0).to_numpy()]
    counts, own = inside.to_numpy(np.float64), shares[shares.index.str.startswith(tuple(counties))].sum()
    sizes, tract = counts.sum(axis=1), pd.factorize(inside.index.str[:TRACT])[0]
    county = pd.factorize(inside.index.str[: GEOGRAPHY["county"]])[0]
    by_tract = pd.DataFrame(counts).groupby(tract).sum().to_numpy()
    of_tracts = pd.Series(county).groupby(tract).first().to_numpy()
    same, same_county = _between(counts, tract), _between(by_tract, of_tracts)[of_tracts]
    weights = np.where(np.isnan(same[:, 0]) | np.isnan(same_county[:, 0]), 0.0, by_tract.sum(axis=1))
    within = np.where(sizes > 1, (counts * (counts - 1)).sum(axis=1) / np.maximum(1, sizes * (sizes - 1)), np.nan)
    expected = same.sum(axis=1)[tract]
    known = ~np.isnan(within) & ~np.isnan(expected)
    if not known.any() or not weights.any():
        raise DataError(f"counties {', '.join(counties)}: no two neighbours, or no two tracts; give more blocks")
    total = by_tract[weights > 0].sum(axis=0)
    possible = total / total.sum() - same_county
    alike = {str(group): _alike(weights, (same - same_county)[:, place], possible[:, place])
             for place, group in enumerate(inside.columns)}  # fmt: skip
    groups = [
        dict(zip(GROUP, map(int, group.split()), strict=True))
        | {"percent": round(float(share), 4), "tracts": alike.get(group, alike.get(group.split()[0]))}
        for group, share in zip(map(str, own.index), 100 * own / own.sum(), strict=True)
    ]
    classes = _classes(sizes[known], (within - expected)[known], (1 - expected)[known])
    about = {"counties": list(counties), "tracts": int((weights > 0).sum()), "race_and_origin": groups}
    return {**about, "blocks": classes, "described": describe_blocks(inside)}


def _between(counts: Floats, place: Ints) -> Floats:
    """For each place and group the chance that households of two of its parts are both of it; NaN where it has one part."""
    whole = pd.DataFrame(counts).groupby(place).sum().to_numpy()
    pairs = (whole.sum(axis=1) ** 2 - np.bincount(place, counts.sum(axis=1) ** 2))[:, None]
    same = whole**2 - pd.DataFrame(counts**2).groupby(place).sum().to_numpy()
    return np.asarray(np.divide(same, pairs, out=np.full(whole.shape, np.nan), where=pairs > 0), dtype=np.float64)


def _alike(weights: Floats, above: Floats, possible: Floats) -> float:
    used = weights > 0
    most = float((weights[used] * possible[used]).sum())
    return round(float(np.clip((weights[used] * above[used]).sum() / most, 0, MOST_ALIKE)), 4) if most > 0 else 0.0


def _classes(sizes: Floats, above: Floats, possible: Floats) -> list[dict[str, Any]]:
    """The likeness by size of block: a class with too few householders, or more likeness than the one before, joins it."""
    firsts = list(FIRST_SIZES)
    while True:
        parts = [(sizes >= low) & (sizes < high) for low, high in zip(firsts, [*firsts[1:], np.inf], strict=True)]
        few = [sizes[part].sum() < FEWEST for part in parts]
        alike = [_alike(np.where(part, sizes, 0.0), above, possible) for part in parts]
        joins = [n for n in range(1, len(parts)) if few[n - 1] or few[n] or alike[n] > alike[n - 1]]
        if not joins:
            found = zip(firsts, parts, alike, strict=True)
            return [{"households": low, "blocks": int(part.sum()), "likeness": value} for low, part, value in found]
        firsts.pop(joins[0])


# How alike the neighbours of a country are, beside real blocks.

SIZES = {"about ten": (9, 11), "4 to 6": (4, 6), "20 to 40": (20, 40), "100 to 400": (100, 400)}


def describe_blocks(counts: pd.DataFrame) -> dict[str, float]:
    """Percentages over blocks (rows: 15 digits; columns: codes of races, with or without an origin after it)."""
    counts = counts.T.groupby([int(str(name).split()[0]) for name in counts]).sum().T
    table, sizes = counts.to_numpy(np.float64), counts.sum(axis=1).to_numpy(np.float64)
    found: dict[str, float] = {}
    for race, name in ((2, "Black"), (1, "White")):
        for level in ("tract", "block"):
            places = counts.groupby(counts.index.str[: GEOGRAPHY[level]]).sum().astype(np.float64)
            alike: Any = places[race] ** 2 / np.maximum(1, places.sum(axis=1))
            found[f"isolation of {name} householders, {level}"] = _percent(alike.sum(), places[race].sum())
    for name, (low, high) in SIZES.items():
        chosen = table[(sizes >= low) & (sizes <= high)]
        found[f"one race only, blocks of {name}"] = _percent(((chosen > 0).sum(axis=1) == 1).sum(), len(chosen))
        outside = chosen.sum() - chosen.max(axis=1, initial=0).sum()
        found[f"outside the largest race, blocks of {name}"] = _percent(outside, chosen.sum())
    return found


def _percent(part: float, whole: float) -> float:
    return round(100 * float(part) / float(whole), 1) if whole else float("nan")


def neighbours_table(
    units: Iterable[tuple[pd.Series, pd.Series]], rural: Collection[str], file: Path, label: str
) -> pd.DataFrame:
    """What real blocks show, urban and rural, beside the blocks and races of a country's households, by tract and of all."""
    counts = pd.concat([pd.crosstab(blocks, races) for blocks, races in units]).fillna(0)
    inside = counts.index.str[:TRACT].isin(list(rural))
    parts = {"country_urban": counts[~inside], "country_rural": counts[inside]} if inside.any() else {}
    columns = {f"real_{name}": read_yaml(file)[name]["described"] for name in SETTINGS}
    columns |= {name: describe_blocks(part) for name, part in (parts | {"country": counts}).items()}
    return pd.DataFrame(columns).rename_axis("percent").reset_index().assign(data=label)
