"""A household of the two releases: its columns, what can be read off it, and the occupancy limit."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Flags, Ints
from genverify.core.domain import Domain, parse_domain
from genverify.core.errors import DataError, nearest
from genverify.core.files import read_yaml

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
    """The domain file of the housing study."""
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
