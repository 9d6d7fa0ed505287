"""The persons of the synthetic households, one by one: they fit size, ages, race and origin."""

import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from genverify.model.arrays import Flags, Floats, Ints, positions, row_keys
from genverify.model.domain import Column, Domain, DomainFile, Predicate, Records
from genverify.model.errors import DataError, nearest
from genverify.model.files import read_yaml
from genverify.model.tablefiles import Expected, open_csv
from studies.country.composition import RealBlocks, read_blocks_of_country

# Synthetic households as homes with a place for every person: who must be a partner, a minor, a person of 65 or over.

LARGEST = 7  # HHSIZE says 7 for 7 or more
OLD_CODE = 7  # the first of AGE_BANDS from 65 on
_BANDS = ((15, 24), (25, 34), (35, 44), (45, 54), (55, 59), (60, 64), (65, 74), (75, 84), (85, 115))
AGE_BANDS = dict(enumerate(_BANDS, start=1))
COUPLES, WITH_OWN_CHILDREN, NONRELATIVES = (1, 2, 3, 4), (1, 3, 6, 10), (8, 12)
NEEDED = ("VACS", "HHSIZE", "HHT", "HHT2", "THHLDRAGE", "THHRACE", "THHSPAN", "TP18", "TP65")


@dataclass(frozen=True)
class Homes:
    """
    The households, and for every person the home and the place in it: 0 is the householder, 1 the partner of a couple.

    `minor` and `elder` mark the person who must be under 18, and 65 or over, where the household says that there is one.
    `impossible`: two persons, neither the householder, would have to be the same one.
    """

    block: pa.Array
    said_size: Ints
    size: Ints
    kind: Ints
    detail: Ints
    age_code: Ints
    race: Ints
    origin: Ints
    minors: Flags
    old: Flags
    impossible: Flags
    home: Ints
    slot: Ints
    partner: Flags
    minor: Flags
    elder: Flags

    @property
    def youngest(self) -> Ints:
        return np.array([0, *(low for low, _ in AGE_BANDS.values())])[self.age_code]

    @property
    def oldest(self) -> Ints:
        return np.array([0, *(high for _, high in AGE_BANDS.values())])[self.age_code]

    def of_type(self, details: tuple[int, ...]) -> Flags:
        """Whether each person lives in a household of one of these detailed types."""
        flags: Flags = np.isin(self.detail, details)[self.home]
        return flags

    def words(self, place: int) -> str:
        said = {"HHSIZE": self.said_size, "HHT": self.kind, "HHT2": self.detail, "THHLDRAGE": self.age_code}
        said |= {"TP18": self.minors.astype(int), "TP65": self.old.astype(int)}
        return ", ".join(f"{name}={values[place]}" for name, values in said.items())


def lay_out_homes(units: pa.Table, another: float, old_partner: Mapping[int, float], rng: np.random.Generator) -> Homes:
    codes = {name: units[name].to_numpy().astype(np.int64) for name in NEEDED}
    kept = np.flatnonzero(codes["VACS"] == 0)
    codes = {name: values[kept] for name, values in codes.items()}
    said = codes["HHSIZE"]
    size = said + np.where(said == LARGEST, rng.geometric(1 - another, len(said)) - 1, 0)
    home = np.repeat(np.arange(len(size)), size)
    slot = np.arange(len(home)) - np.repeat(np.cumsum(size) - size, size)
    couple = np.isin(codes["HHT2"], COUPLES)
    minors, old, age_code = codes["TP18"] == 1, codes["TP65"] == 1, codes["THHLDRAGE"]
    impossible = (size == 2) & minors & old & (age_code > 1) & (age_code < OLD_CODE)
    chance = np.array([old_partner.get(code, 0.0) for code in range(max(AGE_BANDS) + 1)])[age_code]
    minor, elder = _special_slots(size, couple, minors, old & ~impossible, age_code, rng.random(len(size)) < chance)
    block = units["block"].cast(pa.string()).combine_chunks().take(pa.array(kept))
    return Homes(block, said, size, codes["HHT"], codes["HHT2"], age_code, codes["THHRACE"], codes["THHSPAN"], minors, old,
        impossible, home, slot, couple[home] & (slot == 1), slot == minor[home], slot == elder[home])  # fmt: skip


