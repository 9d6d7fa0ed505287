"""Match curves, convergence, certainty against confidence, and equations 3 and 4."""

from collections.abc import Mapping, Sequence
from itertools import islice
from math import ceil
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.stats import spearmanr

from genverify.report.figures import INK, PAGE_WIDTH, PALETTE, plain, say_source, subplots, use_style
from studies.raprank.rank import ANY_NUMBER, GENERATED, HOLDOUT, PROVED, RAP, SINGLED_OUT, X, mean_curves, started, wide
from studies.raprank.tables import EQUATIONS, FREQUENCY, overall

# Match curves: the share of the k best rows that are private rows, against k/u, for RAP-RANK and its baselines.

LINES: Mapping[str, tuple[str, str, str, str, float]] = {
    started("random"): ("RAP-RANK, random start", "-", "o", PALETTE[4], 1.8),
    started(HOLDOUT): ("RAP-RANK, started at the holdout", "-", "s", PALETTE[4], 1.8),
    "2-way": ("RAP-RANK, all 2-way marginals", "-", "o", PALETTE[1], 1.8),
    "3-way": ("RAP-RANK, all 3-way marginals", "-", "s", PALETTE[4], 1.8),
    HOLDOUT: ("holdout half of the area", "--", "D", INK, 1.4),
    "tract": ("tract", "-", "^", PALETTE[1], 1.0),
    "county": ("county", "-.", "v", PALETTE[3], 1.0),
    "state": ("state", "--", "x", PALETTE[2], 1.0),
    "national": ("national", ":", "+", PALETTE[0], 1.2),
}
"""What each source is called, and its line, marker, colour and width."""

# of the bands, in the order of LINES; two that lie on each other must not look like a third, as | on - does like +
HATCHES = ("//////", "//////", "......", "//////", "", "xxxx", "||||", "....", "----")
COLUMNS = 3  # panels that fit the width of a page
STATE_COLUMNS = 5  # small panels that fit the width of a page


def _panel_of(files: Sequence[str], label: str, start: str, limit: int | None, ways: Sequence[int | None]) -> pd.DataFrame:
    """A random start against all baselines; a start at the holdout, or marginals of several ways, against the holdout."""
    size = f"areas of up to {limit:,} records" if limit else "areas"
    first, *others = (pd.read_parquet(path) for path in files)
    if others:
        ranked = [part[part["source"] == started(start)] for part in (first, *others)]
        ranked = [part.assign(source=f"{way}-way") for part, way in zip(ranked, ways, strict=True)]
        return pd.concat([*ranked, first[first["source"] == HOLDOUT]]).assign(panel=label, size=size)
    displayed = {started(HOLDOUT), HOLDOUT} if start == HOLDOUT else LINES.keys() - {started(HOLDOUT)}
    words = "started at the holdout" if start == HOLDOUT else "random start"
    return first[first["source"].isin(displayed)].assign(panel=f"{label}, {words}", size=size)


def read_panels(paths: Sequence[str], panels: Sequence[Mapping[str, Any]]) -> list[pd.DataFrame]:
    """The curves of a figure's panels, area by area, with a title (`panel`) and how large areas may be (`size`)."""
    left = iter(paths)
    return [_panel_of(list(islice(left, len(panel["ways"]))), **panel) for panel in panels]


def panel_means(panels: list[pd.DataFrame], seed: int) -> pd.DataFrame:
    means = [mean_curves(panel, seed).assign(panel=panel["panel"].iloc[0], size=panel["size"].iloc[0]) for panel in panels]
    return pd.concat(means, ignore_index=True)


def plot_curves(means: pd.DataFrame, label: str) -> Figure:
    """One panel beside the other: mean match rate over areas with its 95 % band."""
    titles = list(means["panel"].unique())
    columns = min(COLUMNS, len(titles))
    rows, width = ceil(len(titles) / columns), PAGE_WIDTH * max(0.65, columns / 2)
    figure, axes = subplots(rows, columns, height=0.7 + 2.7 * rows, width=width, squeeze=False, sharex=True, sharey=True)
    for panel, title in zip(axes.flat, titles, strict=False):
        part = means[means["panel"] == title]
        panel.set_title(f"{plain(title)}\n({part['areas'].max():,} {part['size'].iloc[0]})")
        _draw(panel, part, band=True)
    figure.supylabel("match rate: private rows among the k best", fontsize=8)
    for panel in axes[-1]:  # of each: one for all of them would lie on the line about the data
        panel.set_xlabel("k/u: rows ranked, as a share of the u unique rows")
    _legend(figure, means, band=True)
    return say_source(figure, f"mean over areas, 95 % band (areas drawn again); {_brief(label)}")


