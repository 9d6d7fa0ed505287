"""The persons of the synthetic households, one by one: they fit size, ages, race and origin of every household."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from genverify.core.arraytypes import Ints
from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.core.files import read_yaml
from genverify.microdata.synthetic.ages import draw_ages
from genverify.microdata.synthetic.homes import LARGEST, Homes, lay_out_homes
from genverify.microdata.synthetic.races import RaceModel, draw_races, read_races

MALE, FEMALE = 1, 2
MARRIED, MALE_TYPES = 1, (2, 4, 5)
IMPOSSIBLE = "households of two that cannot have both a minor and a person of 65 or over"


@dataclass(frozen=True)
class PersonModel:
    """How persons are drawn: the numbers of the file of assumptions, and the races as codes of the domain."""

    text: Mapping[str, Any]
    races: RaceModel


def read_person_model(path: Path, domain: Domain) -> PersonModel:
    """The file of assumptions about persons."""
    text = read_yaml(path)
    try:
        return PersonModel(text, read_races(text, domain["CENRACE"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: not a file of persons ({error!r}); see data/synthetic/persons.yaml for the form") from None


def draw_persons(
    units: pa.Table, model: PersonModel, rng: np.random.Generator, misfits: MutableMapping[str, int]
) -> pa.Table:
    """
    The persons of the occupied units of a table, in the order of the units: `block` and the columns of a person.

    `misfits` counts households that no persons can fit, though the rules of the domain let them pass; nobody is 65 there.
    """
    homes = lay_out_homes(units, model.text["another_person"], model.text["ages"]["old_partner"], rng)
    sex_of_householder = _householders(homes, model.text["sex"], rng)
    male = sex_of_householder == MALE
    age = draw_ages(homes, male, model.text["ages"], rng)
    check_fit(homes, age)
    race, origin = draw_races(homes, model.races, rng)
    sex = _sexes(homes, sex_of_householder, age, model.text["sex"], rng)
    misfits[IMPOSSIBLE] = misfits.get(IMPOSSIBLE, 0) + int(homes.impossible.sum())
    columns = {"QSEX": sex, "QAGE": age, "CENHISP": origin, "CENRACE": race}
    block = homes.block.take(pa.array(homes.home))
    return pa.table({"block": block, **{name: pa.array(codes.astype(np.int8)) for name, codes in columns.items()}})


def _householders(homes: Homes, chances: Mapping[str, float], rng: np.random.Generator) -> Ints:
    """The sex of each householder: by the household type, drawn for married couples."""
    drawn = rng.random(len(homes.size)) < chances["married_householder_male"]
    male = np.isin(homes.kind, MALE_TYPES) | ((homes.kind == MARRIED) & drawn)
    return np.where(male, MALE, FEMALE)


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