def _special_slots(
    size: Ints, couple: Flags, minors: Flags, old: Flags, age_code: Ints, prefers_partner: Flags
) -> tuple[Ints, Ints]:
    """
    The place of the minor and of the person of 65 or over in each home; -1 where there need be none.

    The minor comes last, but is the householder where nobody else can be. The elder, where the householder is younger, is
    the partner or the next person, whichever is free.
    """
    householder = minors & ((size == 1) | ((size == 2) & old & (age_code == 1)))
    minor = np.where(minors, np.where(householder, 0, size - 1), -1)
    beside = np.where(couple & ~prefers_partner & (size > 2), 2, 1)
    beside = np.where(beside == minor, 1, beside)
    elder = np.where(old & (age_code < OLD_CODE), beside, -1)
    return minor, elder


# Ages of the persons of synthetic households, within what the household says.

ADULT, OLD, OLDEST, MARRIAGEABLE = 18, 65, 115, 15
OLDEST_OTHER = 99  # of those who are no householders
EDGE = 17  # years from the limit within which an age beyond it is drawn, so that ages do not pile up at the limit


def draw_ages(homes: Homes, male: Flags, said: Mapping[str, Any], rng: np.random.Generator) -> Ints:
    """The age of every person: of the householder from the band, of the others by how they are related."""
    householder = _householders(homes, said["another_year"], rng)
    near = householder[homes.home] + _distances(homes, male, said, rng)
    low, high = _limits(homes)
    rounded = np.rint(near).astype(np.int64)  # whole years; outside its limits an age becomes one near the nearer limit
    inward = rng.integers(0, np.minimum(high - low, EDGE) + 1)
    age = np.where(rounded < low, low + inward, np.where(rounded > high, high - inward, rounded))
    age[homes.slot == 0] = householder
    return age


def _householders(homes: Homes, another_year: float, rng: np.random.Generator) -> Ints:
    """Anywhere in the band, under 18 only where nobody else can be the minor; few live long beyond 85."""
    first = homes.home[homes.minor & (homes.slot == 0)]
    must_be_minor = np.zeros(len(homes.size), dtype=bool)
    must_be_minor[first] = True
    low = np.where(must_be_minor, homes.youngest, np.maximum(homes.youngest, ADULT))
    high = np.where(must_be_minor, ADULT - 1, homes.oldest)
    longest = homes.oldest == OLDEST
    age = rng.integers(low, high + 1)
    return np.where(longest, np.minimum(low + rng.geometric(1 - another_year, len(low)) - 1, OLDEST), age)


def _distances(homes: Homes, male: Flags, said: Mapping[str, Any], rng: np.random.Generator) -> Floats:
    """How much older than the householder each person would be: a partner, a child, a parent or a peer."""
    count = len(homes.home)
    younger, spread = said["partner"]["wife_younger"], said["partner"]["spread"]
    partner = rng.normal(np.where(male[homes.home], -younger, younger), spread)
    generation = rng.normal(said["generation"]["years"], said["generation"]["spread"], count)
    peers = rng.normal(0, said["peers"]["spread"], count)
    shares = said["relatives"]
    kind = rng.choice(3, count, p=[shares["children"], shares["peers"], shares["parents"]])
    kind = np.where(homes.of_type(WITH_OWN_CHILDREN) | homes.minor, 0, kind)
    kind = np.where(homes.of_type(NONRELATIVES) & ~homes.minor, 1, kind)
    kind = np.where(homes.elder, 2, kind)
    drawn = np.choose(kind, [-generation, peers, generation])
    return np.where(homes.partner, partner, drawn)


def _limits(homes: Homes) -> tuple[Ints, Ints]:
    """The ages that each person can have, given what the household says."""
    minors, old = homes.minors[homes.home], homes.old[homes.home] & ~homes.impossible[homes.home]
    child = minors & homes.of_type(WITH_OWN_CHILDREN) & ~homes.partner
    low = np.where(child, 0, ADULT)
    high = np.where(old, OLDEST_OTHER, OLD - 1)
    low = np.where(homes.minor, np.where(homes.partner, MARRIAGEABLE, 0), low)
    high = np.where(homes.minor, ADULT - 1, high)
    return np.where(homes.elder, OLD, low), high