def _draw(axes: Axes, means: pd.DataFrame, band: bool) -> None:
    for index, (source, (_, line, marker, colour, width)) in enumerate(LINES.items()):
        part = means[means["source"] == source]
        if part.empty:
            continue
        every: Any = (index, 7) if band else (index, 16)
        axes.plot(part[X], part["match_rate"], ls=line, marker=marker, markevery=every, ms=3.5, color=colour, lw=width)
        if band:
            axes.fill_between(part[X], part["low"], part["high"], **_hatch(index, line, colour))
    axes.set(xlim=(0, 1.01), ylim=(0, 1.02))


def _hatch(index: int, line: str, colour: str) -> dict[str, Any]:
    """A faint ground, and a hatch and an edge in the line's colour and style: distinct without colours, too."""
    return {"facecolor": (colour, 0.1), "edgecolor": colour, "hatch": HATCHES[index], "ls": line, "lw": 0.5}


def _legend(figure: Figure, means: pd.DataFrame, band: bool = False) -> None:
    """Every source that is drawn, once: its line, on its band where there are bands."""
    handles: dict[str, Any] = {}
    for index, (source, (words, line, marker, colour, width)) in enumerate(LINES.items()):
        if source in set(means["source"]):
            drawn = Line2D([], [], ls=line, marker=marker, ms=4.5, color=colour, lw=width)
            handles[words] = (Patch(**_hatch(index, line, colour)), drawn) if band else drawn
    size: dict[str, Any] = {"handlelength": 3.2, "handleheight": 1.3} if band else {}
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=min(4, len(handles)), frameon=False, **size)


def _brief(label: str) -> str:
    """Several tasks of one survey, named once: as long as the foot of a page is wide."""
    about, *tasks = label.split(", task ")
    names, same = [task.removesuffix(f", {about}") for task in tasks], all(task.endswith(about) for task in tasks[:-1])
    return f"{about}, tasks {', '.join(names)}" if len(tasks) > 1 and same else label


def state_means(panels: list[pd.DataFrame]) -> pd.DataFrame:
    """The mean curves of every state, with the number of areas that they stand for."""
    grouped = pd.concat(panels).groupby(["panel", "size", "state", "source", X], sort=False)["match_rate"]
    return grouped.agg(match_rate="mean", areas="size").reset_index()


def plot_states(means: pd.DataFrame, label: str, names: Mapping[str, str]) -> Figure:
    """Every panel as a grid of small panels, one per state; one grid below the other, so that words stay legible."""
    use_style()
    grids = [(str(title), part) for title, part in means.groupby("panel", sort=False)]
    rows = [ceil(part["state"].nunique() / STATE_COLUMNS) for _, part in grids]
    figure = plt.figure(figsize=(PAGE_WIDTH, 1.3 + 1.3 * sum(rows)), layout="constrained")
    # a title and a label take as much as half a row
    parts = figure.subfigures(len(rows), 1, squeeze=False, height_ratios=[row + 0.5 for row in rows]).flat
    for part, (title, entry), row in zip(parts, grids, rows, strict=True):
        axes = part.subplots(row, STATE_COLUMNS, sharex=True, sharey=True, squeeze=False)
        for panel, (state, curves) in zip(axes.flat, entry.groupby("state"), strict=False):
            panel.set_title(f"{names.get(str(state), state)} ({curves['areas'].max():,})", fontsize=7.5, pad=2)
            _draw(panel, curves, band=False)
            panel.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], xticklabels=["0", ".5", "1"], yticklabels=["0", ".5", "1"])
        for panel in axes.flat[entry["state"].nunique() :]:
            panel.set_axis_off()
        part.suptitle(f"{plain(title)} (in brackets: {entry['size'].iloc[0]})", fontsize=9)
        part.supxlabel("k/u", fontsize=8)
        part.supylabel("match rate", fontsize=8)
    _legend(figure, means)
    return say_source(figure, f"by state; {_brief(label)}")


# Rows that stand five times: mean match rates against the share of persons in them.


def dose_means(curves: Sequence[tuple[float, pd.DataFrame]], seed: int) -> pd.DataFrame:
    """The mean match rate over the whole curve of each source at each share, with its 95 % interval over areas."""
    rows = [
        {"share": share, "source": source, **overall(wide(frame, source).mean(axis=1), seed, "match_rate")}
        for share, frame in sorted(curves, key=lambda pair: pair[0])
        for source in LINES
        if source in set(frame["source"])
    ]
    return pd.DataFrame(rows)


