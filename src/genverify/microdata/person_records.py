"""Person records in the layout of the reconstructed 2010 records: block, sex, age, one flag per race, hispanic."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.csvfile import Expected, open_csv, refuse_row
from genverify.core.domain import Domain
from genverify.core.limits import FileLimits
from genverify.microdata.store import GEOGRAPHY

NOT_HISPANIC = 1
LIMITS = FileLimits(400_000_000, 64 * 2**30, "keep the rows of the blocks of the study only")
RECORDS = Expected("a file of person records", "check it, or fetch it again", LIMITS)


def read_person_records(path: Path, domain: Domain) -> pd.DataFrame:
    """The records as `block` and the columns of the domain, sorted by block; the race flags make the code of race."""
    races = [chosen[0] for chosen in domain["CENRACE"].sets if len(chosen) == 1]
    frame = open_csv(path, RECORDS).frame(("block", "sex", "age", *races, "hispanic"), texts=["block"])
    _check(path, frame["block"], ~_is_block(frame["block"]), f"is not {GEOGRAPHY['block']} digits")
    for name in (*races, "hispanic"):
        _check(path, frame[name], ~frame[name].isin([0, 1]), "is neither 0 nor 1")
    flags = frame[races].sum(axis=1).astype(int).rename("the sum of race flags")
    _check(path, flags, flags == 0, "names no race: give each person one or more")
    for name, column in (("sex", "QSEX"), ("age", "QAGE")):
        codes = domain[column].codes
        _check(path, frame[name], ~frame[name].isin(codes), f"is outside {min(codes)} to {max(codes)}")
    return _coded(frame, races, domain).sort_values("block", kind="stable", ignore_index=True)


def _is_block(texts: "pd.Series[str]") -> "pd.Series[bool]":
    return texts.astype(str).str.fullmatch(rf"\d{{{GEOGRAPHY['block']}}}")


def _check(path: Path, values: "pd.Series[Any]", wrong: "pd.Series[bool]", problem: str) -> None:
    refuse_row(path, values, wrong, f"{problem}. Correct the row.")


def _coded(frame: pd.DataFrame, races: list[str], domain: Domain) -> pd.DataFrame:
    weights = 1 << np.arange(len(races))
    code_of = np.zeros(1 << len(races), dtype=np.int64)
    for code, chosen in domain["CENRACE"].set_of.items():
        code_of[sum(1 << races.index(word) for word in chosen)] = code
    columns = {"QSEX": frame["sex"], "QAGE": frame["age"], "CENHISP": frame["hispanic"] + NOT_HISPANIC}
    columns["CENRACE"] = pd.Series(code_of[frame[races].to_numpy() @ weights], index=frame.index)
    return pd.DataFrame({"block": frame["block"], **{name: columns[name].astype("int8") for name in domain.names}})
