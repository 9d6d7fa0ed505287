"""Households that the claims of a country represent (footnote 6), for Tables 4, 5 and 7."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from genverify.attack.truth import check_against_microdata, match_claims
from genverify.papers.gtv.tables.households import PAPER_K
from genverify.papers.gtv.zeros.explain import WITHHELD

TABLES = {"Table 4": ("paper", True), "Table 7": ("paper", False)} | {
    f"Table 5, {variant}": (variant, True) for variant in WITHHELD if variant != "paper"
}
"""What each table counts: the variant, and whether only claims about a single household."""


def count_represented(claims: pd.DataFrame, records: pd.DataFrame, sample: pd.DataFrame) -> pd.DataFrame:
    """Per sampled block and design, table and k: the households that a claim represents. Every claim is checked."""
    check_against_microdata(claims, records)
    counted = pd.DataFrame(list(_rows(claims, records)), columns=["block", "table", "k", "households"])
    grid = pd.MultiIndex.from_product([list(TABLES), PAPER_K], names=["table", "k"]).to_frame(index=False)
    full = sample[["block", "design", "n_households"]].merge(grid, how="cross")
    full = full.merge(counted, how="left", on=["block", "table", "k"])
    return full.assign(households=full["households"].fillna(0).astype("int32"))


def _rows(claims: pd.DataFrame, records: pd.DataFrame) -> Iterator[tuple[str, str, int, int]]:
    for found in match_claims(claims, records):
        of_block = claims.iloc[found.claims]
        k, m = of_block["k"].to_numpy(), of_block["m"].to_numpy()
        for table, (variant, single) in TABLES.items():
            chosen = of_block[f"verified_{variant}"].to_numpy(dtype=bool) & ((m == 1) | (not single))
            for value in np.unique(k[chosen]):
                yield found.block, table, int(value), int(found.flags[chosen & (k == value)].any(axis=0).sum())