# Races and origins of the persons of synthetic households: mostly those of the householder.

TWO_OR_MORE = 7  # code of THHRACE
NOT_HISPANIC, HISPANIC = 1, 2


@dataclass(frozen=True)
class RaceModel:
    """Codes of race as bit masks, how often each occurs in the nation and among people of several; chances to be alike."""

    mask: Ints
    code: Ints
    nation: Floats
    several: Floats
    hispanic: float
    alike: Mapping[str, Mapping[str, float]]
    both_races: float


def read_races(text: Mapping[str, Any], column: Column) -> RaceModel:
    """The race part of the file of assumptions, for the codes of a column of sets."""
    words = [chosen[0] for chosen in column.sets if len(chosen) == 1]
    masks = [sum(1 << words.index(word) for word in chosen) for chosen in column.sets]
    mask = np.array([0, *masks])
    code = np.zeros(len(mask), dtype=np.int64)
    code[mask] = np.arange(len(mask))
    several = _several(text["several_races"], column)
    single = np.array([0.0, *(text["nation"]["races"].get(chosen[0], 0.0) * (len(chosen) == 1) for chosen in column.sets)])
    nation = single + several * text["nation"]["two_or_more"]
    hispanic = text["nation"]["hispanic"] / 100
    return RaceModel(mask, code, nation / nation.sum(), several, hispanic, text["alike"], text["both_races"])


def _several(said: Mapping[str, float], column: Column) -> Floats:
    """The share of each code among people of two or more races; those not listed share `other_sets`."""
    names = {"+".join(chosen): code for code, chosen in column.set_of.items() if len(chosen) > 1}
    unknown = [name for name in said if name not in names and name != "other_sets"]
    if unknown:
        raise DataError(f"several_races: unknown set {unknown[0]!r}: {nearest(unknown[0], list(names))}")
    shares: Floats = np.zeros(len(column.codes) + 1)
    rest = said["other_sets"] / (len(names) - len(said) + 1)
    for name, code in names.items():
        shares[code] = said.get(name, rest)
    shares /= shares.sum()
    return shares


def draw_races(homes: Homes, model: RaceModel, rng: np.random.Generator) -> tuple[Ints, Ints]:
    drawn = rng.choice(len(model.several), len(homes.size), p=model.several)
    householder = np.where(homes.race == TWO_OR_MORE, drawn, homes.race)
    kind = np.where(homes.partner, 0, np.where(homes.of_type(NONRELATIVES), 2, 1))
    chances = [model.alike[name] for name in ("partner", "relative", "other")]
    count = len(homes.home)
    like = rng.random(count) < np.array([chance["race"] for chance in chances])[kind]
    race = np.where(like, householder[homes.home], rng.choice(len(model.nation), count, p=model.nation))
    # relatives have the races of both parents where the partner's differ, in a share of cases; else the householder's
    partner = householder.copy()
    partner[homes.home[homes.partner]] = race[homes.partner]
    both = model.code[model.mask[householder] | model.mask[partner]][homes.home]
    mixed = np.where(rng.random(count) < model.both_races, both, householder[homes.home])
    race = np.where((kind == 1) & like, mixed, race)
    race[homes.slot == 0] = householder
    like = rng.random(count) < np.array([chance["origin"] for chance in chances])[kind]
    own = homes.origin[homes.home]
    origin = np.where(like, own, np.where(rng.random(count) < model.hispanic, HISPANIC, NOT_HISPANIC))
    origin[homes.slot == 0] = homes.origin
    return race, origin


MALE, FEMALE = 1, 2
MARRIED, MALE_TYPES = 1, (2, 4, 5)
IMPOSSIBLE = "households of two that cannot have both a minor and a person of 65 or over"


@dataclass(frozen=True)
class PersonModel:
    """How persons are drawn: the numbers of the file of assumptions, and the races as codes of the domain."""

    text: Mapping[str, Any]
    races: RaceModel


