"""Detection judged (Table 1): flagged blocks beside those that truly hold a household in violation."""

import numpy as np
import pandas as pd

from genverify.core.errors import DataError
from genverify.papers.housing.attack.verdict import FLAGGED
from genverify.papers.housing.judged.match_keys import SUBSIDY, in_violation
from genverify.papers.housing.private.household import HouseholdFile
from genverify.papers.housing.settings import Condition

SUPPRESSED = "suppressed"
"""What became of a block whose property swapping made too small: HUD does not publish it, so nobody attacks it."""


def judge_blocks(
    households: pd.DataFrame, blocks: pd.DataFrame, file: HouseholdFile, suppresses: bool = False
) -> pd.DataFrame:
    """
    A row per property block: its verdict, and its true violations.

    `suppresses`: blocks may be missing from the release.
    """
    truth = households.assign(violations=in_violation(households, file), subsidized=households[SUBSIDY] > 0)
    truth = truth.assign(n=1).groupby("block")[["violations", "subsidized", "n"]].sum().reset_index()
    blocks = blocks[["block", "n", "n_s", "verdict", "least_violations"]]
    if suppresses:
        blocks = _with_suppressed(blocks, truth)
    _check_same(truth["block"], blocks["block"])
    frame = blocks.merge(truth.drop(columns="n"), on="block").sort_values("block")
    return frame.assign(flagged=frame["verdict"].isin(FLAGGED)).reset_index(drop=True)


def with_reconstructions(judged: pd.DataFrame, counted: pd.DataFrame, found: "pd.Series[int]") -> pd.DataFrame:
    """
    Judged blocks with how many violations the most likely reconstruction of each has.

    `mean` is the same over all its reconstructions; both are missing where the block has none.
    """
    seen = counted.groupby("block")[["first", "times"]].sum().reindex(found.index, fill_value=0)
    frame = judged.assign(found=judged["block"].map(found).fillna(0).astype(np.int64))
    frame["first"] = frame["block"].map(seen["first"])
    frame["mean"] = frame["block"].map(seen["times"]) / frame["found"].where(frame["found"] > 0)
    return frame


def _with_suppressed(blocks: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """The blocks, and those that the release leaves out."""
    missing = truth.loc[~truth["block"].isin(blocks["block"]), ["block", "n"]]
    return pd.concat([blocks, missing.assign(n_s=0, verdict=SUPPRESSED, least_violations=0)], ignore_index=True)


def _check_same(true: "pd.Series[str]", judged: "pd.Series[str]") -> None:
    odd = sorted(set(true) ^ set(judged))
    if odd:
        where = "blocks.parquet" if odd[0] in set(true) else "households.parquet"
        raise DataError(
            f"block {odd[0]}: missing from {where}, so verdicts and truth cannot be compared; run detection again"
        )


def check_sound(judged: pd.DataFrame, protection: Condition, condition: str, synthetic: bool) -> None:
    """Unprotected, a flagged block without a true violation is a fault of ours: stop, and name it (synthetic data only)."""
    if protection.swap or protection.noise != "none" or protection.noise_hud:
        return
    wrong = judged[judged["flagged"] & (judged["violations"] == 0)]
    if len(wrong):
        first = f"block {wrong['block'].iloc[0]} ({wrong['verdict'].iloc[0]})" if synthetic else "the first one is not named"
        raise DataError(
            f"condition {condition}: {len(wrong)} flagged blocks hold no violation, though nothing was protected: {first}. "
            "Detection is not sound; compare its program with the published statistics of this block."
        )


def summarise_blocks(judged: pd.DataFrame) -> dict[str, float]:
    """Block-level precision and recall, what chance gives, and how the other blocks ended."""
    flagged, true = judged["flagged"], judged["violations"] > 0
    both, blocks = int((flagged & true).sum()), len(judged)
    return {
        "blocks": blocks,
        "blocks_with_violation": int(true.sum()),
        "putative_blocks": int(flagged.sum()),
        "true_putative_blocks": both,
        "block_precision": both / int(flagged.sum()) if flagged.any() else float("nan"),
        "block_recall": both / int(true.sum()) if true.any() else float("nan"),
        "chance_precision": float(true.mean()),
        "chance_recall": float(flagged.mean()),
        "contradictions": int((judged["verdict"] == "contradiction").sum()),
        "undecided": int((judged["verdict"] == "undecided").sum()),
        "suppressed": int((judged["verdict"] == SUPPRESSED).sum()),
    }
