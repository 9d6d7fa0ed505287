"""Figures 2 and A.1 to A.3: how unique reconstructions are, which blocks are flagged, putative beside true violations."""

from collections.abc import Callable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from genverify.show.style import COLUMN_WIDTH, INK, PAGE_WIDTH, PALETTE, say_source, use_style

ATTRIBUTES = {
    "all": ("all households, all attributes", "-", PALETTE[0]),
    "simple": ("all households, simple attributes", "--", PALETTE[1]),
    "violations": ("violations V*, all attributes", ":", PALETTE[4]),
    "violations_simple": ("violations V*, simple attributes", "-.", PALETTE[2]),
}
NEAR = 0.05
SMALL, STEP = 11, 10
SHARES = np.linspace(0, 1, 11)


def variability_points(variability: pd.DataFrame) -> pd.DataFrame:
    """
    Cumulative shares of blocks and of households by the share of records that may differ.

    A value that is not exact may be larger than what was found: `least_` takes all records of such a block as open, `most_`
    the share that was found. A block without a fitting dataset has no value, and stands in neither; nor does one whose most
    likely dataset has no violation in the curves of violations, whose households are those in violation.
    """
    parts = []
    for attributes, rows in variability.dropna(subset="share").groupby("attributes"):
        found, sure = rows["share"].to_numpy(), rows["share"].where(rows["exact"].astype(bool), 1.0).to_numpy()
        grid = np.unique([0.0, *found, 1.0])
        sums: dict[str, Any] = {
            "attributes": attributes,
            "share": grid,
            "blocks": len(rows),
            "households": int(rows["records"].sum()),
        }
        for name, weights in (("blocks", np.ones(len(rows))), ("households", rows["records"].to_numpy(dtype=float))):
            for word, values in (("least", sure), ("most", found)):
                sums[f"{word}_{name}"] = [weights[values <= point].sum() / weights.sum() for point in grid]
        parts.append(pd.DataFrame(sums))
    return pd.concat(parts, ignore_index=True)


def plot_variability(points: pd.DataFrame, label: str) -> Figure:
    """Figure 2: over blocks on the left, over households on the right; a band where some values are not exact."""
    use_style()
    figure, axes = plt.subplots(1, 2, figsize=(PAGE_WIDTH, 3.3), layout="constrained", sharey=True)
    for place, name in zip(axes, ("blocks", "households"), strict=True):
        for attributes in [known for known in ATTRIBUTES if known in set(points["attributes"])]:
            _draw_variability(place, points[points["attributes"] == attributes], name, ATTRIBUTES[attributes])
        place.set_xlabel("records that may differ, %")
        place.set_ylabel(f"{name}, cumulative %")
        place.set_xlim(-2, 102)
        place.set_ylim(-2, 102)
    axes[0].set_title("over blocks")
    axes[1].set_title("over their households, or their violations")
    handles, _ = axes[0].get_legend_handles_labels()
    figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False, handlelength=3)
    say_source(figure, label)
    return figure


def _draw_variability(axes: Axes, rows: pd.DataFrame, name: str, style: tuple[str, str, str]) -> None:
    words, line, colour = style
    columns = ("share", f"least_{name}", f"most_{name}")
    x, least, most = (100 * np.append(0.0, rows[column]) for column in columns)
    named = f"{words}: {rows[name].iloc[0]:,} {name}, {least[1]:.1f} % certain"
    axes.step(x, least, where="post", ls=line, color=colour, label=named)
    axes.fill_between(x, least, most, step="post", color=colour, alpha=0.2, lw=0)


def flagged_bins(judged: pd.DataFrame) -> pd.DataFrame:
    """Flagged blocks, blocks with a violation and all blocks, by number and by share of subsidized households."""
    share = judged["n_s"] / judged["n"]
    edges = np.arange(SMALL, max(judged["n_s"].max(), SMALL) + STEP + 1, STEP)
    parts = [
        _binned(judged, "subsidized households", judged["n_s"], edges),
        _binned(judged, "share subsidized", share, SHARES),
    ]
    return pd.concat(parts, ignore_index=True)


def _binned(judged: pd.DataFrame, by: str, values: "pd.Series[Any]", edges: Any) -> pd.DataFrame:
    """Counts per bin [low, high); what lies at an end or beyond is in the last one or the first."""
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    masks = {"flagged": judged["flagged"], "with_violation": judged["violations"] > 0, "blocks": judged["n"] >= 0}
    counts = {name: np.bincount(bins[mask], minlength=len(edges) - 1) for name, mask in masks.items()}
    return pd.DataFrame({"by": by, "low": edges[:-1], "high": edges[1:], **counts})


