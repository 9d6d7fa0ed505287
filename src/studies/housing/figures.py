"""Figures 1 to 3, A.1 to A.6 and G.7; the first is the experiment as a drawing, with the numbers of the run."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from genverify.model.errors import DataError
from genverify.report.figures import COLUMN_WIDTH, INK, PAGE_WIDTH, PALETTE, plain, say_source, subplots
from studies.housing.evaluate import SAMPLING, summarise_blocks
from studies.housing.tables import NEAR, final


class Box(NamedTuple):
    """A box of the drawing: the place of its middle, its size, its text, and whether only the evaluation knows of it."""

    x: float
    y: float
    width: float
    height: float
    private: bool
    text: str


SIDES = {"right": (1, 0), "left": (-1, 0), "up": (0, 1), "down": (0, -1)}


def overview_table(judged: pd.DataFrame, curves: pd.DataFrame, totals: pd.DataFrame, key: str) -> pd.DataFrame:
    """The numbers of the drawing: blocks and households, flags, reconstructions, and what the key re-identifies."""
    blocks, end = summarise_blocks(judged), final(curves, key, "once")
    own = totals[(totals["key"] == key) & (totals["scope"] == "all")].iloc[0]
    values: dict[str, Any] = {
        "blocks": blocks["blocks"], "households": int(judged["n"].sum()), "subsidized": int(judged["subsidized"].sum()),
        "violations": int(judged["violations"].sum()), "flagged": blocks["putative_blocks"],
        "reconstructions": int(judged["found"].sum()), "identified": int(own["households"]),
        "putative": int(end["putative"]), "precision": round(100 * end["precision"]), "recall": round(100 * end["recall"]),
    }  # fmt: skip
    return pd.DataFrame({"number": list(values), "value": list(values.values())})


def plot_overview(table: pd.DataFrame, key: Sequence[str], drawing: Mapping[str, Any], label: str) -> Figure:
    """Boxes from the private households to what is re-identified; shaded: known to the evaluation alone."""
    figure, axes = subplots(height=4.2)
    axes.set_axis_off()
    axes.set(xlim=(0, 10), ylim=(0.1, 5.5))
    numbers = dict(zip(table["number"], table["value"].astype(int), strict=True))
    boxes = {name: Box(**box) for name, box in drawing["boxes"].items()}
    for box in boxes.values():
        text = plain(box.text.format(key=", ".join(key).lower(), **numbers))
        colour = "#e8edf1" if box.private else "white"
        corner = (box.x - box.width / 2, box.y - box.height / 2)
        style = "round,pad=0.02,rounding_size=0.12"
        axes.add_patch(FancyBboxPatch(corner, box.width, box.height, boxstyle=style, fc=colour, ec=INK, lw=1))
        axes.text(box.x, box.y, text, ha="center", va="center", fontsize=7.5, linespacing=1.35)
    for start, end, words in drawing["arrows"]:
        _draw_arrow(axes, boxes[start], boxes[end], words)
    said = f"Shaded: known to the evaluation only. No protection, all putative violations. Data: {label}"
    return say_source(figure, said)


def _draw_arrow(axes: Axes, start: Box, end: Box, words: str) -> None:
    across = abs(end.x - start.x) > 0.5
    side = ("right" if end.x > start.x else "left") if across else ("up" if end.y > start.y else "down")
    dx, dy = SIDES[side]
    a = (start.x + dx * start.width / 2, start.y + dy * start.height / 2)
    b = (end.x - dx * end.width / 2, end.y - dy * end.height / 2)
    look: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 10, "color": PALETTE[0], "lw": 1.2}
    axes.add_patch(FancyArrowPatch(a, b, shrinkA=2, shrinkB=2, **look))
    middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
    level = 0.14 if a[1] == b[1] else 0.32
    shift, place = ((-0.1 * (level > 0.2), level), "center") if across else ((0.12, 0), "left")
    if words:
        axes.text(middle[0] + shift[0], middle[1] + shift[1], words, ha=place, va="center", fontsize=7, style="italic")


# What the figures of the housing study share: the line of each condition, its curves, and the lines of chance.

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
POINTS = 150  # of a line: more cannot be told apart in print, and make the file larger


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
    parts = [thin(rows, x) for _, rows in own.groupby(["key", "source"], sort=False)]
    return pd.concat(parts, ignore_index=True) if parts else own


def draw_curves(axes: Axes, curves: pd.DataFrame, x: str, y: str) -> None:
    """A line per condition, markers apart from each other's."""
    for place, (source, own) in enumerate(curves.groupby("source", sort=False)):
        _, line, marker, colour = line_of(str(source), place)
        gap = max(1, len(own) // 7)
        every: Any = (2 * place % gap, gap)
        axes.plot(own[x], 100 * own[y], ls=line, marker=marker, markevery=every, ms=3.5, color=colour, lw=1.3)


def draw_chance(axes: Axes, totals: pd.DataFrame, key: str, scope: str) -> None:
    """The share of identified households that are in violation: the precision of households drawn at random."""
    violations, households = (_size(totals, key, scope, what) for what in ("violations", "households"))
    axes.axhline(100 * violations / households if households else 0.0, color="#6b7780", lw=1, ls=(0, (6, 3)))


def legend(figure: Figure, sources: Sequence[str], chance: bool = True) -> None:
    handles = []
    for place, source in enumerate(sources):
        words, line, marker, colour = line_of(source, place)
        handles.append(Line2D([], [], ls=line, marker=marker, ms=3.5, color=colour, lw=1.3, label=plain(words)))
    if chance:
        handles.append(Line2D([], [], ls=(0, (6, 3)), color="#6b7780", lw=1, label=CHANCE))
    columns = min(3 if figure.get_figwidth() <= PAGE_WIDTH else 6, len(handles))
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, frameon=False, handlelength=3)


