"""Races and origins of the persons of synthetic households: mostly those of the householder."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.core.domain import Column
from genverify.core.errors import DataError, nearest
from genverify.microdata.synthetic.homes import NONRELATIVES, Homes

TWO_OR_MORE = 7
NOT_HISPANIC, HISPANIC = 1, 2


@dataclass(frozen=True)
class RaceModel:
    """
    Codes of race as sets of words, written as bit masks, and how often each occurs in the nation (by code) and among
    people of two or more races; chances to be alike; the share of Hispanics.
    """

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
    """Race and origin of every person."""
    drawn = rng.choice(len(model.several), len(homes.size), p=model.several)
    householder = np.where(homes.race == TWO_OR_MORE, drawn, homes.race)
    kind = np.where(homes.partner, 0, np.where(homes.of_type(NONRELATIVES), 2, 1))
    chances = [model.alike[name] for name in ("partner", "relative", "other")]
    count = len(homes.home)
    like = rng.random(count) < np.array([chance["race"] for chance in chances])[kind]
    race = np.where(like, householder[homes.home], rng.choice(len(model.nation), count, p=model.nation))
    race = np.where((kind == 1) & like, _of_both(homes, model, householder, race, rng), race)
    race[homes.slot == 0] = householder
    like = rng.random(count) < np.array([chance["origin"] for chance in chances])[kind]
    own = homes.origin[homes.home]
    origin = np.where(like, own, np.where(rng.random(count) < model.hispanic, HISPANIC, NOT_HISPANIC))
    origin[homes.slot == 0] = homes.origin
    return race, origin


def _of_both(homes: Homes, model: RaceModel, householder: Ints, race: Ints, rng: np.random.Generator) -> Ints:
    """The races of both parents where the partner's differ, for a share of their relatives; else the householder's."""
    partner = householder.copy()
    partner[homes.home[homes.partner]] = race[homes.partner]
    both = model.code[model.mask[householder] | model.mask[partner]][homes.home]
    return np.where(rng.random(len(race)) < model.both_races, both, householder[homes.home])
