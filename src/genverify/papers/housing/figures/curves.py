"""Figures 3, A.4, A.5, A.6 and G.7: precision, recall and match rate of re-identification, condition by condition."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from genverify.papers.housing.figures.lines import (
    KNOWN_SUBSIDY,
    PANELS,
    draw_chance,
    draw_curves,
    key_words,
    legend,
    log_axis,
)
from genverify.papers.housing.judged.reidentify import SAMPLING
from genverify.show.style import PAGE_WIDTH, say_source, use_style

PUTATIVE = "putative"
AXES = {
    PUTATIVE: "k, putative violations joined, most frequent first",
    "k": "k, configurations of reconstructed violations",
    "precision": "precision, %",
    "recall": "recall, %",
    "match_rate": "match rate, %",
}
UNIQUE = "unique in their block"


def plot_precision(curves: pd.DataFrame, totals: pd.DataFrame, keys: Sequence[str], label: str) -> Figure:
    """Figure 3: precision on unique households against k, a panel per key, beside chance and the sampling attack."""
    figure, axes = _panels(1, len(keys))
    for place, key in zip(axes[0], keys, strict=True):
        _panel(place, curves, totals, key, "unique", PUTATIVE, "precision")
        place.set_title(f"{key_words(key)}\n{_size(totals, key, 'unique'):,} households {UNIQUE}")
    return _finish(figure, curves, label)


def plot_tradeoff(curves: pd.DataFrame, totals: pd.DataFrame, keys: Sequence[str], label: str) -> Figure:
    """Figure A.4: precision against recall on unique households."""
    figure, axes = _panels(1, len(keys))
    for place, key in zip(axes[0], keys, strict=True):
        _panel(place, curves, totals, key, "unique", "recall", "precision")
        place.set_title(f"{key_words(key)}\n{_size(totals, key, 'unique', 'violations'):,} violations {UNIQUE}")
    return _finish(figure, curves, label)


def plot_both(curves: pd.DataFrame, totals: pd.DataFrame, keys: Sequence[str], label: str, scope: str) -> Figure:
    """Figures A.5 and A.6: precision in the upper row, recall in the lower one, a column per key."""
    figure, axes = _panels(2, len(keys)) if len(keys) > 1 else _panels(1, 2, "none")
    pairs = axes.T if len(keys) > 1 else axes
    for key, (above, below) in zip(keys, pairs, strict=True):
        _panel(above, curves, totals, key, scope, PUTATIVE, "precision")
        _panel(below, curves, totals, key, scope, PUTATIVE, "recall")
        words = UNIQUE if scope == "unique" else "in all"
        above.set_title(f"{key_words(key)}\n{_size(totals, key, scope):,} households {words}")
        if len(keys) == 1:
            below.set_title(f"{key_words(key)}\n{_size(totals, key, scope, 'violations'):,} violations {words}")
    return _finish(figure, curves, label)


def plot_match_rate(curves: pd.DataFrame, keys: Sequence[str], label: str) -> Figure:
    """Figure G.7: the share of the first k configurations that some household in violation has."""
    figure, axes = _panels(1, len(keys))
    for place, key in zip(axes[0], keys, strict=True):
        draw_curves(place, curves[curves["key"] == key], "k", "match_rate")
        place.set_title(key_words(key))
        _name_axes(place, "k", "match_rate")
    return _finish(figure, curves, label, chance=False)


def _panels(rows: int, columns: int, share: Literal["row", "none"] = "row") -> tuple[Figure, Any]:
    use_style()
    size = (PAGE_WIDTH * max(1.0, columns / 2), 0.9 + 2.5 * rows)
    return plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, sharey=share)


def _panel(axes: Axes, curves: pd.DataFrame, totals: pd.DataFrame, key: str, scope: str, x: str, y: str) -> None:
    draw_curves(axes, curves[curves["key"] == key], x, y)
    if y == "precision":
        draw_chance(axes, totals, key, scope)
    _name_axes(axes, x, y)


def _name_axes(axes: Axes, x: str, y: str) -> None:
    if x == "recall":
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.0f}"))
        axes.set_xlim(left=0)
    else:
        log_axis(axes)
    axes.set_xlabel(AXES[x])
    axes.set_ylabel(AXES[y])


def _size(totals: pd.DataFrame, key: str, scope: str, what: str = "households") -> int:
    return int(totals.loc[(totals["key"] == key) & (totals["scope"] == scope), what].iloc[0])


def _finish(figure: Figure, curves: pd.DataFrame, label: str, chance: bool = True) -> Figure:
    for axes in figure.axes:  # once all panels are drawn: a limit ends the scaling of an axis that several share
        axes.set_ylim(bottom=0)
    sources = [name for name in curves["source"].unique() if name != SAMPLING]
    legend(figure, [*sources, *([SAMPLING] if SAMPLING in set(curves["source"]) else [])], chance)
    say_source(figure, label)
    return figure


class Curves(NamedTuple):
    """What a figure draws: the curves of some match keys over unique or all households, and how."""

    keys: Sequence[str]
    scope: str
    plot: Callable[[pd.DataFrame, pd.DataFrame, Sequence[str], str], Figure]


CURVES: Mapping[str, Curves] = {
    "fig3": Curves(PANELS, "unique", plot_precision),
    "a4": Curves(PANELS, "unique", plot_tradeoff),
    "a5": Curves(PANELS, "all", partial(plot_both, scope="all")),
    "a6": Curves(KNOWN_SUBSIDY, "unique", partial(plot_both, scope="unique")),
}
"""The figures of precision and recall, by the names of their files."""
