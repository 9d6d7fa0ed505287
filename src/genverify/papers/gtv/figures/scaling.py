"""How seconds and memory of the attack grow with the number of households of a block."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from genverify.show.style import INK, PAGE_WIDTH, PALETTE, say_source, use_style

STAGES = {"generate_s": ("generate", PALETTE[1]), "verify_s": ("verify", PALETTE[0])}
KNOWN: dict[bool, tuple[str, dict[str, Any], str]] = {
    False: ("published counts alone", {"linestyle": "-", "marker": "o"}, "x"),
    True: ("with structural zeros", {"linestyle": "--", "marker": "^", "markerfacecolor": "white"}, "+"),
}
STOPPED: dict[str, Any] = {"color": PALETTE[4], "markersize": 6, "markeredgewidth": 1.2, "linestyle": "none", "zorder": 5}
FINISHED = "yes"


def plot_scaling(cases: pd.DataFrame, label: str) -> Figure:
    """Seconds per stage and peak memory, median over the repeats; cases that did not finish are marked by a cross."""
    use_style()
    figure, (seconds, memory) = plt.subplots(1, 2, figsize=(PAGE_WIDTH, 3.4), layout="constrained")
    for known, rows in cases.groupby("structural_zeros"):
        for column, (_, colour) in STAGES.items():
            _line(seconds, rows, column, bool(known), colour)
        _line(memory, rows[rows["finished"] == FINISHED], "peak_memory_mb", bool(known), INK)
        _mark_stopped(seconds, memory, rows[rows["finished"] != FINISHED], bool(known))
    _finish(seconds, cases, "seconds per block", "time")
    _finish(memory, cases, "peak memory per block (MB)", "memory")
    figure.legend(handles=_legend(cases), loc="outside upper center", ncols=3, frameon=False, handlelength=2.8)
    say_source(figure, label)
    return figure


def _line(axes: Axes, rows: pd.DataFrame, column: str, known: bool, colour: str) -> None:
    """The median of the repeats as a line, every repeat as a faint point."""
    rows = rows.dropna(subset=column)
    words, look, _ = KNOWN[known]
    median = rows.groupby("n_households")[column].median()
    axes.plot(median.index, median, color=colour, markersize=4.5, linewidth=1.3, label=f"{column}, {words}", **look)
    axes.plot(rows["n_households"], rows[column], ".", color=colour, markersize=3, alpha=0.35)


def _mark_stopped(seconds: Axes, memory: Axes, rows: pd.DataFrame, known: bool) -> None:
    """A cross where a case did not finish: at its limit of time, and at the memory that it held by then."""
    words, _, marker = KNOWN[known]
    limits = rows["finished"].str.extract(r"within ([\d.]+) s$")[0].astype(float)
    late = rows[limits.notna()]
    seconds.plot(late["n_households"], limits.dropna(), marker, label=f"stopped, {words}", **STOPPED)
    memory.plot(rows["n_households"], rows["peak_memory_mb"], marker, label=f"stopped, {words}", **STOPPED)


def _legend(cases: pd.DataFrame) -> list[Line2D]:
    """Colours are stages, lines are what is known, crosses are cases that did not finish and why."""
    handles = [Line2D([], [], color=colour, linewidth=3, label=stage) for stage, colour in STAGES.values()]
    for known, (words, look, _) in KNOWN.items():
        style: dict[str, Any] = {"color": INK, "markersize": 4.5, "linewidth": 1.3, "label": words, **look}
        handles.insert(2 * known + 1, Line2D([], [], **style))
    stopped = cases[cases["finished"] != FINISHED].sort_values("structural_zeros")
    for known, why in stopped[["structural_zeros", "finished"]].drop_duplicates().itertuples(index=False):
        text = f"{why}, structural zeros" if known else str(why)
        handles.append(Line2D([], [], marker=KNOWN[bool(known)][2], label=text, **STOPPED))
    return handles


def _finish(axes: Axes, cases: pd.DataFrame, name: str, title: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sorted(cases["n_households"].unique()))
    if title == "memory":
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set_xlabel("households in the block")
    axes.set_ylabel(name)
    axes.set_title(title, loc="left", color=INK)
