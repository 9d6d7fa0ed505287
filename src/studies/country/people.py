"""The persons of the synthetic households, one by one: they fit size, ages, race and origin."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.domain import Column, Domain
from genverify.model.errors import DataError, nearest
from genverify.model.files import read_yaml

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
