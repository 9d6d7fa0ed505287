"""Person records in the layout of the reconstructed 2010 records: block, sex, age, one flag per race, hispanic."""

from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.domain import Domain
from genverify.core.errors import DataError, nearest
from genverify.core.limits import UNREADABLE, FileLimits, check_header, check_lines
from genverify.microdata.store import GEOGRAPHY

NOT_HISPANIC = 1
LIMITS = FileLimits(400_000_000, 64 * 2**30, "keep the rows of the blocks of the study only")


def read_person_records(path: Path, domain: Domain) -> pd.DataFrame:
    """The records as `block` and the columns of the domain, sorted by block; the race flags make the code of race."""
    races = [chosen[0] for chosen in domain["CENRACE"].sets if len(chosen) == 1]
    try:
        check_lines(path, LIMITS)
        check_header(path)
        frame = pd.read_csv(path, dtype={"block": str})
    except UNREADABLE as error:
        raise DataError(
            f"{path}: cannot be read as a file of person records ({error}). Check it, or fetch it again."
        ) from None
    for name in ("block", "sex", "age", *races, "hispanic"):
        if name not in frame.columns:
            raise DataError(f"{path}: no column {name} ({nearest(name, list(frame.columns))}). Add or rename it.")
    _check(
        path, frame, "block", ~frame["block"].astype(str).str.fullmatch(rf"\d{{{GEOGRAPHY['block']}}}"), "is not 15 digits"
    )
    for name in (*races, "hispanic"):
        _check(path, frame, name, ~frame[name].isin([0, 1]), "is neither 0 nor 1")
    _check(path, frame, "the race flags", frame[races].sum(axis=1) == 0, "name no race: give each person one or more")
    for name, column in (("sex", "QSEX"), ("age", "QAGE")):
        codes = domain[column].codes
        _check(path, frame, name, ~frame[name].isin(codes), f"is outside {min(codes)} to {max(codes)}")
    return _coded(frame, races, domain).sort_values("block", kind="stable", ignore_index=True)


def _check(path: Path, frame: pd.DataFrame, name: str, wrong: "pd.Series[bool]", problem: str) -> None:
    """An error that names the first wrong row (the header is row 1)."""
    if wrong.any():
        place = int(np.argmax(wrong.to_numpy()))
        value = f" {frame[name].iloc[place]}" if name in frame.columns else ""
        raise DataError(f"{path}, row {place + 2}: {name}{value} {problem}. Correct the row.")


def _coded(frame: pd.DataFrame, races: list[str], domain: Domain) -> pd.DataFrame:
    weights = 1 << np.arange(len(races))
    code_of = np.zeros(1 << len(races), dtype=np.int64)
    for code, chosen in domain["CENRACE"].set_of.items():
        code_of[sum(1 << races.index(word) for word in chosen)] = code
    columns = {"QSEX": frame["sex"], "QAGE": frame["age"], "CENHISP": frame["hispanic"] + NOT_HISPANIC}
    columns["CENRACE"] = pd.Series(code_of[frame[races].to_numpy() @ weights], index=frame.index)
    return pd.DataFrame({"block": frame["block"], **{name: columns[name].astype("int8") for name in domain.names}})
