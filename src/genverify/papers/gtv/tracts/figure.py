"""Whole tracts: persons singled out by the number of columns, from block tables, tract tables, and both."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from genverify.papers.gtv.tracts.attack import BLOCKS, BOTH, TRACT
from genverify.show.style import PAGE_WIDTH, PALETTE, plain, say_source, use_style

MARKS = {BLOCKS: "o-", TRACT: "s--", BOTH: "D-"}


def plot_tracts(table: pd.DataFrame, label: str) -> Figure:
    """One panel per source of records and reading; the share of persons singled out over k."""
    use_style()
    panels = list(table.groupby(["source", "reading"], sort=False))
    figure, axes = plt.subplots(1, len(panels), figsize=(PAGE_WIDTH, 2.9), sharey=True, layout="constrained", squeeze=False)
    for place, (ax, ((source, reading), own)) in enumerate(zip(axes[0], panels, strict=True)):
        for colour, (tables, mark) in zip(PALETTE, MARKS.items(), strict=False):
            rows = own[(own["tables"] == tables) & (own["k"] > 0)]
            ax.plot(rows["k"], 100 * rows["share_singled_out"], mark, color=colour, ms=4, label=_words(tables))
        ax.set_title(plain(f"{source}, age in {reading}"))
        ax.set_xlabel("columns of a claim, k")
        ax.set_xticks(sorted(own.loc[own["k"] > 0, "k"].unique()))
        if place == 0:
            ax.set_ylabel("persons singled out, %")
    axes[0, 0].set_ylim(-4, 104)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    say_source(figure, label)
    return figure


def _words(tables: str) -> str:
    return {BLOCKS: "block tables", TRACT: "tract tables (in the tract)", BOTH: "block and tract tables"}[tables]
