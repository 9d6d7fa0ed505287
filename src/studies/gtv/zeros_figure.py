"""Withheld zeros: households lost by k, the paper's beside every explanation."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genverify.report.figures import INK, PAGE_WIDTH, PALETTE, plain, say_source, use_style
from studies.gtv.zeros_table import ANSWERS, PAPER_UNIT, SEARCHED

MARKS = "osD^vPX*"


def plot_withheld_zeros(table: pd.DataFrame, label: str) -> Figure:
    """One panel per kind of withheld answers; losses over k, the paper's as a thick line; without the sets of the search."""
    use_style()
    table = table[(table["unit"] != PAPER_UNIT) & ~table["explanation"].str.startswith(SEARCHED)]
    figure, panels = plt.subplots(1, len(ANSWERS), figsize=(PAGE_WIDTH, 3.1), sharey=True, layout="constrained")
    for axes, (withheld, said) in zip(panels, ANSWERS.items(), strict=True):
        _panel(axes, table[table["withheld"] == withheld])
        axes.set_title(f"{said} withheld")
    panels[0].set_ylabel("households lost, %")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    say_source(figure, label)
    return figure


def _panel(axes: Axes, table: pd.DataFrame) -> None:
    first = table.drop_duplicates("k")
    axes.plot(first["k"], first["paper_loss"], color=INK, lw=3, alpha=0.45, label="the paper's Table 5")
    for index, (name, rows) in enumerate(table.groupby("explanation", sort=False)):
        known = rows[rows["loss"].notna()]
        off = np.array([known["loss"] - known["low"], known["high"] - known["loss"]]).clip(min=0)
        indices, colour = known["k"] + 0.04 * (index % 5 - 2), PALETTE[index % len(PALETTE)]
        axes.errorbar(indices, known["loss"], yerr=np.nan_to_num(off), fmt="none", ecolor=colour, elinewidth=0.6)
        axes.plot(
            indices,
            known["loss"],
            f"{MARKS[index % len(MARKS)]}-",
            color=colour,
            lw=0.9,
            ms=3.5,
            label=plain(str(name).replace("_", " ")),
        )
    axes.set(xlabel="columns of a claim, k", xticks=sorted(table["k"].unique()), ylim=(-4, 104))
