"""Claims about tracts beside the records: whether they are true, whom they single out, what they determine."""

import numpy as np
import pandas as pd

from genverify.core.claims import ANY, false_claims, matches
from genverify.papers.gtv.tracts.publish import TRACT_DIGITS
from genverify.papers.gtv.tracts.settings import TRACT

COUNTED = ["claims", "false_claims", "singled_out"]


def judge(claims: pd.DataFrame, areas: pd.DataFrame, records: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """By tables and k (0: any k): claims, false ones, persons singled out; per tables what is determined and undecided."""
    of_area = {str(block): own[names].to_numpy() for block, own in records.groupby("block")}
    of_area |= {str(t): own[names].to_numpy() for t, own in records.groupby(records["block"].str[:TRACT_DIGITS])}
    rows = []
    for tables, own in areas.groupby("tables", sort=False):
        tallies = [np.zeros((len(names) + 1, len(COUNTED)), dtype=np.int64)]
        for area, of_claims in claims[claims["tables"] == tables].groupby("area"):
            tallies.append(_tally(of_claims, of_area[str(area)], names))
        total = np.sum(tallies, axis=0)
        whole = {
            "tracts": own["tract"].nunique(),
            "areas": len(own),
            "persons": int(own["records"].sum()),
            "determined": int(own["determined"].sum()),
            "unique_areas": int((own["determined"] == own["records"]).sum()),
            "undecided": int(own["undecided"].sum()),
            "cells_per_proof": round(own["cells"].sum() / max(1, own["proofs"].sum()), 1),
        }
        for k in range(len(names) + 1):
            rows.append({"tables": tables, "k": k, **dict(zip(COUNTED, total[k].tolist(), strict=True)), **whole})
    return pd.DataFrame(rows)


def _tally(claims: pd.DataFrame, records: np.ndarray, names: list[str]) -> np.ndarray:
    codes, m = claims[names].to_numpy(), claims["m"].to_numpy()
    k, flags = (codes != ANY).sum(axis=1), matches(codes, records)
    false = false_claims(flags, m)
    rows = []
    for columns in range(len(names) + 1):
        own = (k == columns) | (columns == 0)
        rows.append([own.sum(), false[own].sum(), flags[own & (m == 1)].any(axis=0).sum()])
    return np.array(rows, dtype=np.int64)


def unit_of(tables: str) -> str:
    """What a claim from these tables is about."""
    return "the tract" if tables == TRACT else "a block"
