"""Certainty against confidence: what rankings reach, how far their frequencies can be trusted, and what is proved."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genverify.papers.raprank.certainty import ANY_NUMBER, GENERATED, PROVED, RAP, SINGLED_OUT
from genverify.papers.raprank.curves import X
from genverify.show.style import INK, PAGE_WIDTH, PALETTE, say_source, use_style

LINES = {RAP: ("-", "o", PALETTE[4]), GENERATED: ("--", "s", PALETTE[0]), PROVED: ("-", "", INK)}
BARS = {ANY_NUMBER: "#c9d3da", SINGLED_OUT: INK}
NOTE = (
    "Frequency over the generated datasets reflects how they were generated, not a posterior. "
    "Proved: a verified claim about all columns (exactly m such records); dotted: its share."
)


def plot_certainty(numbers: pd.DataFrame, label: str) -> Figure:
    """Three panels: match rate of the best rows, what a row's frequency is worth, private records that proofs cover."""
    use_style()
    figure, axes = plt.subplots(1, 3, figsize=(1.4 * PAGE_WIDTH, 4.0), layout="constrained", width_ratios=[1.15, 1, 1])
    parts = dict(iter(numbers.groupby("part")))
    _match_rate(axes[0], parts["match rate"])
    _reliability(axes[1], parts["reliability"])
    _coverage(axes[2], parts["coverage"])
    say_source(figure, f"{NOTE} Data: {label}")
    return figure


def _match_rate(axes: Axes, part: pd.DataFrame) -> None:
    """The best rows of each ranking, and below them, filled, those that are known for certain."""
    for place, (source, (line, marker, colour)) in enumerate(LINES.items()):
        own = part[part["source"] == source]
        words = "proved (verified claims about full rows)" if source == PROVED else f"{source}: what is true"
        axes.plot(own[X], own["value"], ls=line, marker=marker, markevery=(3 * place, 7), ms=3.5, color=colour, label=words)
        axes.fill_between(own[X], own["low"], own["high"], color=colour, alpha=0.15, lw=0)
    sure = part[part["source"] == PROVED]
    axes.fill_between(sure[X], 0, sure["value"], color=INK, alpha=0.35, lw=0)
    axes.set_title(f"a  the k best rows of {part['n'].max():,} whole blocks")
    axes.set_xlabel("k/u: rows ranked, as a share of the unique rows")
    axes.set_ylabel("share that are private rows")
    axes.set_xlim(0, 1.01)
    axes.set_ylim(0, 1.02)
    _legend_below(axes)


def _reliability(axes: Axes, part: pd.DataFrame) -> None:
    """What a row's frequency is worth: among rows in a given share of the runs, those that are private, and those proved."""
    axes.plot([0, 1], [0, 1], color="#9aa5ad", lw=0.8, ls="-", zorder=0)
    for source in (RAP, GENERATED):
        line, marker, colour = LINES[source]
        own, sure = part[part["source"] == source], part[part["source"] == f"{source}, {PROVED}"]
        last = own.iloc[-1]
        words = f"{source}: {last['n']:,} rows in all runs, {100 * last['value']:.1f} % true"
        axes.plot(own[X], own["value"], ls=line, marker=marker, ms=4, color=colour, label=words)
        axes.plot(sure[X], sure["value"], ls=":", marker=marker, mfc="white", ms=3.5, color=colour)
    axes.set_title("b  rows by how often they were found")
    axes.set_xlabel("share of the runs or datasets that hold the row")
    axes.set_ylabel("share that are private rows")
    axes.set_xlim(0, 1.03)
    axes.set_ylim(-0.02, 1.02)
    _legend_below(axes)


def _coverage(axes: Axes, part: pd.DataFrame) -> None:
    """Private records in a verified claim about k columns; lines: those whose full row is among the u best of a ranking."""
    for place, (word, colour) in enumerate(BARS.items()):
        own = part[part["source"] == word]
        bars = axes.bar(own[X] + 0.4 * place - 0.2, own["value"], 0.38, color=colour, edgecolor=INK, lw=0.6, label=word)
        axes.bar_label(bars, [f"{100 * value:.1f}" for value in own["value"]], fontsize=6, padding=1)
    for source in (RAP, GENERATED):
        line, _, colour = LINES[source]
        value = float(part.loc[part["source"] == source, "value"].iloc[0])
        axes.axhline(value, ls=line, color=colour, lw=1.2, label=f"full row among the u best: {source}")
    axes.set_title("c  private records covered (% above bars)")
    axes.set_xlabel("k, columns of the verified claim")
    axes.set_ylabel("share of private records")
    axes.set_ylim(0, 1.02)
    _legend_below(axes)


def _legend_below(axes: Axes) -> None:
    """The legend under the panel, where it hides nothing."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, fontsize=7)
