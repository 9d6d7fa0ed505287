"""Whether two versions of the attack verify the same claims of the same blocks, and how much faster one is."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from genverify.papers.gtv.benchmark.blockcost import COUNTS, STAGES

OPEN = COUNTS[1:3]  # undecided, uncertified


def same_row(case: str, before: pd.DataFrame, now: pd.DataFrame) -> dict[str, Any]:
    """
    One row for the blocks of a case, measured by both versions (every proof was checked on the way). A block is `same` if
    the tables of verified claims (k, m, codes, effective k, number of the proof) have the same bytes. Where neither version
    left a claim open, the claims that both asked about then have the same verdicts.
    """
    both = before.merge(now, on="block", suffixes=("_before", "_now"), validate="one_to_one")
    row: dict[str, Any] = {"case": case, "blocks": len(both), "households": int(now["n_households"].sum())}
    row |= {"largest": int(now["n_households"].max()), "most_classes": int(now["classes"].max())}
    row |= {"verified": int(now["verified"].sum()), "same": int((both["claims_before"] == both["claims_now"]).sum())}
    row |= {f"{name}_{version}": int(frame[name].sum()) for version, frame in _versions(before, now) for name in OPEN}
    return row | {f"{version}_s": float(frame[list(STAGES)].to_numpy().sum()) for version, frame in _versions(before, now)}


def _versions(before: pd.DataFrame, now: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [("before", before), ("now", now)]


def same_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The table with a row for all cases together; `faster` is the ratio of core-seconds."""
    frame = pd.DataFrame(list(rows))
    most = ["largest", "most_classes"]
    total = frame.drop(columns=["case", *most]).sum().to_dict() | frame[most].max().to_dict() | {"case": "all"}
    frame = pd.concat([frame, pd.DataFrame([total])], ignore_index=True)
    frame = frame.astype({name: int for name in frame.columns if name != "case" and not name.endswith("_s")})
    return frame.assign(faster=frame["before_s"] / frame["now_s"]).round({"before_s": 2, "now_s": 2, "faster": 1})
