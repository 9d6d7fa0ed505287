"""
HUD's Picture of Subsidized Households, property level, from a user's file with block ids, linked to the census (appendix D).

Which columns, codes and programs is stated in data/housing/picture.yaml. Properties are left out, and counted by reason: of
another program, without a block id, with suppressed or missing figures (but bedrooms that are not reported count as none, as
in appendix E). Properties of one block are added up: a percentage becomes that of all their households or units, rounded
again, so that it may be 1 off. Then blocks are left out: with group quarters, or where HUD counts more households, or more
persons, than the census.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.errors import DataError
from genverify.papers.housing.published.csv_columns import check_blocks, numbers, read_columns
from genverify.papers.housing.published.sf1 import IN_HOUSEHOLDS, read_sf1
from genverify.papers.housing.published.statistics import (
    BEDROOM_NAMES,
    CENSUS,
    HUD_COUNTS,
    ROUNDING,
    SLACK,
    check,
    require_blocks,
)

SETTING = "housing.picture"
NO_BLOCK, OTHER, SUPPRESSED = (
    "property without a block id",
    "property of another program",
    "property with suppressed figures",
)
GROUP_QUARTERS, MORE_HOUSEHOLDS = "block with group quarters", "block with more households in HUD's file than in the census"
MORE_PERSONS = "block with more persons in HUD's file than in the census"


@dataclass
class Excluded:
    """How many properties and blocks were left out by reason, and what the programs were called that were left out."""

    reasons: Counter[str] = field(default_factory=Counter)
    programs: Counter[str] = field(default_factory=Counter)

    def listed(self) -> dict[str, int]:
        """How many by reason, in the order of appendix D; none is a number too."""
        order = (OTHER, NO_BLOCK, SUPPRESSED, GROUP_QUARTERS, MORE_HOUSEHOLDS, MORE_PERSONS)
        return {reason: self.reasons[reason] for reason in order}


def read_picture(path: Path, columns: Mapping[str, Any], published: Mapping[str, Any], excluded: Excluded) -> pd.DataFrame:
    """The statistics of the properties of each block, sorted by block."""
    lines = published["percentages"]
    parts = [_properties(rows, path, columns, lines, excluded) for rows in read_columns(path, columns["columns"], SETTING)]
    found = pd.concat(parts) if parts else pd.DataFrame()
    if found.empty:
        raise DataError(
            f"{path}: no property is left ({dict(excluded.reasons) or 'the file has no rows'}). Check the programs in "
            f"data/housing/picture.yaml against those of the file: {', '.join(sorted(excluded.programs)) or 'none'}."
        )
    return _add_up(found, lines)


def _properties(
    rows: pd.DataFrame, path: Path, columns: Mapping[str, Any], lines: Mapping[str, Any], excluded: Excluded
) -> pd.DataFrame:
    """The properties that are kept, as numbers."""
    known = {name.casefold() for name in columns["programs"]}
    program, rows = rows["program"].str.strip(), rows.assign(block=rows["block"].str.strip())
    other, homeless = ~program.str.casefold().isin(known), rows["block"].isin(["", "NA"])
    excluded.programs.update(program[other])
    excluded.reasons.update({OTHER: int(other.sum()), NO_BLOCK: int((homeless & ~other).sum())})
    rows = rows[~other & ~homeless]
    check_blocks(rows, path)
    values = {name: numbers(rows, name, path, columns["missing"]) for name in (*HUD_COUNTS, *lines)}
    frame = pd.DataFrame(values, index=rows.index).assign(block=rows["block"])
    _check_bedrooms(frame, path)
    frame[BEDROOM_NAMES] = frame[BEDROOM_NAMES].fillna(0)
    whole = frame.notna().all(axis=1) & (frame["HUD_N"] > 0)
    excluded.reasons.update({SUPPRESSED: int((~whole).sum())})
    _check_percentages(frame[whole], list(lines), path)
    return frame[whole]


def _check_percentages(frame: pd.DataFrame, names: list[str], path: Path) -> None:
    for name in names:
        wrong = frame.index[frame[name] > 100]
        if len(wrong):
            raise DataError(
                f"{path}, row {wrong[0]}: {name} = {frame[name][wrong[0]]:g} is not a percentage. Correct the row."
            )


def _check_bedrooms(frame: pd.DataFrame, path: Path) -> None:
    """Where all three percentages are reported they add up to 100, but for rounding."""
    total = frame[BEDROOM_NAMES].sum(axis=1, skipna=False)
    wrong = frame.index[((total - 100).abs() > ROUNDING) & (total > 0)]
    if len(wrong):
        parts = " + ".join(f"{frame[name][wrong[0]]:g}" for name in BEDROOM_NAMES)
        raise DataError(
            f"{path}, row {wrong[0]}: units by bedrooms ({parts} percent) add up to {total[wrong[0]]:g}, not to 100. "
            "Correct the row, or write -1 for what is not known."
        )


def _add_up(properties: pd.DataFrame, lines: Mapping[str, Any]) -> pd.DataFrame:
    """One row per block: sums, and percentages of the sums."""
    weighted = {name: properties[name] * properties[line["of"]] for name, line in lines.items()}
    sums = properties.assign(**weighted).groupby("block").sum()
    rounded = {name: np.floor(sums[name] / sums[line["of"]].clip(lower=1) + 0.5) for name, line in lines.items()}
    # a mean of rounded percentages, rounded again, may be off by one
    several = (properties.groupby("block").size() > 1).astype(np.int64)
    found = sums.assign(**rounded, **{SLACK: several})[[*HUD_COUNTS, *lines, SLACK]]
    return found.round().astype(np.int64).reset_index()


def link(picture: pd.DataFrame, census: pd.DataFrame, excluded: Excluded, where: str) -> pd.DataFrame:
    """Both releases about every block that is kept, without the exclusions of appendix D."""
    require_blocks(census, picture, where)
    joined = census.merge(picture, on="block", how="inner").sort_values("block", ignore_index=True)
    for reason, part, whole in (
        (GROUP_QUARTERS, "P", IN_HOUSEHOLDS),
        (MORE_HOUSEHOLDS, "HUD_N", "N"),
        (MORE_PERSONS, "HUD_P", "P"),
    ):
        left_out = joined[part] > joined[whole]
        excluded.reasons[reason] += int(left_out.sum())
        joined = joined[~left_out]
    if joined.empty:
        raise DataError(f"{where}: no block is left after the exclusions of appendix D: {dict(excluded.reasons)}.")
    found = joined.drop(columns=IN_HOUSEHOLDS).reset_index(drop=True)
    check(found, where, whole_bedrooms=False)
    hud = [name for name in found if name not in ("block", *CENSUS)]
    return found[["block", *CENSUS, *hud]]


def read_releases(
    picture: Path, sf1: Path, columns: Mapping[str, Any], published: Mapping[str, Any]
) -> tuple[pd.DataFrame, Excluded]:
    """Both files of a user, linked; `columns` holds what data/housing/picture.yaml and sf1.yaml say."""
    excluded = Excluded()
    properties = read_picture(picture, columns["picture"], published, excluded)
    census = read_sf1(sf1, columns["sf1"], properties["block"])
    return link(properties, census, excluded, f"{picture.name} and {sf1.name}"), excluded
