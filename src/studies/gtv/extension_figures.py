"""Figures beyond the paper: probabilities, counts of datasets that fit, protected counts, suppressed zeros, whole tracts."""

from collections.abc import Hashable, Mapping
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from genverify.report.figures import INK, PAGE_WIDTH, PALETTE, plain, say_source, subplots
from studies.gtv.probabilities import NATION, STATE, TRACT, UNIFORM
from studies.gtv.probability_evaluation import BINS, CLAIMS, GENERATED, RAP, ROWS
from studies.gtv.settings import BLOCKS, BOTH
from studies.gtv.settings import TRACT as TRACT_TABLES
from studies.gtv.tracts import in_words
from studies.gtv.withheld_zeros import ANSWERS, PAPER_UNIT, SEARCHED

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
    figure, panels = subplots(2, 2, height=5.6, gridspec_kw={"height_ratios": [2.2, 1]})
    for column, about in enumerate((CLAIMS, ROWS)):
        axes = panels[0, column]
        part = reliable[reliable["about"] == about]
        _reliable(axes, part)
        axes.set_title(TITLES[about].format(min_k=min_k) + f", n = {part.groupby('source')['n'].sum().max():,}")
        _scores(panels[1, column], scored[scored["about"] == about])
    panels[0, 0].set_ylabel("share true of the private block")
    handles = {name: handle for axes in panels[0] for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3, frameon=False)
    return say_source(figure, label)


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
        marker, inside = ("o", colours) if filled else ("s", "white")
        axes.scatter(part["value"], y, s=18, marker=marker, c=inside, edgecolors=colours)
    short = [LOOKS[source][0].split(",")[0].split(" ")[0] for source in sources]
    axes.set_yticks(np.arange(len(sources)), short, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("Brier score (dots), log score (squares)")


def _by_source(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(source, table[table["source"] == source]) for source in LOOKS if (table["source"] == source).any()]


def plot_posterior(rates: pd.DataFrame, label: str) -> Figure:
    """Match rate of the likeliest rows: posterior rankings, frequencies, and guesses without the release."""
    figure, axes = subplots(height=3.6, width=PAGE_WIDTH * 0.72)
    for source, rows in _by_source(rates):
        said, colour, mark, line = LOOKS[source]
        axes.plot(rows["x"], rows["rate"], mark + line, color=colour, ms=3.2, lw=1, label=said, markevery=2)
        axes.fill_between(rows["x"], rows["low"], rows["high"], color=colour, alpha=0.08, lw=0)
    axes.set(xlim=(0, 1.02), ylim=(-0.02, 1.02), xlabel="k / u: rows guessed, of the distinct rows of the block")
    axes.set_ylabel("match rate")
    axes.set_title(f"{int(rates['blocks'].max())} whole blocks; bands: 95 %, blocks resampled")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return say_source(figure, label)


def plot_reconstructions(blocks: pd.DataFrame, label: str) -> Figure:
    """How many datasets fit each block, by its number of households."""
    figure, axes = subplots(height=3.3, width=PAGE_WIDTH * 0.72)
    counted = blocks[blocks["numbers"] == "exact"]
    tens = [np.log10(float(int(number))) for number in counted["datasets"]]
    jitter = np.random.default_rng(1).uniform(-0.22, 0.22, len(counted))
    axes.scatter(counted["n_households"] + jitter, tens, s=11, color=PALETTE[0], alpha=0.6, lw=0, label="a block")
    medians = pd.Series(tens, index=counted.index).groupby(counted["n_households"]).median()
    axes.plot(medians.index, medians, "D", color=PALETTE[1], ms=4.5, mfc="none", label="median")
    most = int(np.ceil(max(tens, default=1)))
    ticks = range(0, most + 1, max(1, int(np.ceil(most / 8))))
    axes.set_yticks(ticks, [("1" if tick == 0 else rf"$10^{{{tick}}}$") for tick in ticks])
    axes.set(xlabel="households of the block", ylabel="datasets that fit the release", ylim=(-0.4, most + 0.6))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(f"{len(counted)} of {len(blocks)} blocks counted exactly")
    axes.legend(frameon=False, loc="lower right")
    return say_source(figure, label)


# Generate-then-verify under protection: claims verified from the release, true and false of the private block.

MARKERS_OF_CLAIMS = {
    "all": ("all claims", "o", PALETTE[0], -0.14),
    "singleton": ("about exactly one household", "D", PALETTE[1], 0.14),
}


def plot_gtv_protected(table: pd.DataFrame, label: str) -> Figure:
    """Two panels over the same protections: how many claims are verified, and which share of them is false."""
    figure, (left, right) = subplots(1, 2, height=1.5 + 0.3 * len(table), sharey=True)
    _claims(left, table)
    _shares(right, table)
    left.set_yticks(np.arange(len(table)), [words(row) for row in table.to_dict("records")])
    left.set_ylim(len(table) - 0.5, -0.5)
    return say_source(figure, label)


def words(row: Mapping[Hashable, Any]) -> str:
    """How a protection is called, with the blocks about which nothing could be decided."""
    words = [f"swapped, {row['swap']:.0%}".replace("%", " %")] if row["swap"] else []
    if pd.notna(row["rho"]):
        how = "microdata" if row["publish"] == "microdata" else f"ranges \N{PLUS-MINUS SIGN}{row['half_width']:.0f}"
        some = "" if row["tables"] == "all" else f" of {row['noised_queries']} counts"
        words.append(f"noise $\\rho$ = {row['rho']:g}, {how}{some}")
    lost = [f"{row[f'{status}_blocks']} {status}" for status in ("contradictory", "undecided") if row[f"{status}_blocks"]]
    return ("; ".join(words) or "no protection") + (f"\n({', '.join(lost)} of {row['blocks']} blocks)" if lost else "")


def _claims(axes: Axes, table: pd.DataFrame) -> None:
    indices, total = np.arange(len(table)), table["all_claims_verified_from_release"].to_numpy()
    false = table["all_claims_false"].to_numpy()
    axes.barh(indices, total - false, height=0.62, color=PALETTE[0], label="true of the private block")
    axes.barh(indices, false, left=total - false, height=0.62, color=PALETTE[1], hatch="////", edgecolor="white", lw=0,
              label="false of it")  # fmt: skip
    for index, number in zip(indices, total, strict=True):
        axes.annotate(f"{number:,}", (number, index), (3, 0), textcoords="offset points", va="center", fontsize=7, color=INK)
    axes.set(xlim=(0, 1.22 * max(1, int(total.max()))), xlabel="claims verified from the release")
    axes.grid(axis="y", visible=False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def _shares(axes: Axes, result: pd.DataFrame) -> None:
    for kind, (label, mark, colour, shift) in MARKERS_OF_CLAIMS.items():
        share, low, high = (100 * result[f"{kind}_share_false{side}"].to_numpy() for side in ("", "_low", "_high"))
        known = ~np.isnan(share)
        off = np.array([np.maximum(share - low, 0), np.maximum(high - share, 0)])[:, known]
        indices = np.arange(len(result))[known] + shift
        axes.errorbar(share[known], indices, xerr=off, fmt=mark, ms=4, color=colour, elinewidth=0.9, capsize=2, label=label)
    for index in np.flatnonzero(result["all_claims_verified_from_release"].to_numpy() == 0):
        axes.annotate("nothing is verified", (50, index), ha="center", va="center", fontsize=7, color=INK, style="italic")
    axes.set(xlim=(-3, 103), xlabel="of these, false of the private block, %")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


# Withheld zeros: households lost by k, the paper's beside every explanation.

EXPLANATION_MARKERS = "osD^vPX*"


def plot_withheld_zeros(table: pd.DataFrame, label: str) -> Figure:
    """One panel per kind of withheld answers; losses over k, the paper's as a thick line; without the sets of the search."""
    table = table[(table["unit"] != PAPER_UNIT) & ~table["explanation"].str.startswith(SEARCHED)]
    figure, panels = subplots(1, len(ANSWERS), height=3.1, sharey=True)
    for axes, (withheld, said) in zip(panels, ANSWERS.items(), strict=True):
        _panel(axes, table[table["withheld"] == withheld])
        axes.set_title(f"{said} withheld")
    panels[0].set_ylabel("households lost, %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return say_source(figure, label)


def _panel(axes: Axes, table: pd.DataFrame) -> None:
    first = table.drop_duplicates("k")
    axes.plot(first["k"], first["paper_loss"], color=INK, lw=3, alpha=0.45, label="the paper's Table 5")
    for index, (name, rows) in enumerate(table.groupby("explanation", sort=False)):
        known = rows[rows["loss"].notna()]
        off = np.array([known["loss"] - known["low"], known["high"] - known["loss"]]).clip(min=0)
        indices, colour = known["k"] + 0.04 * (index % 5 - 2), PALETTE[index % len(PALETTE)]
        axes.errorbar(indices, known["loss"], yerr=np.nan_to_num(off), fmt="none", ecolor=colour, elinewidth=0.6)
        marker, words = EXPLANATION_MARKERS[index % len(EXPLANATION_MARKERS)], plain(str(name).replace("_", " "))
        axes.plot(indices, known["loss"], f"{marker}-", color=colour, lw=0.9, ms=3.5, label=words)
    axes.set(xlabel="columns of a claim, k", xticks=sorted(table["k"].unique()), ylim=(-4, 104))


# Whole tracts: records singled out by the number of columns, from block tables, tract tables, and both.

# where two agree, both are seen
TABLE_MARKERS = {BLOCKS: ("o-", 8, "none"), TRACT_TABLES: ("s--", 4, None), BOTH: ("D:", 4, None)}
WORDS = {BLOCKS: "block tables", TRACT_TABLES: "tract tables (in the tract)", BOTH: "block and tract tables"}
ACROSS = 3  # panels that fit the width of a page


def plot_tracts(table: pd.DataFrame, label: str) -> Figure:
    """One panel per source of records and reading; the share of records singled out over k."""
    panels = list(table.groupby(["source", "reading"], sort=False))
    across, down = min(ACROSS, len(panels)), ceil(len(panels) / ACROSS)
    figure, axes = subplots(down, across, height=0.7 + 2.3 * down, sharey=True, squeeze=False)
    for ax, ((source, reading), part) in zip(axes.flat, panels, strict=False):
        least = part.loc[(part["k"] > 0) & (part["claims"] > 0), "k"].min()
        part = part[part["k"] >= least]  # below min_k nothing was asked
        for colour, (tables, (mark, size, fill)) in zip(PALETTE, TABLE_MARKERS.items(), strict=False):
            rows = part[part["tables"] == tables]
            ax.plot(rows["k"], 100 * rows["share_singled_out"], mark, color=colour, ms=size, mfc=fill, label=WORDS[tables])
        ax.set_title(plain(in_words(str(source), str(reading))), fontsize=8)
        ax.set(xlabel="columns of a claim, k", xticks=sorted(part["k"].unique()))
    for ax in axes[:, 0]:
        ax.set_ylabel("records singled out, %")
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    axes[0, 0].set_ylim(-4, 104)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return say_source(figure, label)
