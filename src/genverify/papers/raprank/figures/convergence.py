"""Errors and match rates of RAP with BLOCK against its steps."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from genverify.papers.raprank.curves import HOLDOUT, started
from genverify.show.style import INK, PAGE_WIDTH, PALETTE, say_source, use_style

WAYS = {
    ("known", started("random")): ("blocks known, random start", "-", "o", PALETTE[4]),
    ("known", started(HOLDOUT)): ("blocks known, started at the holdout", "--", "s", PALETTE[1]),
    ("learned", started("random")): ("blocks learned, random start", ":", "^", PALETTE[3]),
}
TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]


def plot_convergence(points: pd.DataFrame, label: str) -> Figure:
    """The error before and after rounding, and the match rate, against the number of steps."""
    use_style()
    figure, axes = plt.subplots(1, 3, figsize=(PAGE_WIDTH * 1.5, 3.2), layout="constrained", sharex=True)
    titles = {
        "relaxed_error": "error before rounding",
        "rounded_error": "error after rounding",
        "match_rate at 1": "match rate at k = u",
    }
    for place, (name, title) in zip(axes, titles.items(), strict=True):
        _draw(place, points, name)
        place.set_title(title)
        place.set_xlabel("steps")
        place.set_ylabel("match rate" if name.startswith("match") else "root of squared errors per row")
    axes[0].sharey(axes[1])
    axes[0].set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    lowest, highest = (points[["relaxed_error", "rounded_error"]].agg(how).agg(how) for how in ("min", "max"))
    axes[0].set_ylim(lowest / 1.3, highest * 1.3)
    base = points.loc[points["source"] == HOLDOUT, "match_rate at 1"].iloc[0]
    axes[2].axhline(base, color=INK, ls="-.", lw=1)
    axes[2].set_ylim(0, 1.02)
    handles = [Line2D([], [], ls=ls, marker=m, color=c, label=words) for words, ls, m, c in WAYS.values()]
    handles.append(Line2D([], [], ls="-.", color=INK, label="holdout half of the area"))
    figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    first = points.iloc[0]
    about = f"{first['rows']:,} rows, {first['of_blocks']:,} blocks, {first['counts']:,} counts, {int(first['runs'])} runs"
    say_source(figure, f"{about}; {label}")
    return figure


def _draw(axes: Axes, points: pd.DataFrame, name: str) -> None:
    for (blocks, source), (_, line, marker, colour) in WAYS.items():
        own = points[(points["blocks_are"] == blocks) & (points["source"] == source)]
        axes.plot(own["steps"], own[name], ls=line, marker=marker, ms=4, color=colour, lw=1.5)
    axes.set_xscale("log")
    if not name.startswith("match"):
        axes.set_yscale("log")
    steps = sorted(points["steps"].dropna().unique())
    axes.set_xticks(steps, [f"{int(step):,}" for step in steps])
    axes.minorticks_off()
