"""What is not certain but likely: claims of a block with their probability under each prior, beside the verified ones."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Floats, Ints
from genverify.core.claims import ANY
from genverify.core.errors import DataError
from genverify.core.frames import read_blocks

PRIORS = ("tract", "state", "nation", "uniform")
LEAST = 0.5
CLOSE = 0.02  # a shorter form that is hardly likelier says nothing new


def likely_by_block(paths: Sequence[Path], blocks: Collection[str]) -> Mapping[str, pd.DataFrame]:
    """Of each of the blocks that were weighed, the claims about one household that are likely under some prior."""
    found = {}
    for path in paths:
        for block, rows in read_blocks(path, blocks).groupby("block"):
            found[str(block)] = rows[(rows["m"] == 1) & (rows[list(PRIORS)] >= LEAST).any(axis=1)]
    return found


def likely_entries(weighed: pd.DataFrame, verified: pd.DataFrame, names: Sequence[str], most: int) -> list[dict[str, Any]]:
    """
    The likeliest claims under each prior that are not certain: codes, whether the numbers are exact, and for each prior the
    probability with both ends of its interval (none where it was not asked under that prior).
    """
    codes = _codes(weighed, names)
    flagged = weighed["verified"].to_numpy(dtype=bool)
    known = {tuple(row) for row in _codes(verified[verified["m"] == 1], names).tolist()}
    if any((tuple(row) in known) != flag for row, flag in zip(codes.tolist(), flagged, strict=True)):
        raise DataError(
            f"block {weighed['block'].iloc[0]}: claims and probabilities disagree about what is verified. Make both again."
        )
    open_ = weighed[~flagged]
    chosen = np.unique(np.concatenate([_best(codes[~flagged], open_[prior].to_numpy(), most) for prior in PRIORS]))
    return [
        _entry(row, own) for row, own in zip(open_.iloc[chosen].to_dict("records"), codes[~flagged][chosen], strict=True)
    ]


def _codes(frame: pd.DataFrame, names: Sequence[str]) -> Ints:
    return frame[list(names)].astype("Int64").fillna(ANY).to_numpy(dtype=np.int64)


def _best(codes: Ints, chance: Floats, most: int) -> Ints:
    """The places of the likeliest claims, without shorter forms of one of them that are hardly likelier."""
    asked = np.flatnonzero(chance >= LEAST)
    order = asked[np.lexsort((-chance[asked], -(codes[asked] != ANY).sum(axis=1)))]
    kept: list[int] = []
    for place in order.tolist():
        named = codes[place] != ANY
        longer = [other for other in kept if (codes[other][named] == codes[place][named]).all()]
        if not any(chance[other] >= chance[place] - CLOSE for other in longer):
            kept.append(place)
    best: Ints = np.array(sorted(kept, key=lambda place: -chance[place])[:most], dtype=np.int64)
    return best


def _entry(row: Mapping[Any, Any], codes: Ints) -> dict[str, Any]:
    return {
        "codes": codes.tolist(),
        "exact": row["numbers"] == "exact",
        "chance": [_interval(row, prior) for prior in PRIORS],
    }


def _interval(row: Mapping[Any, Any], prior: str) -> list[float] | None:
    """Rounded, but what is not certain is never rounded up to 1."""
    if pd.isna(row[prior]):
        return None
    return [min(round(float(row[name]), 4), 0.9999) for name in (prior, f"{prior}_low", f"{prior}_high")]
