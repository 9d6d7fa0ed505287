"""Survey files (csv, as the ACS person files): the columns of a task as a discrete table, kept in the store of microdata."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from genverify.core.domain import Column, Domain
from genverify.core.errors import DataError, nearest
from genverify.core.limits import UNREADABLE, FileLimits, check_header, check_lines
from genverify.microdata.store import GEOGRAPHY

LIMITS = FileLimits(50_000_000, 64 * 2**30, "list its parts in raprank.survey.files")
Small = npt.NDArray[np.int8]
MOST_CODES = 100
"""A column with more distinct values is not taken for discrete (and codes are stored in eight bits)."""


def read_survey(paths: Sequence[Path], tasks: Mapping[str, Any], name: str) -> tuple[pa.Table, Domain]:
    """The rows of a task from all files of a survey: a table for the store (a state is one block), and its domain."""
    if not paths:
        where = "config/raprank.yaml (raprank.survey.files)"
        raise DataError(f"task {name}: no file of the survey is named; list them in {where}")
    task = tasks["tasks"][name]
    frame = pd.concat([_read_csv(path, _needed(tasks, task)) for path in paths], ignore_index=True)
    frame = frame[_kept(frame, task.get("keeps", {}))].reset_index(drop=True)
    if frame.empty:
        raise DataError(f"{paths[0]}: no row that the task {name} keeps; check the file, and the task's `keeps`")
    columns, codes = [], {}
    for column in task["columns"]:
        where = f"{paths[0]}: column {column}"
        binned = column in tasks.get("numerical", [])
        made, codes[column] = (
            bin_column(frame[column], tasks["bins"], where) if binned else code_column(frame[column], where)
        )
        columns.append(made)
    fips = _numbers(frame[tasks["state"]], f"{paths[0]}: column {tasks['state']}")
    if np.isnan(fips).any():
        raise DataError(f"{paths[0]}: column {tasks['state']} is blank in row {int(np.isnan(fips).argmax()) + 2}")
    states = pd.Series(fips.astype(int).astype(str)).str.zfill(GEOGRAPHY["state"])
    domain = Domain(tuple(columns))
    domain.check_small()
    table = pa.table({"block": states.str.ljust(GEOGRAPHY["block"], "0").astype("str"), **codes})
    return table, domain


def _needed(tasks: Mapping[str, Any], task: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([tasks["state"], *task["columns"], *task.get("keeps", {})]))


def _read_csv(path: Path, columns: list[str]) -> pd.DataFrame:
    try:
        check_lines(path, LIMITS)
        check_header(path)
        header = list(pd.read_csv(path, nrows=0).columns)
        missing = [column for column in columns if column not in header]
        if missing:
            raise DataError(f"{path}: no column {missing[0]} ({nearest(missing[0], header)})")
        return pd.read_csv(path, usecols=columns, low_memory=False)
    except UNREADABLE as error:
        raise DataError(
            f"{path}: not a csv file that can be read ({error}); see raprank.survey.files in config/raprank.yaml"
        ) from None


def _kept(frame: pd.DataFrame, keeps: Mapping[str, Mapping[str, float]]) -> "pd.Series[bool]":
    kept = pd.Series(True, index=frame.index)
    tests = {"above": pd.Series.gt, "below": pd.Series.lt, "at_most": pd.Series.le, "at_least": pd.Series.ge}
    for column, limits in keeps.items():
        for word, limit in limits.items():
            if word not in tests:
                raise DataError(f"task: keeps of {column}: {word!r} is no limit: {nearest(word, list(tests))}")
            kept &= tests[word](frame[column], limit)
    return kept


def code_column(values: "pd.Series[Any]", where: str) -> tuple[Column, Small]:
    """A discrete column: its distinct values in order as codes from 0, a blank first."""
    numbers = _numbers(values, where)
    known = np.unique(numbers[~np.isnan(numbers)])
    if len(known) > MOST_CODES or (known != known.round()).any():
        raise DataError(
            f"{where} is not discrete: {len(known)} distinct values. Take it out of the task, or list it as numerical, "
            "to be binned."
        )
    blank = int(np.isnan(numbers).any())
    codes = np.where(np.isnan(numbers), 0, np.searchsorted(known, numbers) + blank).astype(np.int8)
    meanings = ("blank",) * blank + tuple(f"{value:g}" for value in known)
    return _column(str(values.name), meanings), codes


def bin_column(values: "pd.Series[Any]", bins: int, where: str) -> tuple[Column, Small]:
    """A numerical column in bins of equal width between its smallest and largest value; a blank is a code of its own."""
    numbers = _numbers(values, where)
    known = numbers[~np.isnan(numbers)]
    edges = np.linspace(known.min(), known.max(), bins + 1)
    blank = int(len(known) < len(numbers))
    places = np.searchsorted(edges[1:-1], np.nan_to_num(numbers), side="right") + blank
    meanings = ("blank",) * blank + tuple(f"{low:g} to {high:g}" for low, high in pairwise(edges))
    return _column(str(values.name), meanings), np.where(np.isnan(numbers), 0, places).astype(np.int8)


def _column(name: str, meanings: tuple[str, ...]) -> Column:
    return Column(name, name, tuple(range(len(meanings))), meanings)


def _numbers(values: "pd.Series[Any]", where: str) -> "np.ndarray[Any, np.dtype[np.float64]]":
    numbers = pd.to_numeric(values, errors="coerce")
    wrong = values[numbers.isna() & values.notna()]
    if len(wrong):
        raise DataError(f"{where}, row {wrong.index[0] + 2}: {wrong.iloc[0]!r} is not a number; give codes as whole numbers")
    return numbers.to_numpy(dtype=np.float64)


def domain_text(domain: Domain) -> dict[str, Any]:
    """The domain as the text of a domain file."""
    return {"columns": {c.name: {"label": c.label, "codes": dict(c.meaning)} for c in domain.columns}}
