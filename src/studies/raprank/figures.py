"""Match curves: the share of the k best rows that are private rows, against k/u, for RAP-RANK and its baselines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from genverify.papers.raprank.curves import HOLDOUT, X, mean_curves, started
from genverify.show.style import INK, PAGE_WIDTH, PALETTE, plain, say_source, use_style

LINES: Mapping[str, tuple[str, str, str, str, float]] = {
    started("random"): ("RAP-RANK, random start", "-", "o", PALETTE[4], 1.8),
    started(HOLDOUT): ("RAP-RANK, started at the holdout", "-", "s", PALETTE[4], 1.8),
    HOLDOUT: ("holdout half of the area", "--", "D", INK, 1.4),
    "tract": ("tract", "-", "^", PALETTE[1], 1.0),
    "county": ("county", "-.", "v", PALETTE[3], 1.0),
    "state": ("state", "--", "x", PALETTE[2], 1.0),
    "national": ("national", ":", "+", PALETTE[0], 1.2),
}
"""What each source is called, and its line, marker, colour and width."""

COLUMNS = 3
STATE_COLUMNS = 5


@dataclass(frozen=True)
class Panel:
    """The curves of one panel of a figure, area by area, what they are about, and how large the areas may be."""

    title: str
    size: str
    curves: pd.DataFrame


def panel_of(curves: pd.DataFrame, label: str, start: str, limit: int | None) -> Panel:
    """A random start against all baselines; a start at the holdout against the holdout."""
    others = [source for source in LINES if source != started("random" if start == HOLDOUT else HOLDOUT)]
    shown = [started(HOLDOUT), HOLDOUT] if start == HOLDOUT else others
    words = "started at the holdout" if start == HOLDOUT else "random start"
    size = f"areas of up to {limit:,} records" if limit else "areas"
    return Panel(f"{label}, {words}", size, curves[curves["source"].isin(shown)])


def read_panels(paths: Sequence[str], panels: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """The panels of a figure: files of curves, and for each what it is about and where RAP-RANK starts."""
    return [panel_of(pd.read_parquet(path), **panel) for path, panel in zip(paths, panels, strict=True)]


def panel_means(panels: list[Panel], seed: int) -> pd.DataFrame:
    """The mean curves of all panels, one below the other."""
    means = [mean_curves(panel.curves, seed).assign(panel=panel.title, size=panel.size) for panel in panels]
    return pd.concat(means, ignore_index=True)


def plot_curves(means: pd.DataFrame, label: str) -> Figure:
    """One panel beside the other: mean match rate over areas with its 95 % band."""
    use_style()
    titles = list(means["panel"].unique())
    columns = min(COLUMNS, len(titles))
    rows = ceil(len(titles) / columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(PAGE_WIDTH * max(0.65, columns / 2), 0.7 + 2.7 * rows), layout="constrained", squeeze=False,
        sharex=True, sharey=True,
    )  # fmt: skip
    for place, title in zip(axes.flat, titles, strict=False):
        own = means[means["panel"] == title]
        place.set_title(f"{plain(title)}\n({own['areas'].max():,} {own['size'].iloc[0]})")
        _draw(place, own, band=True)
    for place in axes[:, 0]:
        place.set_ylabel("match rate: private rows among the k best")
    for place in axes[-1]:
        place.set_xlabel("k/u: rows ranked, as a share of the u unique rows")
    _legend(figure, means)
    say_source(figure, f"mean over areas, 95 % band (areas drawn again); {label}")
    return figure


def _draw(axes: Axes, means: pd.DataFrame, band: bool) -> None:
    """A line per source, its markers set apart from those of the others."""
    for place, (source, (_, line, marker, colour, width)) in enumerate(LINES.items()):
        own = means[means["source"] == source]
        if own.empty:
            continue
        every: Any = (place, 7) if band else (place, 16)
        axes.plot(own[X], own["match_rate"], ls=line, marker=marker, markevery=every, ms=3.5, color=colour, lw=width)
        if band:
            axes.fill_between(own[X], own["low"], own["high"], color=colour, alpha=0.15, lw=0)
    axes.set_xlim(0, 1.01)
    axes.set_ylim(0, 1.02)


def _legend(figure: Figure, means: pd.DataFrame) -> None:
    shown = [source for source in LINES if source in set(means["source"])]
    handles = [
        Line2D([], [], ls=line, marker=marker, ms=3.5, color=colour, lw=width, label=words)
        for words, line, marker, colour, width in (LINES[source] for source in shown)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(4, len(handles)), frameon=False)


def state_means(panels: list[Panel]) -> pd.DataFrame:
    """The mean curves of every state, with the number of areas that they stand for."""
    frames = []
    for panel in panels:
        grouped = panel.curves.groupby(["state", "source", X], sort=True)["match_rate"].agg(["mean", "size"]).reset_index()
        frames.append(
            grouped.rename(columns={"mean": "match_rate", "size": "areas"}).assign(panel=panel.title, size=panel.size)
        )
    return pd.concat(frames, ignore_index=True)


def plot_states(means: pd.DataFrame, label: str) -> Figure:
    """Every panel as a grid of small panels, one per state; one grid below the other where they differ in length."""
    use_style()
    titles = list(means["panel"].unique())
    rows = [ceil(means.loc[means["panel"] == title, "state"].nunique() / STATE_COLUMNS) for title in titles]
    figure, parts = _grids(rows)
    for part, title, own in zip(parts, titles, rows, strict=True):
        _state_grid(part, means[means["panel"] == title], own)
        part.suptitle(f"{plain(title)}: {means['size'].iloc[0]}", fontsize=9)
        part.supxlabel("k/u", fontsize=8)
        part.supylabel("match rate", fontsize=8)
    _legend(figure, means)
    say_source(figure, f"by state (FIPS code; areas); {label}")
    return figure


def _grids(rows: list[int]) -> tuple[Figure, Any]:
    """A figure with a part for each grid of so many rows."""
    if len(set(rows)) == 1:
        figure = plt.figure(figsize=(PAGE_WIDTH * len(rows), 1.3 + 1.3 * rows[0]), layout="constrained")
        return figure, figure.subfigures(1, len(rows), squeeze=False).flat
    figure = plt.figure(figsize=(PAGE_WIDTH * 1.2, 1.3 + 1.5 * sum(rows)), layout="constrained")
    # a title and a label take as much as half a row
    return figure, figure.subfigures(len(rows), 1, squeeze=False, height_ratios=[own + 0.5 for own in rows]).flat


def _state_grid(part: SubFigure, means: pd.DataFrame, rows: int) -> None:
    axes = part.subplots(rows, STATE_COLUMNS, sharex=True, sharey=True, squeeze=False)
    for place, (state, own) in _filled(axes, means):
        if own is None:
            place.set_axis_off()
            continue
        place.set_title(f"{state} ({own['areas'].max():,})", fontsize=7, pad=2)
        _draw(place, own, band=False)
        place.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
        place.set_yticks([0, 0.5, 1], ["0", ".5", "1"])


def _filled(axes: Any, means: pd.DataFrame) -> Iterator[tuple[Axes, tuple[str, pd.DataFrame | None]]]:
    """Every small panel with its state; the last ones may stay empty."""
    states: list[tuple[str, pd.DataFrame | None]] = [(str(state), own) for state, own in means.groupby("state")]
    yield from zip(axes.flat, states + [("", None)] * (axes.size - len(states)), strict=True)
