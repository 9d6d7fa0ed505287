"""How claims that were verified from a protected release stand in the private blocks: true or false."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.truth import Matches, block_weights, match_claims, ratio_interval
from genverify.core.claims import CONTRADICTORY, UNDECIDED, false_claims
from genverify.core.errors import DataError

COUNTED = ["claims", "false", "singleton_claims", "singleton_false", "households_singled_out"]
KINDS = {"all": ("claims", "false"), "singleton": ("singleton_claims", "singleton_false")}


def judge(claims: pd.DataFrame, blocks: pd.DataFrame, records: pd.DataFrame) -> pd.DataFrame:
    """
    The blocks, each with its claims verified from the release, and how many of them are false of the private block: there
    COUNT != m. Singleton claims have m = 1. Households singled out are private ones that match a true singleton claim.
    """
    rows = [_counted(found, claims) for found in match_claims(claims, records)] if len(claims) else []
    judged = blocks.merge(pd.DataFrame(rows, columns=["block", *COUNTED]), how="left", on="block")
    judged[COUNTED] = judged[COUNTED].fillna(0).astype("int64")
    return judged.sort_values("block", ignore_index=True)


def _counted(found: Matches, claims: pd.DataFrame) -> dict[str, Any]:
    m = claims["m"].to_numpy()[found.claims]
    false, one = false_claims(found.flags, m), m == 1
    singled = found.flags[one & ~false].any(axis=0)
    return {
        "block": found.block,
        "claims": len(m),
        "false": int(false.sum()),
        "singleton_claims": int(one.sum()),
        "singleton_false": int((false & one).sum()),
        "households_singled_out": int(singled.sum()),
    }


def summarise(name: str, how: Mapping[str, Any], judged: pd.DataFrame, seed: int) -> dict[str, Any]:
    """One protection in numbers: claims verified from the release, and the share that is false with its 95 % interval."""
    row: dict[str, Any] = {
        "protection": name,
        **how,
        "blocks": len(judged),
        "contradictory_blocks": int((judged["status"] == CONTRADICTORY).sum()),
        "undecided_blocks": int((judged["status"] == UNDECIDED).sum()),
        "undecided_claims": int(judged["undecided_claims"].sum()),
        "households": int(judged["n_households"].sum()),
        "households_singled_out": int(judged["households_singled_out"].sum()),
    }
    weights = block_weights(["all"] * len(judged), seed)
    for kind, (verified, false) in KINDS.items():
        whole, part = (judged[[column]].to_numpy() for column in (verified, false))
        low, high = ratio_interval(part, whole, weights)
        total = int(whole.sum())
        row |= {
            f"{kind}_claims_verified_from_release": total,
            f"{kind}_claims_false": int(part.sum()),
            f"{kind}_share_false": part.sum() / total if total else np.nan,
            f"{kind}_share_false_low": low[0],
            f"{kind}_share_false_high": high[0],
        }
    return row


def check_unprotected(row: Mapping[str, Any]) -> None:
    """An error if exact counts of the private block led to a false claim."""
    unprotected = not row["swap"] and row["rho"] is None
    if unprotected and row["all_claims_false"]:
        raise DataError(
            f"{row['all_claims_false']} claims verified from unprotected counts ({row['protection']}) are false of their "
            "private blocks. Either the microdata changed after the release was tabulated: publish and attack again. Or "
            "the verification is wrong."
        )
