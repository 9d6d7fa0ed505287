"""What protections buy: singleton claims and people singled out, one bar per protection."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genverify.report.figures import INK, PAGE_WIDTH, PALETTE, plain, say_source, use_style


def plot_what_if(protections: pd.DataFrame, k: int, unit: tuple[str, str], label: str) -> Figure:
    """Two panels over the same protections: claims about exactly one record, and the records that they single out."""
    use_style()
    height = 1.1 + 0.36 * len(protections)
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE_WIDTH, height), sharey=True, layout="constrained")
    _bars(left, protections, "singleton_claims", k, f"verified claims about exactly one {plain(unit[0])}")
    _bars(right, protections, "people_singled_out", k, f"{plain(unit[1])} singled out")
    left.set_yticks(np.arange(len(protections)), [plain(name) for name in protections["protection"]])
    left.invert_yaxis()
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    say_source(figure, label)
    return figure


def _bars(axes: Axes, protections: pd.DataFrame, column: str, k: int, words: str) -> None:
    indices = np.arange(len(protections))
    series = (
        (column, "any number of columns", PALETTE[0], ""),
        (f"{column}_k{k}", f"{k} or more columns", PALETTE[1], "////"),
    )
    for shift, (name, label, colour, hatch) in zip((-0.2, 0.2), series, strict=True):
        bars = axes.barh(
            indices + shift, protections[name], height=0.38, color=colour, hatch=hatch, edgecolor="white", label=label, lw=0
        )
        axes.bar_label(bars, padding=2, fontsize=6.5, color=INK)
    axes.set_xlabel(words)
    axes.set_xlim(0, 1.14 * max(1, int(protections[column].max())))
    axes.grid(axis="y", visible=False)
