"""Cell bounds from conditional tables: bounds against true counts, what rounding hides, and how the time grows."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator, StrMethodFormatter

from genverify.report.figures import INK, PALETTE, say_source, subplots

EXACT = "exact"
DISCLOSED: dict[str, Any] = {"marker": "s", "color": PALETTE[4], "markersize": 4, "linestyle": "none", "zorder": 3}
OPEN: dict[str, Any] = {"color": PALETTE[0], "linewidth": 1.1, "solid_capstyle": "butt"}
TRUE: dict[str, Any] = {"marker": "o", "color": PALETTE[1], "markersize": 3, "linestyle": "none", "zorder": 3}
LOOKS = [{"marker": marker, "linestyle": line} for marker, line in zip("o^sD", ("-", "--", ":", "-."), strict=True)]
TICKS = (0, 1, 3, 10, 30, 100, 300)


def plot_cellbounds(cells: pd.DataFrame, label: str) -> Figure:
    """A panel per table with the bounds of its cells from exact conditionals; a last one with what rounding leaves."""
    tables = list(dict.fromkeys(cells["table"]))
    figure, axes = subplots(2, 2, height=6.0)
    for index, name in zip(axes.flat, tables, strict=False):
        _panel(index, cells[(cells["table"] == name) & (cells["conditionals"] == EXACT)], name)
    _rounding(axes.flat[len(tables)], cells, tables)
    looks = {"bounds of a cell's count": OPEN, "true count": TRUE, "true count, in a disclosed row": DISCLOSED}
    handles = [Line2D([], [], label=words, **look) for words, look in looks.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)
    return say_source(figure, label)


def _panel(axes: Axes, cells: pd.DataFrame, name: str) -> None:
    cells = cells.sort_values(["count", "lower", "upper"], kind="stable").reset_index(drop=True)
    free, fixed = cells[~cells["disclosed"]], cells[cells["disclosed"]]
    axes.vlines(free.index, free["lower"], free["upper"], color=OPEN["color"], linewidth=OPEN["linewidth"])
    for side in ("lower", "upper"):
        axes.plot(free.index, free[side], "_", color=OPEN["color"], markersize=min(5, 200 / len(cells)))
    axes.plot(free.index, free["count"], **TRUE)
    axes.plot(fixed.index, fixed["count"], **DISCLOSED)
    rows = cells.groupby("row")["disclosed"].first()
    axes.set_title(f"{name}: {int(rows.sum())} of {len(rows)} rows disclosed", loc="left", color=INK)
    axes.set(xlabel=f"{len(cells)} cells, by their true count", ylabel="count of the cell (records)")
    top = float(cells["upper"].max()) * 1.3 + 1
    axes.set_yscale("symlog", linthresh=1, linscale=0.5)
    axes.set_yticks([tick for tick in TICKS if tick <= top])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set(xticks=[], ylim=(-0.2, top))


def _rounding(axes: Axes, cells: pd.DataFrame, tables: list[str]) -> None:
    known = (cells["lower"] == cells["upper"]).groupby([cells["table"], cells["conditionals"]]).mean().mul(100)
    steps = sorted(set(cells["conditionals"]), key=lambda step: (step == EXACT, step))
    for index, name in enumerate(tables):
        look: dict[str, Any] = {"color": PALETTE[index], "markersize": 4.5, "linewidth": 1.3, **LOOKS[index]}
        axes.plot(range(len(steps)), [known[name, step] for step in steps], label=name, **look)
    axes.set_xticks(range(len(steps)), steps)
    axes.set(xlabel="decimals of the published conditionals", ylabel="cells with one possible count, %", ylim=(-3, 103))
    axes.set_title("what rounding hides", loc="left", color=INK)
    axes.legend(loc="center left", frameon=False)


def plot_cellbounds_scaling(lines: pd.DataFrame, label: str) -> Figure:
    """CPU seconds for the bounds of all cells by the number of nonzero ones, a panel per kind of table."""
    kinds = {"sparse": "with rows of reduced sum 1", "no_ones": "without such rows"}
    figure, axes = subplots(1, 2, height=3.5, sharey=True)
    methods = list(dict.fromkeys(lines["method"]))
    for panel, (kind, words) in zip(axes, kinds.items(), strict=True):
        for index, method in enumerate(methods):
            _line(panel, lines[(lines["kind"] == kind) & (lines["method"] == method)], index, method)
        panel.set(xscale="log", yscale="log")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        panel.set_xlabel("nonzero cells")
        panel.set_title(words, loc="left", color=INK)
    axes[0].set_ylabel("CPU seconds for all cells")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False, handlelength=2.8)
    return say_source(figure, label)


def _line(axes: Axes, lines: pd.DataFrame, index: int, method: str) -> None:
    """One method: tables with the usual number of columns joined by a line, others as points of their own."""
    whole = bool((lines["remark"].fillna("") == "").all())
    look: dict[str, Any] = {"color": PALETTE[index], "marker": "os^Dv"[index], "markersize": 4.5, "linewidth": 1.3}
    look |= {} if whole else {"markerfacecolor": "white"}
    usual = lines["columns"] == lines["columns"].mode().iloc[0]
    joined, others = lines[usual].sort_values("nonzero_cells"), lines[~usual]
    label = method if whole else f"{method}, extrapolated"
    axes.plot(joined["nonzero_cells"], joined["cpu_s"], label=label, linestyle="-" if whole else "--", **look)
    axes.plot(others["nonzero_cells"], others["cpu_s"], **look | {"linestyle": "none"})