def read_person_model(path: Path, domain: Domain) -> PersonModel:
    text = read_yaml(path)
    try:
        return PersonModel(text, read_races(text, domain["CENRACE"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: not a file of persons ({error!r}); see data/synthetic/persons.yaml for the form") from None


def draw_persons(
    units: pa.Table, model: PersonModel, rng: np.random.Generator, misfits: MutableMapping[str, int]
) -> pa.Table:
    """The persons of the occupied units, in order; `misfits` counts households that fit no persons: nobody is 65 there."""
    homes = lay_out_homes(units, model.text["another_person"], model.text["ages"]["old_partner"], rng)
    drawn = rng.random(len(homes.size)) < model.text["sex"]["married_householder_male"]
    male = np.isin(homes.kind, MALE_TYPES) | ((homes.kind == MARRIED) & drawn)
    sex_of_householder = np.where(male, MALE, FEMALE)
    age = draw_ages(homes, male, model.text["ages"], rng)
    check_fit(homes, age)
    race, origin = draw_races(homes, model.races, rng)
    sex = _sexes(homes, sex_of_householder, age, model.text["sex"], rng)
    misfits[IMPOSSIBLE] = misfits.get(IMPOSSIBLE, 0) + int(homes.impossible.sum())
    columns = {"QSEX": sex, "QAGE": age, "CENHISP": origin, "CENRACE": race}
    block = homes.block.take(pa.array(homes.home))
    return pa.table({"block": block, **{name: pa.array(codes.astype(np.int8)) for name, codes in columns.items()}})


def _sexes(homes: Homes, householder: Ints, age: Ints, chances: Mapping[str, float], rng: np.random.Generator) -> Ints:
    """Partners are of the other sex, but for a share of unmarried couples; everyone else by age."""
    own = householder[homes.home]
    same = (rng.random(len(own)) < chances["same_sex_partner"]) & (homes.kind[homes.home] != MARRIED)
    chance = np.where(age >= 65, chances["male_65_and_over"], chances["male_under_65"])
    sex: Ints = np.where(rng.random(len(own)) < chance, MALE, FEMALE)
    sex = np.where(homes.partner, np.where(same, own, MALE + FEMALE - own), sex)
    return np.where(homes.slot == 0, own, sex)


def check_fit(homes: Homes, age: Ints) -> None:
    """An error unless the persons are what the households say: size, minors, people of 65 and over, householder's age."""
    count = len(homes.size)
    minors = np.bincount(homes.home[age < 18], minlength=count) > 0
    old = np.bincount(homes.home[age >= 65], minlength=count) > 0
    first = age[homes.slot == 0]
    fits = (minors == homes.minors) & (old == (homes.old & ~homes.impossible))
    fits &= (first >= homes.youngest) & (first <= homes.oldest)
    fits &= (np.minimum(homes.size, LARGEST) == homes.said_size) & (np.bincount(homes.home) == homes.size)
    if not fits.all():
        place = int(np.argmin(fits))
        raise DataError(f"block {homes.block[place]}: drawn persons do not fit the household {homes.words(place)}")


# What the country is made of: national figures, the possible types of households, and their odds.


# Draw from tables of weights: one column of a row for each draw.


def pick(weights: Floats, row: npt.NDArray[np.intp], uniform: Floats) -> Ints:
    """For each draw, a column of its row of weights, with a chance in proportion to the weight."""
    cumulated = np.cumsum(weights, axis=1)
    cumulated /= cumulated[:, -1:]
    cumulated += np.arange(len(weights))[:, None]
    found = np.searchsorted(cumulated.ravel(), row + uniform, side="right") - row * weights.shape[1]
    return np.asarray(np.minimum(found, weights.shape[1] - 1), dtype=np.int64)


def pick_cells(by_cell: Floats, f: Floats, traits: Floats, row: npt.NDArray[np.intp], uniform: Floats) -> tuple[Ints, Ints]:
    """
    For each draw the cell c and the traits t of a household: t by the weights of its row, c by by_cell[c, t] * f[row, c].

    The traits are drawn first: the table of a row would be large, that of its pairs with the traits that occur is not.
    """
    drawn = pick(traits, row, uniform[:, 0])
    pairs, pair = np.unique(row * traits.shape[1] + drawn, return_inverse=True)
    rows, shared = np.divmod(pairs, traits.shape[1])
    return pick(f[rows] * by_cell.T[shared], pair, uniform[:, 1]), drawn


# What the country is made of: national figures, odds of households, likeness of neighbours, states; read from files.

LEVELS = ("state", "county", "tract", "block")
KINDS = ("prototype", "dirichlet", "urn")


@dataclass(frozen=True)
class Target:
    """National percentages of disjoint groups of households; the rest has what is left up to 100."""

    name: str
    cells: tuple[tuple[Predicate, float], ...]

    @property
    def columns(self) -> set[str]:
        return {column for predicate, _ in self.cells for column in predicate.columns}


@dataclass(frozen=True)
class Odds:
    """How the codes of some columns go together: the odds of each combination of codes, 1 where nothing is said."""

    columns: tuple[str, ...]
    codes: Ints
    odds: Floats


@dataclass(frozen=True)
class Group:
    """Columns in which neighbours are alike together, and how strongly at each level."""

    columns: tuple[str, ...]
    strength: Mapping[str, float]


@dataclass(frozen=True)
class Likeness:
    """
    How households come to resemble neighbours: generator, calibrated scale, groups of columns; the share of newcomers, and
    how `common` their kinds are: 1 as in the nation, 0 all that are possible equally often.
    """

    kind: str
    scale: float
    newcomers: float
    groups: tuple[Group, ...]
    common: float = 1.0


@dataclass(frozen=True)
class Vacancy:
    """Vacant units: percentage of the housing units, of each status, and how much places differ."""

    percent: float
    statuses: Mapping[int, float]
    rate: Mapping[str, float]
    status: Mapping[str, float]


@dataclass(frozen=True)
class State:
    """A state: FIPS code, name, median size of its blocks and percentage of the nation's households."""

    fips: str
    name: str
    median: int
    share: float


@dataclass(frozen=True)
class Country:
    """All that the generator knows about the country; `blocks` where race and origin are those of real blocks."""

    targets: tuple[Target, ...]
    odds: tuple[Odds, ...]
    likeness: Mapping[str, Likeness]
    vacancy: Vacancy
    states: tuple[State, ...]
    block_spread: float
    tract_households: int
    blocks: RealBlocks | None = None


FILES = ("national.yaml", "odds.csv", "likeness.yaml", "states.yaml")
NEIGHBOURS = "neighbours.yaml"


def country_file(folder: Path, name: str) -> Path:
    """A file of a country: of its folder, or, where this has none, of the folder around it."""
    around = folder.parent / name
    return around if around.exists() and not (folder / name).exists() else folder / name


def country_files(folder: Path) -> list[Path]:
    files = [country_file(folder, name) for name in FILES]
    likeness, estimates = country_file(folder, "likeness.yaml"), country_file(folder, NEIGHBOURS)
    real = likeness.exists() and estimates.exists() and "race_and_origin" in read_yaml(likeness)
    return sorted([*files, *([estimates] if real else [])])


def read_country(folder: Path) -> Country:
    """The country of the four files; with an entry `race_and_origin`, these are drawn as in neighbours.yaml."""
    national, states = (_read(country_file(folder, name)) for name in ("national.yaml", "states.yaml"))
    likeness = dict(_read(country_file(folder, "likeness.yaml")))
    real = likeness.pop("race_and_origin", None)
    try:
        targets = tuple(_target(name, cells) for name, cells in national["targets"].items())
        alike = {kind: _likeness(kind, entry) for kind, entry in likeness.items()}
        statuses = {int(code): float(percent) for code, percent in national["vacant"]["statuses"].items()}
        spread = national["vacant"]["spread"]
        vacancy = Vacancy(float(national["vacant"]["percent"]), statuses, spread["rate"], spread["status"])
        sizes = _states(states["states"]), float(states["block_spread"]), int(states["tract_households"])
        blocks = read_blocks_of_country(country_file(folder, NEIGHBOURS), real) if real else None
        return Country(targets, read_odds(country_file(folder, "odds.csv")), alike, vacancy, *sizes, blocks)
    except KeyError as error:
        raise DataError(f"{folder}: the entry {error} is missing; compare with the files of data/synthetic") from None


def _read(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        raise DataError(f"{path} does not exist; the synthetic country needs this file")
    return read_yaml(path)


def _target(name: str, cells: list[Mapping[str, Any]]) -> Target:
    found = tuple(
        (Predicate.of({key: codes for key, codes in cell.items() if key != "percent"}), float(cell["percent"]))
        for cell in cells
    )
    total = sum(percent for _, percent in found)
    if total > 100.001 or min(percent for _, percent in found) <= 0:
        raise DataError(f"national.yaml, target {name}: percentages must be positive and add up to 100 at most: {total}")
    return Target(name, found)


def read_odds(path: Path) -> tuple[Odds, ...]:
    """The odds of a file with the columns `columns`, `codes` (both separated by blanks) and `odds`."""
    expected = Expected("the odds of a synthetic country", "compare with data/synthetic/odds.csv")
    table = open_csv(path, expected).frame(["columns", "codes", "odds"])
    return tuple(_odds(path, str(names), rows) for names, rows in table.groupby("columns", sort=False))


def _odds(path: Path, names: str, rows: pd.DataFrame) -> Odds:
    columns = tuple(names.split())
    odds = pd.to_numeric(rows["odds"], errors="coerce").to_numpy(np.float64)
    codes = [[int(code) for code in text.split() if code.isdecimal()] for text in rows["codes"].astype(str)]
    for line, values, chance in zip(rows.index, codes, odds, strict=True):
        if len(values) != len(columns) or not 0 < chance < np.inf:
            raise DataError(f"{path}, row {line}: give {len(columns)} codes and odds over 0 for {names}")
    return Odds(columns, np.array(codes, dtype=np.int64), odds)


def _likeness(kind: str, entry: Mapping[str, Any]) -> Likeness:
    where = f"likeness.yaml, {kind}"
    if kind not in KINDS:
        raise DataError(f"{where}: unknown kind: {nearest(kind, list(KINDS))}")
    groups = tuple(_group(where, dict(group)) for group in entry["groups"])
    scale, newcomers, common = float(entry["scale"]), float(entry["newcomers"]), float(entry.get("common", 1))
    if scale <= 0 or not 0 <= newcomers < 1 or not 0 <= common <= 1:
        raise DataError(f"{where}: the scale must be over 0, newcomers a share under 1, and common from 0 to 1")
    return Likeness(kind, scale, newcomers, groups, common)


def _group(where: str, entry: dict[str, Any]) -> Group:
    columns = tuple(map(str, entry.pop("columns")))
    for level in entry:
        if level not in LEVELS:
            raise DataError(f"{where}, {' '.join(columns)}: unknown level {level!r}: {nearest(level, list(LEVELS))}")
    return Group(columns, {level: float(entry.get(level, 0)) for level in LEVELS})


def _states(entries: Mapping[str, Mapping[str, Any]]) -> tuple[State, ...]:
    states = tuple(
        State(fips, str(entry["name"]), int(entry["median"]), float(entry["share"]))
        for fips, entry in sorted(entries.items())
    )
    for state in states:
        if state.median < 1 or state.share <= 0 or not re.fullmatch("[0-9]{2}", str(state.fips)):
            raise DataError(f"states.yaml, state {state.fips}: give two digits, a median of 1 or more and a share over 0")
    return states


# The possible types of occupied households: profiles times traits, and their national joint distribution.

TENURE = "TEN"
TRAITS = (TENURE, "THHSPAN", "THHRACE")
UNIVERSE = "occupied"


@dataclass(frozen=True)
class Types:
    """Every possible type: a profile (who lives there) with traits (tenure, origin, race), which no rule links to it."""

    profiles: Records
    traits: Records

    @property
    def shape(self) -> tuple[int, int]:
        return len(next(iter(self.profiles.values()))), len(next(iter(self.traits.values())))

    @cached_property
    def records(self) -> Records:
        """One record per type, profile by profile."""
        rows, columns = self.shape
        profiles = {name: np.repeat(codes, columns) for name, codes in self.profiles.items()}
        return {**profiles, **{name: np.tile(codes, rows) for name, codes in self.traits.items()}}


def possible_types(file: DomainFile, traits: Sequence[str] = TRAITS) -> Types:
    """The types of the occupied universe that no structural rule excludes."""
    names = tuple(name for name in file.domain.names if name not in TRAITS and name != "VACS")
    return Types(_possible(file, names), _possible(file, traits))


def _possible(file: DomainFile, names: Sequence[str]) -> dict[str, npt.NDArray[np.int8]]:
    """The combinations of the named columns that break no rule which speaks of them."""
    occupied = file.universe(UNIVERSE).codes
    codes = (occupied.get(name) or file.domain[name].codes for name in names)
    grid = np.meshgrid(*(np.array(values, dtype=np.int8) for values in codes), indexing="ij")
    records = {name: codes.ravel() for name, codes in zip(names, grid, strict=True)}
    kept = np.ones(records[names[0]].size, dtype=bool)
    for rule in file.rules.values():
        spoken = {column for said in (rule.when, *rule.one_of) for column in said.columns} - {"VACS"}
        if rule.when.where.get("VACS", (0,)) == (0,) and spoken <= set(names):
            kept &= ~rule.excludes({**records, "VACS": np.zeros(kept.size, dtype=np.int8)})
    return {name: codes[kept] for name, codes in records.items()}


def odds_of_types(country: Country, types: Types) -> Floats:
    """The weight of each type by the odds of the country alone."""
    weights: Floats = np.ones(types.shape)
    for odds in country.odds:
        weights *= _factors(odds, types)
    return weights.ravel()


def _factors(odds: Odds, types: Types) -> Floats:
    """The odds of each profile (rows) and traits (columns): a single row or column where all of them have the same."""
    known = {name: codes[:, None] for name, codes in types.profiles.items()} | dict(types.traits)
    unknown = [name for name in odds.columns if name not in known]
    if unknown:
        raise DataError(f"odds.csv, {' '.join(odds.columns)}: {unknown[0]} is not a column of an occupied household")
    for name, codes in zip(odds.columns, odds.codes.T, strict=True):
        absent = sorted(set(codes.tolist()) - set(known[name].ravel().tolist()))
        if absent:
            message = f"odds.csv, {' '.join(odds.columns)}: no occupied household of the domain has {name}={absent[0]}"
            raise DataError(f"{message}; estimate the odds again (genverify estimate households) for this domain")
    grid = np.broadcast_arrays(np.zeros((1, 1)), *(known[name] for name in odds.columns))[1:]
    codes, found = row_keys([odds.codes, np.stack([column.ravel() for column in grid], axis=1)])
    order = np.argsort(codes, kind="stable")
    place = positions(codes[order], found)
    return np.where(place < 0, 1.0, odds.odds[order][place]).reshape(grid[0].shape)


@dataclass(frozen=True)
class Margin:
    """A target over types: the cell that each type belongs to, and the share that each cell must have."""

    cells: npt.NDArray[np.intp]
    shares: Floats


def margins_of(file: DomainFile, country: Country, types: Types) -> tuple[Margin, ...]:
    return tuple(margin_of(file, target, types.records) for target in country.targets)


def margin_of(file: DomainFile, target: Target, records: Records) -> Margin:
    """A national target as a margin over records."""
    cells: npt.NDArray[np.intp] = np.zeros(len(next(iter(records.values()))), dtype=np.intp)
    for number, (predicate, _) in enumerate(target.cells, start=1):
        file.domain.check(predicate, f"national.yaml, target {target.name}")
        matches = predicate.matches(records)
        if not matches.any() or cells[matches].any():
            raise DataError(f"national.yaml, target {target.name}: {predicate} is impossible or overlaps another line")
        cells[matches] = number
    percents = [percent for _, percent in target.cells]
    rest = max(0.0, 100 - sum(percents)) if (cells == 0).any() else 0.0
    shares: Floats = np.array([rest, *percents])
    return Margin(cells, shares / shares.sum())


def rake(weights: Floats, margins: Sequence[Margin], rounds: int = 100, tolerance: float = 1e-4) -> Floats:
    """Iterative proportional fitting: the weights, scaled until each margin has its shares."""
    fitted: Floats = weights / weights.sum()
    for _ in range(rounds):
        worst = 0.0
        for margin in margins:
            found = np.bincount(margin.cells, fitted, minlength=margin.shares.size)
            worst = max(worst, float(np.abs(found - margin.shares).max()))
            factors = np.divide(margin.shares, found, out=np.ones_like(found), where=found > 0)
            fitted = fitted * factors[margin.cells]
        if worst < tolerance:
            break
    return fitted
