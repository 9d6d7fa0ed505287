"""Randomized response with mu as a dial (footnote 57), and the utility of data as a line in its accuracy (E-28)."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from genverify.papers.mechanisms.randomized_response import Survey, one_sided_losses
from genverify.papers.mechanisms.settings import Dial
from genverify.show.style import INK, PAGE_WIDTH, PALETTE, plain, say_source, use_style

MARKERS = "os^Dv*"
LINES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1)), (0, (1, 2)))
STEPS = 99


def dial_table(settings: Dial) -> pd.DataFrame:
    """A row per probability of the sensitive question and mu: both guarantees, the greater, and the standard error."""
    rows = []
    for rho in settings.rhos:
        for mu in np.round(np.arange(1, STEPS + 1) / (STEPS + 1), 6).tolist():
            yes, no = one_sided_losses(rho, mu)
            error = Survey(settings.pi, settings.population, mu).variance(rho) ** 0.5
            rows.append({"rho": rho, "mu": mu, "yes": yes, "no": no, "epsilon": max(yes, no), "standard_error": error})
    return pd.DataFrame(rows).assign(pi=settings.pi, population=settings.population)


def plot_dial(rows: pd.DataFrame, label: str) -> Figure:
    """Left: the guarantee for a sensitive yes (B-2) and a no (B-3) by mu. Right: the standard error of the estimate."""
    use_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE_WIDTH, 3.4), layout="constrained")
    for place, (rho, own) in enumerate(rows.groupby("rho")):
        look = {"color": PALETTE[place], "ls": LINES[place]}
        left.plot(own["mu"], own["yes"], lw=1.8, **look, label=f"$\\rho$ = {rho:g}: yes protected by (B-2)")
        left.plot(own["mu"], own["no"], lw=0.9, **look, label=f"$\\rho$ = {rho:g}: no protected by (B-3)")
        right.plot(own["mu"], 100 * own["standard_error"], lw=1.4, **look)
    left.axvline(0.5, color="#9aa5ad", lw=0.8)
    left.set_ylabel("privacy loss $\\epsilon$, one-sided")
    left.set_title("a  two guarantees, one dial", loc="left", color=INK)
    right.set_ylabel("standard error of the share (percentage points)")
    right.set_ylim(bottom=0)
    n, pi = int(rows["population"].iloc[0]), rows["pi"].iloc[0]
    right.set_title(f"b  what it costs, N = {n:,}, $\\pi$ = {pi:g}", loc="left", color=INK)
    for axes in (left, right):
        axes.set_xlabel("$\\mu$, share of innocuous yes answers")
        axes.set_xlim(0, 1)
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=rows["rho"].nunique(), frameon=False)
    say_source(figure, label)
    return figure


def plot_utility(rows: pd.DataFrame, label: str) -> Figure:
    """A panel per utility: simulated E[U(W)] of each person against I, on the line a + b I; crosses where it is exact."""
    use_style()
    utilities = list(dict.fromkeys(rows["utility"]))
    figure, panels = plt.subplots(1, len(utilities), figsize=(PAGE_WIDTH, 3.6), layout="constrained", squeeze=False)
    for axes, utility in zip(panels[0], utilities, strict=True):
        for place, (person, own) in enumerate(rows[rows["utility"] == utility].groupby("person", sort=False)):
            x = own["accuracy"] / 1e6
            axes.plot(x, own["line"] - own["a"], color=PALETTE[place], ls=LINES[place], lw=1.3)
            look: dict[str, Any] = {"color": PALETTE[place], "marker": MARKERS[place], "ms": 4, "ls": "none", "lw": 1}
            words = plain(str(person).replace("_", " "))
            axes.errorbar(x, own["simulated"] - own["a"], 3 * own["standard_error"], label=words, **look)
            axes.plot(x, own["exact"] - own["a"], color=INK, marker="x", ms=5, ls="none", lw=1)
        axes.set_xlabel("accuracy $I$, millions (0: no noise)")
        axes.set_ylabel("what noise costs: $E[U(W)] - a$")
        axes.set_title(f"{utility}, curvature {rows.loc[rows['utility'] == utility, 'curvature'].iloc[0]:g}", loc="left")
    handles, labels = panels[0][0].get_legend_handles_labels()
    exact = Line2D([], [], color=INK, marker="x", ms=5, ls="none")
    line = Line2D([], [], color=INK, lw=1.3)
    told = [*(f"simulated: {text}" for text in labels), "line b I (E-28)", "exact"]
    figure.legend([*handles, line, exact], told, loc="outside upper center", ncols=3, frameon=False)
    say_source(figure, label)
    return figure
