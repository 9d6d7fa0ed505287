"""Match keys: what the attacker's identified data say of a household, and which households exceed the occupancy limit."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.errors import DataError, nearest

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
SUBSIDY = "BEDROOMS"
"""The column that is 0 for a household outside of subsidized properties."""


def attribute(households: pd.DataFrame, name: str, domain: Mapping[str, Any]) -> Ints:
    """
    A column of the households, or an attribute that the domain file reads off one (1: it holds).

    >>> domain = {"columns": {"SIZE": {}}, "attributes": {"LARGE": {"column": "SIZE", "from": 5}}}
    >>> attribute(pd.DataFrame({"SIZE": [2, 5, 6]}), "LARGE", domain).tolist()
    [0, 1, 1]
    """
    if name in domain["columns"]:
        return households[name].to_numpy(dtype=np.int64)
    rule = _rule(name, domain)
    codes = households[rule["column"]].to_numpy(dtype=np.int64)
    return (codes >= rule["from"] if "from" in rule else np.isin(codes, rule["codes"])).astype(np.int64)


def _rule(name: str, domain: Mapping[str, Any]) -> Mapping[str, Any]:
    known = domain["attributes"]
    if name not in known:
        raise DataError(
            f"{name!r} is neither a column nor an attribute of the housing domain file: "
            f"{nearest(name, [*domain['columns'], *known])}. Mend housing.match_keys or housing.simple in config.yaml."
        )
    rule: Mapping[str, Any] = known[name]
    return rule


def with_key(households: pd.DataFrame, names: Sequence[str], domain: Mapping[str, Any]) -> pd.DataFrame:
    """The households as the key S shows them: their block, and a column for each name of the key."""
    return pd.DataFrame({"block": households["block"], **{name: attribute(households, name, domain) for name in names}})


def knows_subsidy(names: Sequence[str], domain: Mapping[str, Any]) -> bool:
    """Whether a key tells subsidized households from the others."""
    return any((name if name in domain["columns"] else _rule(name, domain)["column"]) == SUBSIDY for name in names)


def in_violation(households: pd.DataFrame, domain: Mapping[str, Any]) -> Bools:
    """
    V: the households of more persons than the limit of their unit (two persons per bedroom).

    >>> households = pd.DataFrame({"BEDROOMS": [1, 1, 2, 3, 0], "SIZE": [2, 3, 5, 9, 9]})
    >>> in_violation(households, {"occupancy": {1: 2, 2: 4}}).tolist()
    [False, True, True, False, False]
    """
    bedrooms, size = (households[name].to_numpy(dtype=np.int64) for name in (SUBSIDY, "SIZE"))
    found = np.zeros(len(households), dtype=bool)
    for code, limit in domain["occupancy"].items():
        found |= (bedrooms == code) & (size > limit)
    return found


def property_households(households: pd.DataFrame) -> pd.DataFrame:
    """The households of the blocks that hold a subsidized property: all that the study is about."""
    blocks = households.loc[households[SUBSIDY] > 0, "block"].unique()
    return households[households["block"].isin(blocks)].reset_index(drop=True)