def plot_dose(means: pd.DataFrame, label: str) -> Figure:
    """A line per source, with its interval at every share."""
    figure, axes = subplots(height=3.6)
    for index, (source, part) in enumerate(means.groupby("source", sort=False)):
        _, line, marker, colour, width = LINES[str(source)]
        x = 100 * part["share"] + 0.3 * (index - 3)  # beside each other, so that no interval hides another
        errors = [part["match_rate"] - part["low"], part["high"] - part["match_rate"]]
        axes.errorbar(x, part["match_rate"], errors, ls=line, marker=marker, ms=4, color=colour, lw=width, elinewidth=0.8)
    of = "% of persons in rows that stand five times in their block"
    axes.set(xlabel=of, ylabel="match rate, mean over k/u", ylim=(0, 1.02))
    _legend(figure, means)
    return say_source(figure, f"{means['areas'].max():,} blocks, 95 % intervals (blocks drawn again); {label}")


# Errors and match rates of RAP against its steps.

WAYS = {
    ("known", started("random")): ("blocks known, random start", "-", "o", PALETTE[4]),
    ("known", started(HOLDOUT)): ("blocks known, started at the holdout", "--", "s", PALETTE[1]),
    ("learned", started("random")): ("blocks learned, random start", ":", "^", PALETTE[3]),
    ("none", started("random")): ("random start", "-", "o", PALETTE[4]),
}
TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]


def plot_convergence(points: pd.DataFrame, label: str) -> Figure:
    """The error before and after rounding, and the match rate, against the number of steps."""
    figure, axes = subplots(1, 3, height=3.2, width=PAGE_WIDTH * 1.5, sharex=True)
    axes[0].sharey(axes[1])
    errors = points[["relaxed_error", "rounded_error"]]
    steps: list[float] = []  # that have a label: closer ones would lie on each other
    for step in sorted(points["steps"].dropna()):
        if not steps or step >= 1.9 * steps[-1]:
            steps.append(step)
    titles = ("error before rounding", "error after rounding", "match rate at k = u")
    drawn = set(zip(points["blocks_are"], points["source"], strict=True))
    ways = {way: look for way, look in WAYS.items() if way in drawn}
    for panel, name, title in zip(axes, [*errors, "match_rate at 1"], titles, strict=True):
        for (blocks, source), (_, line, marker, colour) in ways.items():
            part = points[(points["blocks_are"] == blocks) & (points["source"] == source)]
            panel.plot(part["steps"], part[name], ls=line, marker=marker, ms=4, color=colour, lw=1.5)
        panel.set(title=title, xscale="log", xlabel="steps")
        if name in errors:
            panel.set(yscale="log", ylabel="root of squared errors per row")
            panel.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
            panel.set_ylim(errors.min().min() / 1.3, errors.max().max() * 1.3)
        panel.set_xticks(steps, [f"{int(step):,}" for step in steps])
        panel.minorticks_off()
    axes[2].axhline(points.loc[points["source"] == HOLDOUT, "match_rate at 1"].iloc[0], color=INK, ls="-.", lw=1)
    axes[2].set(ylabel="match rate", ylim=(0, 1.02))
    handles = [Line2D([], [], ls=ls, marker=m, color=c, label=words) for words, ls, m, c in ways.values()]
    handles.append(Line2D([], [], ls="-.", color=INK, label="holdout half of the area"))
    figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    first = points.iloc[0]
    blocks = f", {first['of_blocks']:,} blocks" if first["of_blocks"] else ""
    about = f"{first['rows']:,} rows{blocks}, {first['counts']:,} counts, K = {int(first['runs'])}"
    return say_source(figure, f"{about}; {label}")


# Certainty against confidence: what rankings reach, how far their frequencies can be trusted, and what is proved.

CERTAINTY_LINES = {RAP: ("-", "o", PALETTE[4]), GENERATED: ("--", "s", PALETTE[0]), PROVED: ("-", "", INK)}
BARS = {ANY_NUMBER: "#c9d3da", SINGLED_OUT: INK}
NOTE = (
    "Frequency over the generated datasets reflects how they were generated, not a posterior. "
    "Proved: a verified claim about all columns (exactly m such records); dotted: its share."
)


def plot_certainty(numbers: pd.DataFrame, label: str) -> Figure:
    """Three panels: match rate of the best rows, what a row's frequency is worth, private records that proofs cover."""
    figure, axes = subplots(1, 3, height=4.0, width=1.4 * PAGE_WIDTH, width_ratios=[1.15, 1, 1])
    for panel, (part, draw) in zip(axes, PARTS.items(), strict=True):
        draw(panel, numbers[numbers["part"] == part])
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, fontsize=7)
    return say_source(figure, f"{NOTE} Data: {label}")