def plot_flagged(bins: pd.DataFrame, label: str) -> Figure:
    """Figure A.1: flagged blocks as bars; the outline is of all blocks that truly hold a violation."""
    use_style()
    figure, axes = plt.subplots(1, 2, figsize=(PAGE_WIDTH, 2.7), layout="constrained", sharey=True)
    for place, (by, rows) in zip(axes, bins.groupby("by", sort=False), strict=True):
        factor = 100 if by == "share subsidized" else 1
        edges = factor * np.append(rows["low"], rows["high"].iloc[-1])
        place.stairs(rows["flagged"], edges, fill=True, color=PALETTE[0], label=f"flagged ({rows['flagged'].sum():,})")
        words = f"with a violation ({rows['with_violation'].sum():,})"
        place.stairs(rows["with_violation"], edges, color=INK, lw=1.2, ls="--", label=words)
        place.set_xlabel(
            "households of the block that are subsidized, %" if factor == 100 else "subsidized households in the block"
        )
        place.set_ylabel("blocks")
        place.legend(loc="best", frameon=False)
    say_source(figure, label)
    return figure


def near_bins(variability: pd.DataFrame) -> pd.DataFrame:
    """Blocks in which less than 5 % of records may differ (simple attributes), and all blocks, by share subsidized."""
    own = variability[variability["attributes"] == "simple"]
    bins = np.minimum((10 * own["n_s"] / own["n"]).astype(int), 9)
    near = (own["share"] < NEAR) & own["exact"].astype(bool)
    counts = {name: np.bincount(bins[mask], minlength=10) for name, mask in (("near", near), ("blocks", own["n"] >= 0))}
    return pd.DataFrame({"low": SHARES[:-1], "high": SHARES[1:], **counts})


def plot_near(bins: pd.DataFrame, label: str) -> Figure:
    """Figure A.2: the share subsidized of the blocks whose reconstruction is all but certain."""
    use_style()
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH * 1.2, 2.7), layout="constrained")
    edges = 100 * np.append(bins["low"], 1.0)
    axes.stairs(bins["near"], edges, fill=True, color=PALETTE[0])
    axes.set_title(f"{bins['near'].sum():,} of {bins['blocks'].sum():,} blocks: less than 5 % of records may differ")
    axes.set_xlabel("households of the block that are subsidized, %")
    axes.set_ylabel("blocks")
    axes.set_xlim(0, 100)
    axes.set_ylim(0, max(1.0, 1.05 * bins["near"].max()))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    if not bins["near"].sum():
        axes.text(0.5, 0.5, "no such block", transform=axes.transAxes, ha="center", va="center", style="italic")
    say_source(figure, label)
    return figure


def putative_counts(judged: pd.DataFrame) -> pd.DataFrame:
    """Reconstructed blocks by violations of the most likely reconstruction and true violations."""
    own = judged[judged["found"] > 0]
    counts = own.assign(putative=own["first"].astype(np.int64)).groupby(["putative", "violations"]).size()
    return counts.rename("blocks").reset_index()


def correlation(counts: pd.DataFrame) -> float:
    """Pearson's correlation of putative and true violations over blocks; unknown where one of them does not vary."""
    if counts["putative"].nunique() < 2 or counts["violations"].nunique() < 2:
        return float("nan")
    table = np.cov(counts["putative"], counts["violations"], fweights=counts["blocks"])
    return float(table[0, 1] / np.sqrt(table[0, 0] * table[1, 1]))


def plot_putative(counts: pd.DataFrame, condition: str, label: str) -> Figure:
    """Figure A.3: putative against true violations of each block, larger circles for more blocks."""
    use_style()
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH * 1.2, 3.4), layout="constrained")
    most = max(counts[["putative", "violations"]].max().max(), 1) if len(counts) else 1
    axes.plot([0, most], [0, most], color="#9aa5ad", lw=0.8, zorder=0)
    axes.scatter(
        counts["violations"], counts["putative"], s=12 * counts["blocks"] ** 0.7, color=PALETTE[0], alpha=0.55, lw=0
    )
    axes.set_title(f"{condition}: {counts['blocks'].sum():,} reconstructed blocks, correlation {correlation(counts):.2f}")
    axes.set_xlabel("true violations in the block")
    axes.set_ylabel("putative violations (most likely reconstruction)")
    _whole_numbers(axes)
    say_source(figure, label)
    return figure


def _whole_numbers(axes: Axes) -> None:
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))


Plot = tuple[Callable[[pd.DataFrame], pd.DataFrame], Callable[[pd.DataFrame, str], Figure]]
VARIABILITY: Mapping[str, Plot] = {"fig2": (variability_points, plot_variability), "a2": (near_bins, plot_near)}
"""The figures of solution variability, by the names of their files: the numbers, and how they are drawn."""
