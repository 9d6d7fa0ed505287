"""Match rates of every experiment as numbers, and whether the orders that the paper reports are seen."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from genverify.papers.raprank.curves import mean_interval, wide
from genverify.show.markdown import document, markdown_table

READ_AT = (0.1, 0.5, 1.0)
PLACES = 4


def match_rate_table(curves: Mapping[str, pd.DataFrame], drawn: Mapping[str, int], label: str, seed: int) -> pd.DataFrame:
    """
    The mean match rate of every experiment and source: over the whole curve (with its 95 % interval), and at some k/u.

    `drawn` is the number of areas of each experiment; those of one record have no halves and are left out.
    """
    rows = []
    for experiment, frame in curves.items():
        for source in frame["source"].unique():
            values = wide(frame, source)
            mean, low, high = (float(part[0]) for part in mean_interval(values.mean(axis=1).to_numpy()[:, None], seed))
            row: dict[str, Any] = {"experiment": experiment, "source": source, "areas": len(values)}
            row |= {"left_out": drawn[experiment] - len(values), "mean": mean, "low": low, "high": high}
            rows.append(row | {f"at {x:g}": float(_at(values, x).mean()) for x in READ_AT})
    return pd.DataFrame(rows).round(PLACES).assign(data=label)


def _at(values: pd.DataFrame, x: float) -> "pd.Series[float]":
    """The match rates at the first point of the grid from x on."""
    points = values.columns.to_numpy(dtype=float)
    return values.iloc[:, min(int(np.searchsorted(points, x - 1e-9)), len(points) - 1)]


def order_table(
    curves: Mapping[str, pd.DataFrame], orders: Sequence[Mapping[str, str]], label: str, seed: int
) -> pd.DataFrame:
    """Every order of the paper with the mean difference of our curves, its 95 % interval, and whether it is seen."""
    rows = [dict(order) | _compare(curves, order["better"], order["worse"], seed) for order in orders]
    return pd.DataFrame(rows).round(PLACES).assign(data=label)


def _compare(curves: Mapping[str, pd.DataFrame], better: str, worse: str, seed: int) -> dict[str, Any]:
    sides = [_of(curves, side) for side in (better, worse)]
    if sides[0] is None or sides[1] is None:
        return {"difference": np.nan, "low": np.nan, "high": np.nan, "areas": 0, "seen": "not run"}
    both = pd.concat(sides, axis=1, keys=["better", "worse"]).dropna()
    difference = (both["better"] - both["worse"]).to_numpy()[:, None]
    mean, low, high = (float(part[0]) for part in mean_interval(difference, seed))
    seen = "yes" if low > 0 else "no" if high < 0 else "undecided"
    return {"difference": mean, "low": low, "high": high, "areas": len(both), "seen": seen}


def _of(curves: Mapping[str, pd.DataFrame], side: str) -> "pd.Series[float] | None":
    """The mean of each area's curve for experiment/source."""
    experiment, _, source = side.partition("/")
    if experiment not in curves or source not in set(curves[experiment]["source"]):
        return None
    return wide(curves[experiment], source).mean(axis=1)


def raprank_text(rates: pd.DataFrame, orders: pd.DataFrame, label: str) -> str:
    """Both tables as Markdown."""
    lead = (
        "mean: the match rate averaged over the whole curve (k/u from 0 to 1) and over areas, with its 95 % interval (areas "
        "drawn again); at x: the match rate of the k = x u best rows. left_out: areas of one record, which have no halves."
    )
    told = (
        "Orders that the paper reports. difference: mean over areas of what lies between the two curves; seen: yes or no "
        "where the 95 % interval excludes 0."
    )
    tables = [markdown_table(list(frame.columns[:-1]), frame.iloc[:, :-1].to_numpy(), left=2) for frame in (rates, orders)]
    return document("RAP-RANK: match rates", label, [lead, tables[0], told, tables[1]])
