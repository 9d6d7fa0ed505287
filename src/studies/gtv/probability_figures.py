"""Figures about probabilities: how reliable they are, how well they rank rows, and how many datasets fit a block."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from genverify.report.figures import INK, PAGE_WIDTH, PALETTE, say_source, use_style
from studies.gtv.probability_evaluation import BINS, CLAIMS, GENERATED, RAP, ROWS
from studies.gtv.probability_priors import NATION, STATE, TRACT, UNIFORM

LOOKS = {
    UNIFORM: ("uniform prior", PALETTE[0], "o", "-"),
    NATION: ("nation", PALETTE[2], "s", "-"),
    STATE: ("state", PALETTE[3], "^", "-"),
    TRACT: ("tract", PALETTE[4], "D", "-"),
    GENERATED: ("generated datasets, frequency", "#6b7780", "v", "--"),
    RAP: ("RAP-RANK, frequency", PALETTE[1], "P", "--"),
    "tract alone": ("tract's commonest, no release", PALETTE[4], "x", ":"),
    "state alone": ("state's commonest, no release", PALETTE[3], "+", ":"),
}
TITLES = {CLAIMS: "claims (k >= {min_k})", ROWS: "rows (all columns)"}


def plot_calibration(reliable: pd.DataFrame, scored: pd.DataFrame, min_k: int, label: str) -> Figure:
    """Above, the share that is true against the probability given, claims and rows; below, two scores of every source."""
    use_style()
    figure, panels = plt.subplots(
        2, 2, figsize=(PAGE_WIDTH, 5.6), layout="constrained", gridspec_kw={"height_ratios": [2.2, 1]}
    )
    for column, about in enumerate((CLAIMS, ROWS)):
        axes = panels[0, column]
        part = reliable[reliable["about"] == about]
        _reliable(axes, part)
        axes.set_title(TITLES[about].format(min_k=min_k) + f", n = {part.groupby('source')['n'].sum().max():,}")
        _scores(panels[1, column], scored[scored["about"] == about])
    panels[0, 0].set_ylabel("share true of the private block")
    handles = {name: handle for axes in panels[0] for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3, frameon=False)
    say_source(figure, label)
    return figure


def _reliable(axes: Axes, table: pd.DataFrame) -> None:
    axes.plot([0, 1], [0, 1], color=INK, lw=0.8, ls=(0, (4, 3)), zorder=1)
    right = table[(table["source"] == TRACT) & (table["bin"] < BINS)]
    axes.fill_between(right["p"], right["expected_low"], right["expected_high"], color=INK, alpha=0.12, lw=0, zorder=0)
    for index, (source, rows) in enumerate(_by_source(table)):
        said, colour, mark, line = LOOKS[source]
        shift = 0.006 * (index - 2)
        off = np.array([rows["true"] - rows["low"], rows["high"] - rows["true"]]).clip(min=0)
        axes.errorbar(rows["p"] + shift, rows["true"], yerr=off, fmt="none", ecolor=colour, elinewidth=0.7, alpha=0.55)
        between = rows["bin"] < BINS
        axes.plot(rows["p"][between] + shift, rows["true"][between], mark + line, color=colour, ms=3.4, lw=0.9, label=said)
        axes.plot(rows["p"][~between] + shift, rows["true"][~between], mark, color=colour, ms=5, mfc="white")
    axes.set(xlim=(-0.03, 1.05), ylim=(-0.03, 1.05), xlabel="probability given (open marks: 1)")


def _scores(axes: Axes, table: pd.DataFrame) -> None:
    sources = [source for source, _ in _by_source(table)]
    for row, (score, filled) in enumerate((("Brier score", True), ("log score", False))):
        part = table[table["score"] == score].set_index("source").loc[sources]
        y = np.arange(len(sources)) + 0.18 * (2 * row - 1)
        colours = [LOOKS[source][1] for source in sources]
        axes.hlines(y, part["low"], part["high"], color=colours, lw=1)
        axes.scatter(
            part["value"], y, s=18, marker="o" if filled else "s", c=colours if filled else "white", edgecolors=colours
        )
    short = [LOOKS[source][0].split(",")[0].split(" ")[0] for source in sources]
    axes.set_yticks(np.arange(len(sources)), short, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("Brier score (dots), log score (squares)")


def _by_source(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(source, table[table["source"] == source]) for source in LOOKS if (table["source"] == source).any()]


def plot_posterior(rates: pd.DataFrame, label: str) -> Figure:
    """Match rate of the likeliest rows: posterior rankings, frequencies, and guesses without the release."""
    use_style()
    figure, axes = plt.subplots(figsize=(PAGE_WIDTH * 0.72, 3.6), layout="constrained")
    for source, rows in _by_source(rates):
        said, colour, mark, line = LOOKS[source]
        axes.plot(rows["x"], rows["rate"], mark + line, color=colour, ms=3.2, lw=1, label=said, markevery=2)
        axes.fill_between(rows["x"], rows["low"], rows["high"], color=colour, alpha=0.08, lw=0)
    axes.set(xlim=(0, 1.02), ylim=(-0.02, 1.02), xlabel="k / u: rows guessed, of the distinct rows of the block")
    axes.set_ylabel("match rate")
    axes.set_title(f"{int(rates['blocks'].max())} whole blocks; bands: 95 %, blocks resampled")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    say_source(figure, label)
    return figure


def plot_reconstructions(blocks: pd.DataFrame, label: str) -> Figure:
    """How many datasets fit each block, by its number of households."""
    use_style()
    figure, axes = plt.subplots(figsize=(PAGE_WIDTH * 0.72, 3.3), layout="constrained")
    counted = blocks[blocks["numbers"] == "exact"]
    tens = [np.log10(float(int(number))) for number in counted["datasets"]]
    jitter = np.random.default_rng(1).uniform(-0.22, 0.22, len(counted))
    axes.scatter(counted["n_households"] + jitter, tens, s=11, color=PALETTE[0], alpha=0.6, lw=0, label="a block")
    medians = pd.Series(tens, index=counted.index).groupby(counted["n_households"]).median()
    axes.plot(medians.index, medians, "D", color=PALETTE[1], ms=4.5, mfc="none", label="median")
    most = int(np.ceil(max(tens, default=1)))
    ticks = _ticks(most)
    axes.set_yticks(ticks, [_power(tick) for tick in ticks])
    axes.set(xlabel="households of the block", ylabel="datasets that fit the release", ylim=(-0.4, most + 0.6))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(f"{len(counted)} of {len(blocks)} blocks counted exactly")
    axes.legend(frameon=False, loc="lower right")
    say_source(figure, label)
    return figure


def _ticks(most: int) -> Sequence[int]:
    return range(0, most + 1, max(1, int(np.ceil(most / 8))))


def _power(exponent: int) -> str:
    return "1" if exponent == 0 else rf"$10^{{{exponent}}}$"