def key_words(key: str) -> str:
    return plain(KEYS.get(key, key.replace("_", " ")))


# Figures 2 and A.1 to A.3: how unique reconstructions are, which blocks are flagged, putative beside true violations.

# thinner from line to line, so that none hides another where they meet: at the foot, and at 100 %
ATTRIBUTES = {
    "all": ("all households, all attributes", 4.5, "#9db9cc"),
    "simple": ("all households, simple attributes", 3.0, PALETTE[1]),
    "violations": ("violations V*, all attributes", 1.8, PALETTE[4]),
    "violations_simple": ("violations V*, simple attributes", 0.8, INK),
}
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
        sums: dict[str, Any] = {"attributes": attributes, "share": grid, "blocks": len(rows)}
        sums["households"] = int(rows["records"].sum())
        for name, weights in (("blocks", np.ones(len(rows))), ("households", rows["records"].to_numpy(dtype=float))):
            for word, values in (("least", sure), ("most", found)):
                sums[f"{word}_{name}"] = [weights[values <= point].sum() / weights.sum() for point in grid]
        parts.append(pd.DataFrame(sums))
    return pd.concat(parts, ignore_index=True)


def plot_variability(points: pd.DataFrame, label: str) -> Figure:
    """Figure 2: over blocks on the left, over households on the right; a band where some values are not exact."""
    figure, axes = subplots(1, 2, height=3.3, sharey=True)
    for place, name in zip(axes, ("blocks", "households"), strict=True):
        for attributes in [known for known in ATTRIBUTES if known in set(points["attributes"])]:
            _draw_variability(place, points[points["attributes"] == attributes], name, ATTRIBUTES[attributes])
        place.set(xlabel="records that may differ, %", ylabel=f"{name}, cumulative %", xlim=(-2, 102), ylim=(-2, 102))
    axes[0].set_title("over blocks")
    axes[1].set_title("over their households, or their violations")
    handles, _ = axes[0].get_legend_handles_labels()
    figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False, handlelength=3, fontsize=6.5)
    return say_source(figure, label)


