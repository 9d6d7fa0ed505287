"""Block counts of the census from a user's file of Summary File 1; which columns is stated in data/housing/sf1.yaml."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.errors import DataError
from genverify.papers.housing.published.csv_columns import check_blocks, read_columns, whole_numbers
from genverify.papers.housing.published.statistics import CENSUS, RACE_NAMES, SIZE_NAMES

SETTING = "housing.sf1"
IN_HOUSEHOLDS = "IN_HOUSEHOLDS"
"""Persons who live in households; where there are fewer than P, the block has group quarters."""


def read_sf1(path: Path, columns: Mapping[str, Any], blocks: Collection[str]) -> pd.DataFrame:
    """The census counts of the blocks that are named, sorted, and the persons in households; the file is read in pieces."""
    wanted, parts = set(blocks), []
    for rows in read_columns(path, columns["columns"], SETTING):
        rows = rows.assign(block=rows["block"].str.strip())
        check_blocks(rows, path)
        own = rows[rows["block"].isin(wanted)]
        numbers = {name: whole_numbers(own, name, path) for name in [*CENSUS, IN_HOUSEHOLDS]}
        parts.append(pd.DataFrame({"block": own["block"], **numbers}, index=own.index))
    if not parts:
        raise DataError(f"{path}: the header is there but no rows follow; see {SETTING} in config/housing.yaml")
    found = pd.concat(parts)
    _check(found, path)
    return found.sort_values("block", ignore_index=True)


def _check(counts: pd.DataFrame, path: Path) -> None:
    """No block twice, and no part larger than its whole; households of unknown size are the attacker's to guess."""
    wholes = {
        "households by size": (counts[SIZE_NAMES].sum(axis=1), "N"),
        "households by race and origin": (counts[RACE_NAMES].sum(axis=1), "N"),
        "persons in households": (counts[IN_HOUSEHOLDS], "P"),
        "persons under 18": (counts["CHILDREN"], IN_HOUSEHOLDS),
    }
    for what, (part, whole) in wholes.items():
        wrong = part > counts[whole]
        if wrong.any():
            row = wrong.index[int(np.argmax(wrong))]
            raise DataError(
                f"{path}, row {row}: block {counts['block'][row]} has {part[row]} {what}, more than {whole} = "
                f"{counts[whole][row]}. Correct the row, or leave the block out."
            )
    twice = counts.index[counts["block"].duplicated()]
    if len(twice):
        raise DataError(f"{path}, row {twice[0]}: block {counts['block'][twice[0]]} is duplicated. Keep one row.")
