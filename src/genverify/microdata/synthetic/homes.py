"""Synthetic households as homes with a place for every person: who must be a partner, a minor, a person of 65 or over."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from genverify.core.arraytypes import Flags, Ints

LARGEST = 7
OLD_CODE = 7
AGE_BANDS = {
    1: (15, 24),
    2: (25, 34),
    3: (35, 44),
    4: (45, 54),
    5: (55, 59),
    6: (60, 64),
    7: (65, 74),
    8: (75, 84),
    9: (85, 115),
}
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
    """The occupied units of a table as homes."""
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
