"""What the census and HUD publish about the blocks of properties: counts, and percentages of the subsidized households."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Flags
from genverify.core.errors import DataError
from genverify.core.predicates import Predicate
from genverify.papers.housing.private.conditionals import LARGEST

RACES = 14
SIZE_NAMES = [f"SIZE_{size}" for size in range(1, LARGEST + 1)]
RACE_NAMES = [f"RACE_{race}" for race in range(1, RACES + 1)]
CENSUS = ["N", "P", *SIZE_NAMES, *RACE_NAMES, "CHILDREN"]
HUD_COUNTS = ["HUD_N", "HUD_P", "HUD_UNITS"]
BEDROOM_NAMES = ["HUD_BED_1", "HUD_BED_2", "HUD_BED_3"]
SLACK = "HUD_SLACK"
"""1 where the percentages of a block are means over several properties and may be off by one; else 0, or no such column."""
ROUNDING = 1
"""Three percentages, each rounded to a whole number, add up to 99, 100 or 101."""


def census_statistics(households: pd.DataFrame) -> pd.DataFrame:
    """The census counts of every block, sorted: households N, persons P, by size and race, and persons under 18."""
    block = households["block"]
    size, race = households["SIZE"].clip(upper=LARGEST), households["RACE"]
    parts = {"N": np.ones(len(households), dtype=np.int64), "P": households["SIZE"], "CHILDREN": households["CHILDREN"]}
    parts |= {name: size == code for code, name in enumerate(SIZE_NAMES, 1)}
    parts |= {name: race == code for code, name in enumerate(RACE_NAMES, 1)}
    return _sums({name: parts[name] for name in CENSUS}, block)


def hud_statistics(households: pd.DataFrame, published: Mapping[str, Any]) -> pd.DataFrame:
    """What HUD publishes about the property of every block that holds one; every unit of it is occupied."""
    own = households[households["BEDROOMS"] > 0]
    parts = {"HUD_N": np.ones(len(own), dtype=np.int64), "HUD_P": own["SIZE"]}
    lines = published["percentages"]
    counted = _sums(parts | {name: counts_for(own, line) for name, line in lines.items()}, own["block"])
    counted.insert(3, "HUD_UNITS", counted["HUD_N"])
    return counted.assign(**{name: whole_percent(counted[name], counted[line["of"]]) for name, line in lines.items()})


def _sums(parts: Mapping[str, Any], block: "pd.Series[Any]") -> pd.DataFrame:
    columns = {name: np.asarray(values, dtype=np.int64) for name, values in parts.items()}
    return pd.DataFrame(columns, index=block.index).groupby(block).sum().reset_index()


def counts_for(households: pd.DataFrame, line: Mapping[str, Any]) -> Flags:
    """Whether each household counts for a published percentage."""
    flags = Predicate.of(line.get("where", {})).matches({str(name): column for name, column in households.items()})
    if "adults" in line:
        low, *rest = line["adults"]
        adults = (households["SIZE"] - households["CHILDREN"]).to_numpy()
        high = {"last": np.inf}.get(str(rest[0]), rest[0]) if rest else low
        flags = flags & (adults >= low) & (adults <= high)
    if line.get("children"):
        flags = flags & (households["CHILDREN"] > 0).to_numpy()
    return np.asarray(flags)


def whole_percent(count: Any, of: Any) -> Any:
    """
    The whole percentage, a half rounded up; of nothing: 0.

    >>> whole_percent(np.array([1, 1, 0]), np.array([8, 200, 0])).tolist()
    [13, 1, 0]
    """
    whole = np.maximum(np.asarray(of), 1)
    return (200 * np.asarray(count) + whole) // (2 * whole)


def join(census: pd.DataFrame, hud: pd.DataFrame, where: str = "the statistics") -> pd.DataFrame:
    """Both releases about every block that holds a property, checked."""
    require_blocks(census, hud, where)
    joined = census.merge(hud, on="block", how="inner").sort_values("block", ignore_index=True)
    check(joined, where)
    return joined


def require_blocks(census: pd.DataFrame, hud: pd.DataFrame, where: str) -> None:
    """Every property stands in a block that the census counts, and a block has one row of property statistics."""
    lost = sorted(set(hud["block"]) - set(census["block"]))
    if lost:
        raise DataError(
            f"{where}: a property stands in block {lost[0]}, which has no census counts ({len(lost)} such blocks). Give the "
            "counts of that block, or leave the property out."
        )
    twice = hud.loc[hud["block"].duplicated(), "block"]
    if len(twice):
        raise DataError(f"{where}: block {twice.iloc[0]} has two rows of property statistics; add them up first.")


def check(statistics: pd.DataFrame, where: str, whole_bedrooms: bool = True) -> None:
    """An error that names the first block whose statistics cannot be; `whole_bedrooms`: every unit tells its bedrooms."""
    percentages = [name for name in statistics.columns if name.startswith("HUD_") and name not in HUD_COUNTS]
    for name in percentages:
        _refuse(
            statistics, where, (statistics[name] < 0) | (statistics[name] > 100), name, "is not a percentage from 0 to 100"
        )
    total = statistics[[name for name in BEDROOM_NAMES if name in statistics]].sum(axis=1)
    named = statistics.assign(**{" + ".join(BEDROOM_NAMES): total})
    wrong = (total > 100 + ROUNDING) | (whole_bedrooms & (total < 100 - ROUNDING))
    _refuse(named, where, wrong, " + ".join(BEDROOM_NAMES), "percent of units by bedrooms do not add up to 100")
    for name, of, what in (("HUD_N", "N", "households"), ("HUD_P", "P", "persons")):
        why = f"subsidized {what} are more than the census counts in the block ({of})"
        _refuse(statistics, where, statistics[name] > statistics[of], name, why)


def _refuse(frame: pd.DataFrame, where: str, wrong: "pd.Series[bool]", name: str, why: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{where}: block {frame['block'].iloc[row]} (row {row + 1}): {name} = {frame[name].iloc[row]} {why}. "
            "Correct the row, or leave the block out."
        )
