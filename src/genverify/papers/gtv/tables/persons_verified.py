"""The trial on known persons: what is proved by the number of columns, whom it singles out, and RAP-RANK's match rate."""

from collections.abc import Mapping

import pandas as pd

from genverify.show.markdown import document, markdown_table

NOTE = (
    "A claim is verified if it holds in every dataset that fits the block's tables; false claims are verified claims that "
    "the records contradict. Proofs: claims of a block share one where they follow from the same sums; each proof was "
    "checked in exact integers when it was made, and none is stored. Singled out: the persons that some verified claim with "
    "m = 1 describes. Match rate: the share of RAP-RANK's first u rows that are true (u: distinct persons of the block), a "
    "mean over the ranked blocks; it is a ranking, not a proof."
)


def persons_verified(parts: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """One row per reading and k; the match rate of the reading stands in its row `any`."""
    rows = []
    for reading, (claims, ranked) in parts.items():
        part = claims.assign(reading=reading)
        for name in ranked.columns:
            part[name] = ranked[name].iloc[0]
            part[name] = part[name].where(part["k"] == "any")
        rows.append(part[["reading", *(name for name in part.columns if name != "reading")]])
    return pd.concat(rows, ignore_index=True)


def persons_verified_text(table: pd.DataFrame, label: str) -> str:
    """The table to read."""
    rows = markdown_table(list(table), table.astype(object).to_numpy().tolist(), left=1)
    return document("Claims proved about known persons", label, [rows, NOTE])
