"""The households of the housing study from those of the census: exact size, children, race and origin (appendix B)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from genverify.core.arraytypes import Ints
from genverify.core.errors import DataError
from genverify.core.seeds import derive_seed
from genverify.papers.housing.private.conditionals import Conditionals, draw_children, draw_sizes

HISPANIC, RACES = 2, 7
NEEDED = ("VACS", "HHSIZE", "TP18", "HHT2", "THHRACE", "THHSPAN")
COLUMNS = {"SIZE": np.int16, "CHILDREN": np.int16, "RACE": np.int8, "BEDROOMS": np.int8}
"""The columns of a household and how they are stored."""


def complete_households(units: pa.Table, given: Conditionals, rng: np.random.Generator) -> pd.DataFrame:
    """The occupied units of a table, sorted by block: block, SIZE, CHILDREN and RACE."""
    codes: dict[str, Ints] = {name: units[name].to_numpy().astype(np.int64) for name in NEEDED}
    blocks = units["block"].cast(pa.string()).to_numpy(zero_copy_only=False)
    kept = np.flatnonzero(codes["VACS"] == 0)
    kept = kept[np.argsort(blocks[kept].astype(str), kind="stable")]
    codes = {name: values[kept] for name, values in codes.items()}
    _check(codes, blocks[kept])
    codes["RACE"] = codes["THHRACE"] + RACES * (codes["THHSPAN"] == HISPANIC)
    group = given.group_of(codes[given.column])
    size = draw_sizes(codes["HHSIZE"], codes["TP18"], group, given, rng)
    children = draw_children(size, codes["TP18"], group, given, rng)
    found = {"SIZE": size, "CHILDREN": children, "RACE": codes["RACE"]}
    return pd.DataFrame({"block": blocks[kept], **{name: found[name].astype(COLUMNS[name]) for name in found}})


def _check(codes: Mapping[str, Ints], blocks: Any) -> None:
    for name in ("HHSIZE", "THHRACE", "THHSPAN"):
        wrong = np.flatnonzero(codes[name] < 1)
        if wrong.size:
            raise DataError(
                f"block {blocks[wrong[0]]}: an occupied unit has {name}={codes[name][wrong[0]]}. Check the microdata: a "
                "household has a size, and its householder a race and an origin."
            )


def simulate_states(tables: Iterator[pa.Table], given: Conditionals, seed: int) -> Iterator[pd.DataFrame]:
    """The households of each state; `tables` holds one table per state."""
    for units in tables:
        state = str(units["block"][0])[:2]
        yield complete_households(units, given, np.random.default_rng(derive_seed(seed, "housing", "households", state)))
