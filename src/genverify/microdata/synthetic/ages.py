"""Ages of the persons of synthetic households, within what the household says."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.microdata.synthetic.homes import NONRELATIVES, WITH_OWN_CHILDREN, Homes

ADULT, OLD, OLDEST, MARRIAGEABLE = 18, 65, 115, 15
OLDEST_OTHER = 99  # of those who are no householders
EDGE = 17


def draw_ages(homes: Homes, male: Flags, said: Mapping[str, Any], rng: np.random.Generator) -> Ints:
    """The age of every person: of the householder from the band, of the others by how they are related."""
    householder = _householders(homes, said["another_year"], rng)
    near = householder[homes.home] + _distances(homes, male, said, rng)
    low, high = _limits(homes)
    age = _within(near, low, high, rng)
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


def _within(age: Floats, low: Ints, high: Ints, rng: np.random.Generator) -> Ints:
    """Whole years; an age outside its limits becomes one not far from the nearer limit."""
    rounded = np.rint(age).astype(np.int64)
    inward = rng.integers(0, np.minimum(high - low, EDGE) + 1)
    return np.where(rounded < low, low + inward, np.where(rounded > high, high - inward, rounded))
