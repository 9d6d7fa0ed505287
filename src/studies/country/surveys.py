"""Survey files: the columns of a task as a discrete domain, households recoded."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from genverify.model.arrays import Floats, Ints
from genverify.model.domain import Column, Domain
from genverify.model.errors import DataError, nearest
from genverify.model.files import FileLimits
from genverify.model.tablefiles import Expected, open_csv, refuse_row
from studies.country.store import GEOGRAPHY

# Survey files (csv, as the ACS person files): the columns of a task as a discrete table, kept in the store of microdata.

LIMITS = FileLimits(50_000_000, 64 * 2**30, "list its parts in raprank.survey.files")
SURVEY = Expected("a CSV file of a survey", "see raprank.survey.files in config/raprank.yaml", LIMITS)
Small = npt.NDArray[np.int8]
MOST_CODES = 100  # distinct values: a column of more is a number, and codes are stored in eight bits


def read_survey(paths: Sequence[Path], tasks: Mapping[str, Any], name: str) -> tuple[pa.Table, Domain]:
    """The rows of a task from all files of a survey: a table for the store (a state is one block), and its domain."""
    if not paths:
        where = "config/raprank.yaml (raprank.survey.files)"
        raise DataError(f"task {name}: no file of the survey is named; list them in {where}")
    task = tasks["tasks"][name]
    needed = list(dict.fromkeys([tasks["state"], *task["columns"], *task.get("keeps", {})]))
    read = {number: open_csv(path, SURVEY).frame(needed, texts=[]) for number, path in enumerate(paths)}
    frame = pd.concat(read)  # each row has the number of its file and its line there
    frame = frame[_kept(frame, task.get("keeps", {}))]
    if frame.empty:
        raise DataError(f"{paths[0]}: no row that the task {name} keeps; check the file, and the task's `keeps`")
    columns, codes = [], {}
    for column in task["columns"]:
        numbers = _numbers(frame[column], paths)
        binned = column in tasks.get("numerical", [])
        made, codes[column] = bin_column(numbers, tasks["bins"], column) if binned else code_column(numbers, column)
        columns.append(made)
    fips = _numbers(frame[tasks["state"]], paths)
    _refuse(frame[tasks["state"]], np.isnan(fips), paths, "is blank; give the number of the state")
    states = pd.Series(fips.astype(int).astype(str)).str.zfill(GEOGRAPHY["state"])
    domain = Domain(tuple(columns))
    domain.check_small()
    table = pa.table({"block": states.str.ljust(GEOGRAPHY["block"], "0").astype("str"), **codes})
    return table, domain


def _kept(frame: pd.DataFrame, keeps: Mapping[str, Mapping[str, float]]) -> "pd.Series[bool]":
    kept = pd.Series(True, index=frame.index)
    tests = {"above": pd.Series.gt, "below": pd.Series.lt, "at_most": pd.Series.le, "at_least": pd.Series.ge}
    for column, limits in keeps.items():
        for word, limit in limits.items():
            if word not in tests:
                raise DataError(f"task: keeps of {column}: {word!r} is not a limit: {nearest(word, list(tests))}")
            kept &= tests[word](frame[column], limit)
    return kept


def code_column(numbers: Floats, name: str) -> tuple[Column, Small]:
    """A discrete column: its distinct values in order as codes from 0, a blank first."""
    known = np.unique(numbers[~np.isnan(numbers)])
    if len(known) > MOST_CODES or (known != known.round()).any():
        raise DataError(
            f"column {name} is not discrete: {len(known)} distinct values. Take it out of the task, or list it as "
            "numerical, to be binned."
        )
    blank = int(np.isnan(numbers).any())
    codes = np.where(np.isnan(numbers), 0, np.searchsorted(known, numbers) + blank).astype(np.int8)
    meanings = ("blank",) * blank + tuple(f"{value:g}" for value in known)
    return _column(name, meanings), codes


def bin_column(numbers: Floats, bins: int, name: str) -> tuple[Column, Small]:
    """A numerical column in bins of equal width between its smallest and largest value; a blank is a code of its own."""
    known = numbers[~np.isnan(numbers)]
    edges = np.linspace(known.min(), known.max(), bins + 1)
    blank = int(len(known) < len(numbers))
    places = np.searchsorted(edges[1:-1], np.nan_to_num(numbers), side="right") + blank
    meanings = ("blank",) * blank + tuple(f"{low:g} to {high:g}" for low, high in pairwise(edges))
    return _column(name, meanings), np.where(np.isnan(numbers), 0, places).astype(np.int8)


def _column(name: str, meanings: tuple[str, ...]) -> Column:
    return Column(name, name, tuple(range(len(meanings))), meanings)


def _numbers(values: "pd.Series[Any]", paths: Sequence[Path]) -> Floats:
    numbers = pd.to_numeric(values, errors="coerce")
    _refuse(values, (numbers.isna() & values.notna()).to_numpy(), paths, "is not a number; give codes as whole numbers")
    return numbers.to_numpy(dtype=np.float64)


def _refuse(values: "pd.Series[Any]", wrong: npt.NDArray[np.bool_], paths: Sequence[Path], problem: str) -> None:
    """An error for the first wrong value, with its file and row."""
    if wrong.any():
        file = values.index[wrong][0][0]
        refuse_row(paths[file], values[wrong].loc[file], [True], problem)


def domain_text(domain: Domain) -> dict[str, Any]:
    return {"columns": {c.name: {"label": c.label, "codes": dict(c.meaning)} for c in domain.columns}}


# Households of the American Community Survey's Public Use Microdata Sample, recoded to the columns of the study.
#
# Csv files as the Census Bureau gives them (psam_hus*.csv, psam_pus*.csv): a row per housing unit, a row per person, joined
# by SERIALNO. Group quarters and vacant units are passed over. The person who answers first (SPORDER 1) is the householder.

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