def _match_rate(axes: Axes, part: pd.DataFrame) -> None:
    """The best rows of each ranking, and below them, filled, those that are known for certain."""
    for index, (source, (line, marker, colour)) in enumerate(CERTAINTY_LINES.items()):
        chosen = part[part["source"] == source]
        words = "proved (verified claims about full rows)" if source == PROVED else f"{source}: what is true"
        look: dict[str, Any] = {"ls": line, "marker": marker, "markevery": (3 * index, 7), "ms": 3.5, "color": colour}
        axes.plot(chosen[X], chosen["value"], label=words, **look)
        axes.fill_between(chosen[X], chosen["low"], chosen["high"], color=colour, alpha=0.15, lw=0)
        if source == PROVED:
            axes.fill_between(chosen[X], 0, chosen["value"], color=INK, alpha=0.35, lw=0)
    axes.set(title=f"a  the k best rows of {part['n'].max():,} whole blocks", ylabel="share that are private rows")
    axes.set(xlabel="k/u: rows ranked, as a share of the unique rows", xlim=(0, 1.01), ylim=(0, 1.02))


def _reliability(axes: Axes, part: pd.DataFrame) -> None:
    """What a row's frequency is worth: among rows in a given share of the runs, those that are private, and those proved."""
    axes.plot([0, 1], [0, 1], color="#9aa5ad", lw=0.8, ls="-", zorder=0)
    for source in (RAP, GENERATED):
        line, marker, colour = CERTAINTY_LINES[source]
        chosen, sure = part[part["source"] == source], part[part["source"] == f"{source}, {PROVED}"]
        last = chosen.iloc[-1]
        words = f"{source}: {last['n']:,} rows in all runs, {100 * last['value']:.1f} % true"
        axes.plot(chosen[X], chosen["value"], ls=line, marker=marker, ms=4, color=colour, label=words)
        axes.plot(sure[X], sure["value"], ls=":", marker=marker, mfc="white", ms=3.5, color=colour)
    axes.set(title="b  rows by how often they were found", ylabel="share that are private rows")
    axes.set(xlabel="share of the runs or datasets that hold the row", xlim=(0, 1.03), ylim=(-0.02, 1.02))


def _coverage(axes: Axes, part: pd.DataFrame) -> None:
    """Private records in a verified claim about k columns; lines: those whose full row is among the u best of a ranking."""
    for index, (word, colour) in enumerate(BARS.items()):
        chosen = part[part["source"] == word]
        x = chosen[X] + 0.4 * index - 0.2
        bars = axes.bar(x, chosen["value"], 0.38, color=colour, edgecolor=INK, lw=0.6, label=word)
        axes.bar_label(bars, [f"{100 * value:.1f}" for value in chosen["value"]], fontsize=6, padding=1)
    for source in (RAP, GENERATED):
        line, _, colour = CERTAINTY_LINES[source]
        value = float(part.loc[part["source"] == source, "value"].iloc[0])
        axes.axhline(value, ls=line, color=colour, lw=1.2, label=f"full row among the u best: {source}")
    axes.set(title="c  private records covered (% above bars)", ylim=(0, 1.02))
    axes.set(xlabel="k, columns of the verified claim", ylabel="share of private records")


PARTS = {"match rate": _match_rate, "reliability": _reliability, "coverage": _coverage}

# Equations 3 and 4 on a tiny domain, and whether RAP's frequencies follow the posterior there.


def plot_intuition(numbers: pd.DataFrame) -> Figure:
    """Left: the two sides of the argument, a mark per row. Right: frequency over RAP's runs against the exact posterior."""
    figure, (left, right) = subplots(1, 2, height=3.3)
    same, often = (numbers[numbers["part"] == part] for part in (EQUATIONS, FREQUENCY))
    for axes, top in ((left, 1.08 * same[["x", "y"]].to_numpy().max()), (right, 1.03)):
        axes.plot([0, top], [0, top], color=INK, lw=0.8, ls=(0, (4, 3)))
        axes.set(xlim=(-0.03 * top, top), ylim=(-0.03 * top, top))
    left.plot(same["x"], same["y"], "D", color=PALETTE[0], ms=4.5, mfc="white")
    equal = f"equal for all {len(same)} rows, to {(same['x'] - same['y']).abs().max():.0e}"
    left.set(xlabel="equation 4: two draws from the posterior hold r", ylabel="equation 3: D and D' hold r", title=equal)
    right.plot(often["x"], often["y"], "o", color=PALETTE[1], ms=3.4, alpha=0.5, mew=0)
    follows = f"rank correlation {spearmanr(often['x'], often['y']).statistic:.2f}, {len(often)} rows"
    right.set(xlabel="exact posterior probability of a row", ylabel="share of RAP's runs that hold it", title=follows)
    return say_source(figure, "made-up tiny domains")
