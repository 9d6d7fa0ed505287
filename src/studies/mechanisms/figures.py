"""Privacy against accuracy: frontiers, strategies, the dial, utility."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator, StrMethodFormatter

from genverify.report.figures import INK, PALETTE, plain, say_source, subplots
from studies.mechanisms.matrix_mechanism import BY_EPSILON, BY_TABLE
from studies.mechanisms.randomized_response import Survey, one_sided_losses
from studies.mechanisms.settings import Dial
from studies.mechanisms.zeros import BY_SIZE, LEFT

# Privacy against accuracy: the frontier of randomized response, strategies of the matrix mechanism, what zeros rule out.

MARKERS = "os^Dv*"
LINES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1)), (0, (1, 2)))
WORDS = {
    "identity": "identity: record types",
    "hierarchical": "hierarchical: tree of tables",
    "tables": "tables: all, in full",
    "finest": "finest: finest tables only",
    "workload": "workload: least squares",
    "unprojected": "unprojected: raw noise",
}


def plot_rr_frontier(rows: pd.DataFrame, label: str) -> Figure:
    """Left: accuracy against privacy loss for one population. Right: the standard error that protection adds, for all."""
    rows = rows[rows["quantity"] == "accuracy"]
    figure, (left, right) = subplots(1, 2, height=3.6)
    populations = sorted(rows["population"].unique())
    _frontier(left, rows[rows["population"] == populations[len(populations) // 2]])
    for index, n in enumerate(populations):
        _added_error(right, rows[rows["population"] == n], index, int(n))
    right.set(xscale="log", yscale="log", xticks=sorted(rows["epsilon"].unique()))
    right.set_xlim(right=2.2 * rows["epsilon"].max())
    right.xaxis.set_minor_locator(NullLocator())
    for axis in (right.xaxis, right.yaxis):
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    right.set(xlabel="privacy loss $\\epsilon$", ylabel="standard error added (percentage points)")
    right.set_title("b  what protection adds, by population", loc="left", color=INK)
    columns = 1 + rows["pi"].nunique()
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=columns, frameon=False)
    return say_source(figure, label)


def _curve(rows: pd.DataFrame, pi: float) -> tuple[list[float], list[float]]:
    survey = Survey(pi, int(rows["population"].iloc[0]), float(rows["mu"].iloc[0]))
    grid = np.geomspace(rows["epsilon"].min(), rows["epsilon"].max(), 200).tolist()
    return grid, [survey.accuracy_at(epsilon) for epsilon in grid]


def _frontier(axes: Axes, rows: pd.DataFrame) -> None:
    shares = sorted(rows["pi"].unique())
    for index, pi in enumerate(shares):
        part = rows[rows["pi"] == pi]
        grid, curve = _curve(rows, pi)
        axes.plot(grid, curve, color=INK, lw=1.2, label="formula (B-4, B-9)" if index == 0 else None)
        axes.errorbar(part["epsilon"], part["simulated"], 3 * part["standard_error"], label=f"simulated, $\\pi$ = {pi:g}",
                      **_point(index))  # fmt: skip
    axes.set(xlabel="privacy loss $\\epsilon$", ylabel="accuracy $I$ (0: no protection)")
    axes.set_title(f"a  the frontier, N = {int(rows['population'].iloc[0]):,}", loc="left", color=INK)


def _point(index: int) -> dict[str, Any]:
    """Points of different shares lie on each other, so the later ones are smaller and hollow."""
    return {"color": PALETTE[index], "marker": MARKERS[index], "markersize": 8 - 2 * index, "linestyle": "none", "lw": 1,
            "markerfacecolor": PALETTE[index] if index == 2 else "none", "zorder": 3 + index}  # fmt: skip


def _added_error(axes: Axes, rows: pd.DataFrame, index: int, n: int) -> None:
    """100 sqrt(-I): what protection adds to the standard error of the share, in percentage points."""
    for order, pi in enumerate(sorted(rows["pi"].unique())):
        grid, curve = _curve(rows, pi)
        part = rows[rows["pi"] == pi]
        axes.plot(grid, 100 * np.sqrt(-np.array(curve)), color=INK, ls=LINES[index], lw=1.2)
        axes.plot(part["epsilon"], 100 * np.sqrt(-part["simulated"]), **_point(order))
    at = float(rows["epsilon"].max())
    height = 100 * np.sqrt(-Survey(0.5, n, float(rows["mu"].iloc[0])).accuracy_at(at))
    axes.annotate(f"N = {n:,}", (at, height), (7, 0), textcoords="offset points", fontsize=7.5, va="center")


def plot_matrix_mechanism(numbers: pd.DataFrame, label: str) -> Figure:
    """Left: the error of a query against privacy loss, by strategy. Right: by table, at one privacy loss."""
    figure, (left, right) = subplots(1, 2, height=4.9, width_ratios=[1, 1.05])
    whole, tables = (numbers[numbers["part"] == part] for part in (BY_EPSILON, BY_TABLE))
    names = [name for name in dict.fromkeys(tables["table"]) if (tables.loc[tables["table"] == name, "error"] > 0).any()]
    for index, (strategy, group) in enumerate(whole.groupby("strategy", sort=False)):
        point: dict[str, Any] = {"color": PALETTE[index], "marker": MARKERS[index], "markersize": 5}
        words = f"{WORDS[str(strategy)]}, Δ = {group['sensitivity'].iloc[0]}"
        left.plot(group["epsilon"], group["error"], ls=LINES[index], lw=1.3, label=words, **point)
        errors = tables[tables["strategy"] == strategy].set_index("table")["error"][names]
        right.plot(errors, range(len(names)), ls="none", **point)
    _axes_of_strategies(left, right, whole, tables, names)
    look: dict[str, Any] = {"ncols": 3, "frameon": False, "handlelength": 3.0, "columnspacing": 1.4}
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", **look)
    return say_source(figure, label)


def _axes_of_strategies(left: Axes, right: Axes, whole: pd.DataFrame, tables: pd.DataFrame, names: list[str]) -> None:
    queries = int(whole["queries"].iloc[0])
    left.set(xscale="log", yscale="log", xticks=sorted(whole["epsilon"].unique()))
    left.xaxis.set_minor_locator(NullLocator())
    left.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    left.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    left.set(xlabel="privacy loss $\\epsilon$", ylabel="root mean square error of a count (households)")
    left.set_title(f"a  over all {queries} queries", loc="left", color=INK)
    right.set_xscale("log")
    right.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    counts = tables.drop_duplicates("table").set_index("table")["queries"]
    right.set_yticks(range(len(names)), [plain(f"{name} ({counts[name]})") for name in names])
    right.invert_yaxis()
    right.set(xlabel="root mean square error of a count (households)", ylabel="table and its iterations (queries)")
    right.set_title(f"b  by table, $\\epsilon$ = {tables['epsilon'].iloc[0]:g}", loc="left", color=INK)


def plot_zeros_removed(left: pd.DataFrame, structural: int | None, label: str, unit: str = "households") -> Figure:
    """Records of the domain that are left after the zeros of a block, by its size: the median and the quartiles."""
    figure, axes = subplots(height=4.2)
    domain = int(left["domain"].iloc[0])
    axes.axhline(domain, color=INK, lw=1.4, label=f"the whole domain: {domain:,} record types")
    if structural is not None:
        axes.axhline(structural, color=INK, lw=1.2, ls=":", label=f"structural zeros alone: {structural:,}")
    chosen = left[left["blocks_of"] == BY_SIZE]
    for index, known in enumerate(word for word in LEFT.values() if word in set(chosen["known"])):
        part = chosen[chosen["known"] == known].sort_values("households")
        axes.fill_between(part["households"], part["lower_quartile"], part["upper_quartile"], color=PALETTE[index],
                          alpha=0.18, lw=0)  # fmt: skip
        axes.plot(part["households"], part["median"], color=PALETTE[index], marker=MARKERS[index], ms=4.5, lw=1.3,
                  ls=LINES[index], label=known)  # fmt: skip
    _axes_of_zeros(axes, chosen, domain, unit)
    figure.legend(loc="outside upper center", ncols=2, frameon=False, handlelength=3)
    return say_source(figure, f"Lines: median block of a size. Shaded: the middle half of the blocks. Data: {label}")


def _axes_of_zeros(axes: Axes, part: pd.DataFrame, domain: int, unit: str) -> None:
    axes.set(xscale="log", yscale="log", ylim=(0.8, 2.5 * domain))
    sizes = sorted(part["households"].unique())
    axes.set_xticks([n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500) if sizes[0] <= n <= sizes[-1]])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set(xlabel=f"{unit} in the block", ylabel="record types left")
    share = axes.secondary_yaxis("right", functions=(lambda n: np.asarray(n) / domain, lambda s: np.asarray(s) * domain))
    share.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.6g} %"))
    share.set_ylabel("share of the domain left")


# Randomized response with mu as a dial (footnote 57), and the utility of data as a line in its accuracy (E-28).

DIAL_LINES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1)), (0, (1, 2)))
STEPS = 99  # of the curve, each a hundredth


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
    figure, (left, right) = subplots(1, 2, height=3.4)
    for index, (rho, group) in enumerate(rows.groupby("rho")):
        look = {"color": PALETTE[index], "ls": DIAL_LINES[index]}
        left.plot(group["mu"], group["yes"], lw=1.8, **look, label=f"$\\rho$ = {rho:g}: yes protected by (B-2)")
        left.plot(group["mu"], group["no"], lw=0.9, **look, label=f"$\\rho$ = {rho:g}: no protected by (B-3)")
        right.plot(group["mu"], 100 * group["standard_error"], lw=1.4, **look)
    left.axvline(0.5, color="#9aa5ad", lw=0.8)
    left.set_ylabel("privacy loss $\\epsilon$, one-sided")
    left.set_title("a  two guarantees, one dial", loc="left", color=INK)
    right.set_ylabel("standard error of the share (percentage points)")
    right.set_ylim(bottom=0)
    n, pi = int(rows["population"].iloc[0]), rows["pi"].iloc[0]
    right.set_title(f"b  what it costs, N = {n:,}, $\\pi$ = {pi:g}", loc="left", color=INK)
    for axes in (left, right):
        axes.set(xlabel="$\\mu$, share of innocuous yes answers", xlim=(0, 1))
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=rows["rho"].nunique(), frameon=False)
    return say_source(figure, label)


def plot_utility(rows: pd.DataFrame, label: str) -> Figure:
    """A panel per utility: simulated E[U(W)] of each person against I, on the line a + b I; crosses where it is exact."""
    utilities = list(dict.fromkeys(rows["utility"]))
    figure, panels = subplots(1, len(utilities), height=3.6, squeeze=False)
    for axes, utility in zip(panels[0], utilities, strict=True):
        for index, (person, group) in enumerate(rows[rows["utility"] == utility].groupby("person", sort=False)):
            x = group["accuracy"] / 1e6
            axes.plot(x, group["line"] - group["a"], color=PALETTE[index], ls=DIAL_LINES[index], lw=1.3)
            look: dict[str, Any] = {"color": PALETTE[index], "marker": MARKERS[index], "ms": 4, "ls": "none", "lw": 1}
            words = plain(str(person).replace("_", " "))
            axes.errorbar(x, group["simulated"] - group["a"], 3 * group["standard_error"], label=words, **look)
            axes.plot(x, group["exact"] - group["a"], color=INK, marker="x", ms=5, ls="none", lw=1)
        axes.set(xlabel="accuracy $I$, millions (0: no noise)", ylabel="what noise costs: $E[U(W)] - a$")
        axes.set_title(f"{utility}, curvature {rows.loc[rows['utility'] == utility, 'curvature'].iloc[0]:g}", loc="left")
    handles, labels = panels[0][0].get_legend_handles_labels()
    exact = Line2D([], [], color=INK, marker="x", ms=5, ls="none")
    line = Line2D([], [], color=INK, lw=1.3)
    entries = [*(f"simulated: {text}" for text in labels), "line b I (E-28)", "exact"]
    figure.legend([*handles, line, exact], entries, loc="outside upper center", ncols=3, frameon=False)
    return say_source(figure, label)
