"""Households of the country beside surveys: every cell of the margins of two and three columns."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genverify.show.style import INK, PAGE_WIDTH, PALETTE, plain, say_source, use_style

LEAST = 0.001  # percent; what is rarer stands at the edge
MARKS = "o^sDv"


def plot_country_fit(cells: pd.DataFrame, label: str) -> Figure:
    """A panel for margins of two columns and one for three; a point per cell, the survey's percent against the country's."""
    use_style()
    ways = sorted(cells["ways"].unique())
    figure, panels = plt.subplots(
        1, len(ways), figsize=(PAGE_WIDTH, 3.9), squeeze=False, sharex=True, sharey=True, layout="constrained"
    )
    for axes, number in zip(panels[0], ways, strict=True):
        _panel(axes, cells[cells["ways"] == number])
        axes.set_title(f"margins of {number} columns")
    panels[0][0].set_ylabel("households of the country, %")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, markerscale=2)
    say_source(figure, label)
    return figure


def _panel(axes: Axes, cells: pd.DataFrame) -> None:
    axes.plot([LEAST, 100], [LEAST, 100], color=INK, lw=0.8)
    for place, (survey, rows) in enumerate(cells.groupby("survey", sort=False)):
        axes.scatter(
            rows["survey_percent"].clip(lower=LEAST),
            rows["percent"].clip(lower=LEAST),
            s=7,
            marker=MARKS[place % len(MARKS)],
            color=PALETTE[place % len(PALETTE)],
            alpha=0.45,
            linewidths=0,
            label=plain(str(survey)),
            rasterized=True,
        )
    axes.set(xscale="log", yscale="log", xlabel="households of the survey, %")
