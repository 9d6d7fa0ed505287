"""What the figures of the housing study share: the line of each condition, its curves, and the lines of chance."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from genverify.core.errors import DataError
from genverify.papers.housing.judged.reidentify import SAMPLING
from genverify.show.style import INK, PAGE_WIDTH, PALETTE, plain

LINES: Mapping[str, tuple[str, Any, str, str]] = {
    "none": ("no protection", "-", "o", INK),
    "swapping": ("swapping", "--", "s", PALETTE[1]),
    "swapping_state": ("swapping, all blocks of the state", (0, (4, 2)), "d", PALETTE[0]),
    "swapping_census": ("swapping, census alone", (0, (3, 1, 1, 1, 1, 1)), "P", PALETTE[5]),
    "dp": ("noise, budget of the 2020 system", "-", "^", PALETTE[4]),
    "dp_uniform": ("noise, uniform, rho 0.1", "-.", "v", PALETTE[2]),
    "dp_uniform_001": ("noise, uniform, rho 0.01", (0, (3, 1, 1, 1)), "<", PALETTE[2]),
    "dp_uniform_0001": ("noise, uniform, rho 0.001", (0, (1, 2)), ">", PALETTE[2]),
    "dp_both": ("noise on both releases", ":", "D", PALETTE[3]),
    SAMPLING: ("sampling attack", (0, (1, 1)), "x", PALETTE[0]),
}
"""What each condition is called, and its line, marker and colour; another condition gets the next free one."""

KEYS = {
    "hud": "bedrooms, race, child (the HUD records)",
    "race_child": "race, child (subsidy not known)",
    "subsidized_race_child": "subsidy, race, child",
}
PANELS = ("hud", "race_child")
KNOWN_SUBSIDY = ("subsidized_race_child",)
"""The match keys of the paper's figures, by name in config/housing.yaml; the second where it is known who is subsidized."""

CHANCE = "violation rate (chance)"
POINTS = 150


def line_of(condition: str, place: int) -> tuple[str, Any, str, str]:
    """The line of a condition; one that is not listed goes by its name."""
    spare = (condition.replace("_", " "), (0, (5, 1, 1, 1, 1, 1)), "*", PALETTE[place % len(PALETTE)])
    return LINES.get(condition, spare)


def thin(curve: pd.DataFrame, x: str) -> pd.DataFrame:
    """At most POINTS points of a curve, evenly spaced on a logarithmic axis, the first and the last among them."""
    own = curve[curve[x] > 0].drop_duplicates(x, keep="last")
    if len(own) <= POINTS:
        return own
    wanted = np.geomspace(own[x].iloc[0], own[x].iloc[-1], POINTS)
    return own.iloc[np.unique(np.minimum(np.searchsorted(own[x].to_numpy(), wanted), len(own) - 1))]


def thin_curves(curves: pd.DataFrame, keys: Sequence[str], scope: str, x: str) -> pd.DataFrame:
    """The curves that a figure shows, at the points that it draws."""
    missing = [key for key in keys if key not in set(curves["key"])]
    if missing:
        raise DataError(f"no curve of the match key {missing[0]!r}: name it under housing.match_keys in config/housing.yaml")
    own = curves[curves["key"].isin(keys) & (curves["scope"] == scope)]
    groups = own.groupby(["key", "source"], sort=False)
    parts = [thin(rows, x) for _, rows in groups]
    return pd.concat(parts, ignore_index=True) if parts else own


def draw_curves(axes: Axes, curves: pd.DataFrame, x: str, y: str) -> None:
    """A line per condition, markers apart from each other's."""
    for place, (source, own) in enumerate(curves.groupby("source", sort=False)):
        _, line, marker, colour = line_of(str(source), place)
        gap = max(1, len(own) // 7)
        every: Any = (2 * place % gap, gap)
        axes.plot(own[x], 100 * own[y], ls=line, marker=marker, markevery=every, ms=3.5, color=colour, lw=1.3)


def draw_chance(axes: Axes, totals: pd.DataFrame, key: str, scope: str) -> float:
    """The share of identified households that are in violation: the precision of households drawn at random."""
    row = totals[(totals["key"] == key) & (totals["scope"] == scope)].iloc[0]
    chance = 100 * row["violations"] / row["households"] if row["households"] else 0.0
    axes.axhline(chance, color="#6b7780", lw=1, ls=(0, (6, 3)))
    return float(chance)


def legend(figure: Figure, sources: Sequence[str], chance: bool = True) -> None:
    """One legend above all panels."""
    handles = []
    for place, source in enumerate(sources):
        words, line, marker, colour = line_of(source, place)
        handles.append(Line2D([], [], ls=line, marker=marker, ms=3.5, color=colour, lw=1.3, label=plain(words)))
    if chance:
        handles.append(Line2D([], [], ls=(0, (6, 3)), color="#6b7780", lw=1, label=CHANCE))
    columns = 3 if figure.get_figwidth() <= PAGE_WIDTH else 6
    figure.legend(
        handles=handles, loc="outside upper center", ncols=min(columns, len(handles)), frameon=False, handlelength=3
    )


def key_words(key: str) -> str:
    return plain(KEYS.get(key, key.replace("_", " ")))


def log_axis(axes: Axes) -> None:
    """Thousands of households on one axis, the first few still distinguished."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
