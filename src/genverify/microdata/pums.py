"""
Households of the American Community Survey's Public Use Microdata Sample, recoded to the columns of the study.

Csv files as the Census Bureau gives them (psam_hus*.csv, psam_pus*.csv): a row per housing unit, a row per person, joined by
SERIALNO. Group quarters and vacant units are passed over. The person who answers first (SPORDER 1) is the householder.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Ints
from genverify.core.csvfile import Expected, open_csv
from genverify.core.errors import DataError
from genverify.core.limits import FileLimits

PUMS = Expected("a CSV file of PUMS", "", FileLimits(50_000_000, 64 * 2**30, "give its parts one after the other"))
HOUSEHOLDS = "households"
HOUSING = ("SERIALNO", "NP", "TEN", "HHT")
PERSON = ("SERIALNO", "SPORDER", "AGEP", "SEX", "RAC1P", "HISP")
OWN_CHILDREN, COUPLE = ("NOC",), ("PARTNER",)
"""Needed where the file has no HHT2, as before 2019: own children under 18, and whether there is an unmarried partner."""

AGES = (0, 25, 35, 45, 55, 60, 65, 75, 85)
RACE = {1: 1, 2: 2, 3: 3, 4: 3, 5: 3, 6: 4, 7: 5, 8: 6, 9: 7}
LARGEST, MALE, FAMILIES, ALONE = 7, 1, (1, 2, 3), (4, 6)
MARRIED, COHABITING, FEMALE_ALONE, MALE_ALONE = 1, 3, 5, 9


def count_pums(housing: Sequence[Path], persons: Sequence[Path]) -> pd.DataFrame:
    """Sample households by their codes in the nine columns of an occupied household: a row per combination, `households`."""
    units = pd.concat([_read(path, HOUSING, ("HHT2", *OWN_CHILDREN, *COUPLE)) for path in housing], ignore_index=True)
    units = units[(units["NP"] > 0) & units["TEN"].notna() & units["HHT"].notna()].set_index("SERIALNO")
    people = pd.concat([_read(path, PERSON, ()) for path in persons], ignore_index=True)
    first = people[people["SPORDER"] == 1].set_index("SERIALNO")
    both = units.index.intersection(first.index)
    if units.empty or both.empty:
        raise DataError(
            f"{housing[0]}: no occupied household whose persons stand in {persons[0]}; give files of the same survey"
        )
    units, first = units.loc[both], first.loc[both]
    ages = people.groupby("SERIALNO")["AGEP"].agg(["min", "max"]).loc[both]
    coded = {
        "TEN": units["TEN"],
        "HHSIZE": units["NP"].clip(upper=LARGEST),
        "HHT": units["HHT"],
        "HHT2": _detailed(units, first["SEX"].to_numpy(dtype=np.int64), housing[0]),
        "THHSPAN": 1 + (first["HISP"] > 1),
        "THHLDRAGE": np.searchsorted(AGES, first["AGEP"], side="right"),
        "THHRACE": first["RAC1P"].map(RACE),
        "TP18": (ages["min"] < 18),
        "TP65": (ages["max"] >= 65),
    }
    frame = pd.DataFrame({name: np.asarray(codes, dtype=np.int64) for name, codes in coded.items()})
    return frame.value_counts(sort=False).rename(HOUSEHOLDS).reset_index()


def _read(path: Path, needed: Sequence[str], wanted: Sequence[str]) -> pd.DataFrame:
    file = open_csv(path, PUMS)
    return file.frame([*needed, *(name for name in wanted if name in file.names)], texts=["SERIALNO"])


def _detailed(units: pd.DataFrame, sex: Ints, path: Path) -> Ints:
    """HHT2, as the file has it or from own children, partner, type and the householder's sex."""
    if "HHT2" in units:
        return units["HHT2"].to_numpy(dtype=np.int64)
    for name in (*OWN_CHILDREN, *COUPLE):
        if name not in units:
            raise DataError(f"{path}: neither HHT2 nor {name}; one of them distinguishes couples and own children")
    kind = units["HHT"].to_numpy(dtype=np.int64)
    own, partner = (units[name].fillna(0).to_numpy() > 0 for name in (*OWN_CHILDREN, *COUPLE))
    couple = np.where(kind == MARRIED, MARRIED, COHABITING) + ~own
    lives = np.select([np.isin(kind, ALONE), own, np.isin(kind, FAMILIES)], [0, 1, 2], 3)
    return np.where((kind == MARRIED) | partner, couple, np.where(sex == MALE, MALE_ALONE, FEMALE_ALONE) + lives)
