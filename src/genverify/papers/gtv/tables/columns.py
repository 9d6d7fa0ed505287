"""Table 6: which combinations of columns make up the verified singleton claims."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.truth import Weights, block_weights, ratio_interval
from genverify.show.markdown import bullets, document, markdown_table

TOP = 5
NOTES = (
    "Claims of both designs together; a block of both designs counts twice, as among the paper's 500 blocks.",
    "low and high: 95 % interval, 2,000 bootstrap samples of the blocks of each design, for this combination.",
    "The paper's percentage is that of the same rank, not of the same combination, unless `paper says` names what it omits.",
    "Only what the paper's words say for certain is compared: the tick marks of its Table 6 cannot all be read.",
)


def column_table(
    claims: pd.DataFrame, sample: pd.DataFrame, names: Sequence[str], paper: Mapping[int, Any], seed: int, label: str
) -> pd.DataFrame:
    """The most common combinations of k columns, with marks per column, percentages and what the paper says of the rank."""
    singles = claims[claims["m"] == 1]
    blocks = pd.MultiIndex.from_frame(sample[["design", "block"]])
    weights = block_weights(list(sample["design"]), seed)
    rows = []
    for k in sorted(singles["k"].unique(), reverse=True):
        own = singles[singles["k"] == k]
        printed = paper.get(int(k), [])
        for rank, row in enumerate(_top(own, blocks, weights, names)):
            rows.append(
                {"k": int(k), "rank": rank + 1, **row, **_compare(row, printed[rank] if rank < len(printed) else {}, names)}
            )
    return pd.DataFrame(rows).assign(data=label)


def _top(claims: pd.DataFrame, blocks: pd.MultiIndex, weights: Weights, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The most common combinations among claims of one k; equals in the order of the columns."""
    marks = claims[list(names)].notna().to_numpy()
    sets, which = np.unique(~marks, axis=0, return_inverse=True)
    counts = np.bincount(which, minlength=len(sets))
    chosen = np.argsort(-counts, kind="stable")[:TOP]
    place = blocks.get_indexer(pd.MultiIndex.from_frame(claims[["design", "block"]]))
    tally = np.zeros((len(blocks), len(sets)), dtype=np.int64)
    np.add.at(tally, (place, which), 1)
    low, high = ratio_interval(tally[:, chosen], tally.sum(axis=1, keepdims=True).repeat(len(chosen), axis=1), weights)
    for rank, one in enumerate(chosen):
        ticks = {name: "" if left_out else "✓" for name, left_out in zip(names, sets[one], strict=True)}
        shares = (counts[one] / len(claims), low[rank], high[rank])
        yield ticks | dict(zip(("percent", "low", "high"), (round(100 * float(x), 2) for x in shares), strict=True))


def _compare(row: Mapping[str, Any], printed: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """What the paper says about the rank: its percentage, the columns that are surely left out, and whether ours are too."""
    percent = printed.get("percent", np.nan)
    found = {"omits": " ".join(name for name in names if not row[name]), "paper_percent": percent,
             "difference": round(row["percent"] - percent, 2)}  # fmt: skip
    if "omits" not in printed:
        return found | {"paper_says": "", "agrees": ""}
    omitted = [name for name in printed["omits"] if name in names]
    agrees = "yes" if all(not row[name] for name in omitted) else "no"
    return found | {"paper_says": "omits " + (" and ".join(omitted) or "none"), "agrees": agrees}


def column_text(table: pd.DataFrame, names: Sequence[str], label: str) -> str:
    """Table 6 in the paper's layout."""
    shown = ["k", *names, "percent", "low", "high", "paper_percent", "difference", "paper_says", "agrees"]
    header = [name.replace("_", " ") for name in shown]
    title = "Table 6. The most common combinations of columns among the verified singleton claims"
    return document(title, label, [markdown_table(header, table[shown].to_numpy()), bullets(NOTES)])


def omission_shares(claims: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The share of claims that leave each column out (columns), by k (rows)."""
    return claims[list(names)].isna().groupby(claims["k"].to_numpy()).mean()
