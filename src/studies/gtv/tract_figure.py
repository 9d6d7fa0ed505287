"""Whole tracts: records singled out by the number of columns, from block tables, tract tables, and both."""

from math import ceil

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from genverify.report.figures import PAGE_WIDTH, PALETTE, plain, say_source, use_style
from studies.gtv.settings import BLOCKS, BOTH, TRACT
from studies.gtv.tracts import in_words

MARKS = {BLOCKS: ("o-", 8, "none"), TRACT: ("s--", 4, None), BOTH: ("D:", 4, None)}  # where two agree, both are seen
WORDS = {BLOCKS: "block tables", TRACT: "tract tables (in the tract)", BOTH: "block and tract tables"}
ACROSS = 3  # panels that fit the width of a page


def plot_tracts(table: pd.DataFrame, label: str) -> Figure:
    """One panel per source of records and reading; the share of records singled out over k."""
    use_style()
    panels = list(table.groupby(["source", "reading"], sort=False))
    across, down = min(ACROSS, len(panels)), ceil(len(panels) / ACROSS)
    figure, axes = plt.subplots(
        down, across, figsize=(PAGE_WIDTH, 0.7 + 2.3 * down), sharey=True, layout="constrained", squeeze=False
    )
    for ax, ((source, reading), part) in zip(axes.flat, panels, strict=False):
        part = part[
            part["k"] >= part.loc[(part["k"] > 0) & (part["claims"] > 0), "k"].min()
        ]  # below min_k nothing was asked
        for colour, (tables, (mark, size, fill)) in zip(PALETTE, MARKS.items(), strict=False):
            rows = part[part["tables"] == tables]
            shares = 100 * rows["share_singled_out"]
            ax.plot(rows["k"], shares, mark, color=colour, ms=size, mfc=fill, label=WORDS[tables])
        ax.set_title(plain(in_words(str(source), str(reading))), fontsize=8)
        ax.set(xlabel="columns of a claim, k", xticks=sorted(part["k"].unique()))
    for ax in axes[:, 0]:
        ax.set_ylabel("records singled out, %")
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    axes[0, 0].set_ylim(-4, 104)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    say_source(figure, label)
    return figure
