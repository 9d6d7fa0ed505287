"""What detection and reconstruction left behind, a batch at a time, so that memory stays within bounds."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.errors import DataError
from genverify.core.files import read_json
from genverify.papers.housing.judged.reidentify import count_violations
from genverify.papers.housing.private.household import COLUMNS, HouseholdFile
from genverify.papers.housing.published.publish import FILES

RECONSTRUCTION = ["block", "rank", *COLUMNS, "count"]


def read_counted(paths: Sequence[str], file: HouseholdFile) -> pd.DataFrame:
    """The reconstructed violations of all batches, and how often each one occurs."""
    parts = [count_violations(pd.read_parquet(path, columns=RECONSTRUCTION), file) for path in paths]
    kept = [part for part in parts if len(part)]
    return pd.concat(kept or parts[:1], ignore_index=True)


def read_found(paths: Sequence[str]) -> "pd.Series[int]":
    """How many reconstructions each block has; one with none is as if it had not been tried."""
    rows = [pd.read_parquet(path, columns=["block", "found"]) for path in paths]
    frame = pd.concat([part for part in rows if len(part)] or rows[:1], ignore_index=True)
    twice = frame.loc[frame["block"].duplicated(), "block"]
    if len(twice):
        raise DataError(f"block {twice.iloc[0]} is in two batches of reconstructions: delete them and run again")
    found: pd.Series[int] = frame[frame["found"] > 0].set_index("block")["found"].astype(np.int64)
    return found


def is_synthetic(manifest: Path, condition: str) -> bool:
    """Whether the statistics of a condition are of synthetic households; files of a user have no truth to be judged by."""
    source = read_json(manifest)["source"]
    if source == FILES:
        raise DataError(
            f"condition {condition} publishes the files that housing.picture and housing.sf1 name: their private households "
            f"are not known, so nothing can be evaluated. Ask for results/housing/{condition}/blocks.parquet, or name none."
        )
    return bool(source == "synthetic")


def by_condition(paths: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Files of several conditions, by the folder that they stand in."""
    return {Path(path).parent.name: pd.read_parquet(path) for path in paths}
