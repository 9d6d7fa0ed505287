"""Match keys: what the attacker's identified data say of a household, and which households exceed the occupancy limit."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from genverify.core.arraytypes import Flags
from genverify.papers.housing.private.household import COLUMNS, HouseholdFile
from genverify.papers.housing.private.store import property_households, read_states

SUBSIDY = "BEDROOMS"
"""The column that is 0 for a household outside of subsidized properties."""


def with_key(households: pd.DataFrame, names: Sequence[str], file: HouseholdFile) -> pd.DataFrame:
    """The households as the key S shows them: their block, and a column for each name of the key."""
    return pd.DataFrame({"block": households["block"], **{name: file.values(name, households) for name in names}})


def knows_subsidy(names: Sequence[str], file: HouseholdFile) -> bool:
    """Whether a key tells subsidized households from the others."""
    return any((name if name in COLUMNS else file.attributes[name].column) == SUBSIDY for name in names)


def in_violation(households: pd.DataFrame, file: HouseholdFile) -> Flags:
    """V: the households of more persons than their unit may hold."""
    bedrooms, size = (file.values(name, households) for name in (SUBSIDY, "SIZE"))
    return file.violates(bedrooms, size)


def read_property_households(path: Path) -> pd.DataFrame:
    """The private households of all blocks that hold a property, a state at a time."""
    return pd.concat(map(property_households, read_states(path)), ignore_index=True)