def _draw_variability(axes: Axes, rows: pd.DataFrame, name: str, style: tuple[str, float, str]) -> None:
    words, width, colour = style
    columns = ("share", f"least_{name}", f"most_{name}")
    x, least, most = (100 * np.append(0.0, rows[column]) for column in columns)
    named = f"{words}: {rows[name].iloc[0]:,} {name}, {least[1]:.1f} % certain"
    axes.step(x, least, where="post", lw=width, color=colour, label=named)
    axes.fill_between(x, least, most, step="post", color=colour, alpha=0.2, lw=0)


def flagged_bins(judged: pd.DataFrame) -> pd.DataFrame:
    """Flagged blocks, blocks with a violation and all blocks, by number and by share of subsidized households."""
    share = judged["n_s"] / judged["n"]
    edges = np.arange(SMALL, max(judged["n_s"].max(), SMALL) + STEP + 1, STEP)
    by_number = _binned(judged, "subsidized households", judged["n_s"], edges)
    return pd.concat([by_number, _binned(judged, "share subsidized", share, SHARES)], ignore_index=True)


def _binned(judged: pd.DataFrame, by: str, values: "pd.Series[Any]", edges: Any) -> pd.DataFrame:
    """Counts per bin [low, high); what lies at an end or beyond is in the last one or the first."""
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    masks = {"flagged": judged["flagged"], "with_violation": judged["violations"] > 0, "blocks": judged["n"] >= 0}
    counts = {name: np.bincount(bins[mask], minlength=len(edges) - 1) for name, mask in masks.items()}
    return pd.DataFrame({"by": by, "low": edges[:-1], "high": edges[1:], **counts})


def plot_flagged(bins: pd.DataFrame, label: str) -> Figure:
    """Figure A.1: flagged blocks as bars; the outline is of all blocks that truly hold a violation."""
    figure, axes = subplots(1, 2, height=2.7, sharey=True)
    for place, (by, rows) in zip(axes, bins.groupby("by", sort=False), strict=True):
        factor = 100 if by == "share subsidized" else 1
        edges = factor * np.append(rows["low"], rows["high"].iloc[-1])
        place.stairs(rows["flagged"], edges, fill=True, color=PALETTE[0], label=f"flagged ({rows['flagged'].sum():,})")
        words = f"with a violation ({rows['with_violation'].sum():,})"
        place.stairs(rows["with_violation"], edges, color=INK, lw=1.2, ls="--", label=words)
        of = "households of the block that are subsidized, %" if factor == 100 else "subsidized households in the block"
        place.set(xlabel=of, ylabel="blocks")
        place.legend(loc="best", frameon=False)
    return say_source(figure, label)


def near_bins(variability: pd.DataFrame) -> pd.DataFrame:
    """Blocks in which less than 5 % of records may differ (simple attributes), and all blocks, by share subsidized."""
    own = variability[variability["attributes"] == "simple"]
    bins = np.minimum((10 * own["n_s"] / own["n"]).astype(int), 9)
    near = (own["share"] < NEAR) & own["exact"].astype(bool)
    counts = {name: np.bincount(bins[mask], minlength=10) for name, mask in (("near", near), ("blocks", own["n"] >= 0))}
    return pd.DataFrame({"low": SHARES[:-1], "high": SHARES[1:], **counts})


def plot_near(bins: pd.DataFrame, label: str) -> Figure:
    """Figure A.2: the share subsidized of the blocks whose reconstruction is all but certain."""
    figure, axes = subplots(height=2.7, width=COLUMN_WIDTH * 1.2)
    edges = 100 * np.append(bins["low"], 1.0)
    axes.stairs(bins["near"], edges, fill=True, color=PALETTE[0])
    axes.set_title(f"{bins['near'].sum():,} of {bins['blocks'].sum():,} blocks: less than 5 % of records may differ")
    axes.set(xlabel="households of the block that are subsidized, %", ylabel="blocks")
    axes.set(xlim=(0, 100), ylim=(0, max(1.0, 1.05 * bins["near"].max())))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    if not bins["near"].sum():
        why = "None of these blocks is nearly certain.\nhousing.variability_blocks asks about more of them."
        axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center", style="italic", fontsize=7)
    return say_source(figure, label)


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
    figure, axes = subplots(height=3.4, width=COLUMN_WIDTH * 1.2)
    most = max(counts[["putative", "violations"]].max().max(), 1) if len(counts) else 1
    axes.plot([0, most], [0, most], color="#9aa5ad", lw=0.8, zorder=0)
    sizes = 12 * counts["blocks"] ** 0.7
    axes.scatter(counts["violations"], counts["putative"], s=sizes, color=PALETTE[0], alpha=0.55, lw=0)
    axes.set_title(f"{condition}: {counts['blocks'].sum():,} reconstructed blocks, correlation {correlation(counts):.2f}")
    axes.set(xlabel="true violations in the block", ylabel="putative violations (most likely reconstruction)")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    return say_source(figure, label)


Plot = tuple[Callable[[pd.DataFrame], pd.DataFrame], Callable[[pd.DataFrame, str], Figure]]
VARIABILITY: Mapping[str, Plot] = {"fig2": (variability_points, plot_variability), "a2": (near_bins, plot_near)}
"""The figures of solution variability, by the names of their files: the numbers, and how they are drawn."""


# Figures 3, A.4, A.5, A.6 and G.7: precision, recall and match rate of re-identification, condition by condition.

PUTATIVE = "putative"
AXES = {
    PUTATIVE: "k, putative violations joined, most frequent first",
    "k": "k, configurations of reconstructed violations",
    "precision": "precision, %",
    "recall": "recall, %",
    "match_rate": "match rate, %",
}
UNIQUE = "unique in their block"


def plot_unique(curves: pd.DataFrame, totals: pd.DataFrame, keys: Sequence[str], label: str, x: str) -> Figure:
    """Figures 3 and A.4: precision on unique households against k or recall, a panel per key, beside chance."""
    counted = "violations" if x == "recall" else "households"
    figure, axes = _panels(1, len(keys))
    for place, key in zip(axes[0], keys, strict=True):
        _panel(place, curves, totals, key, "unique", x, "precision")
        place.set_title(f"{key_words(key)}\n{_size(totals, key, 'unique', counted):,} {counted} {UNIQUE}")
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
    width = PAGE_WIDTH * max(1.0, columns / 2)
    return subplots(rows, columns, height=0.9 + 2.5 * rows, width=width, squeeze=False, sharey=share)


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
        axes.set_xscale("log")  # thousands of households on one axis, the first few still distinguished
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set(xlabel=AXES[x], ylabel=AXES[y])


def _size(totals: pd.DataFrame, key: str, scope: str, what: str = "households") -> int:
    return int(totals.loc[(totals["key"] == key) & (totals["scope"] == scope), what].iloc[0])


def _finish(figure: Figure, curves: pd.DataFrame, label: str, chance: bool = True) -> Figure:
    for axes in figure.axes:  # once all panels are drawn: a limit ends the scaling of an axis that several share
        axes.set_ylim(bottom=0)
    sources = [name for name in curves["source"].unique() if name != SAMPLING]
    legend(figure, [*sources, *([SAMPLING] if SAMPLING in set(curves["source"]) else [])], chance)
    return say_source(figure, label)


class Curves(NamedTuple):
    """What a figure draws: the curves of some match keys over unique or all households, and how."""

    keys: Sequence[str]
    scope: str
    plot: Callable[[pd.DataFrame, pd.DataFrame, Sequence[str], str], Figure]


CURVES: Mapping[str, Curves] = {
    "fig3": Curves(PANELS, "unique", partial(plot_unique, x=PUTATIVE)),
    "a4": Curves(PANELS, "unique", partial(plot_unique, x="recall")),
    "a5": Curves(PANELS, "all", partial(plot_both, scope="all")),
    "a6": Curves(KNOWN_SUBSIDY, "unique", partial(plot_both, scope="unique")),
}
"""The figures of precision and recall, by the names of their files."""
