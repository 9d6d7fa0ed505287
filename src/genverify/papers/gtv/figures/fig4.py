"""Figure 4: which columns the verified claims are about."""

from collections.abc import Mapping, Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genverify.core.domain import Domain
from genverify.papers.gtv.summary import SINGLETON, Group, chosen
from genverify.show.style import INK, PAGE_WIDTH, plain, say_source, use_style

COLOURS = "Blues"
DARK = 0.6
WRAP = 11


def column_shares(groups: Mapping[int, Sequence[Group]], names: Sequence[str], ks: Sequence[int]) -> pd.DataFrame:
    """For every k (rows), the share of its claims that contain each column; no number where there is no claim."""
    rows = {k: [sum(group["columns"][name] for group in groups.get(k, [])) for name in names] for k in ks}
    counts = pd.Series({k: sum(group["count"] for group in groups.get(k, [])) or np.nan for k in ks}, dtype=float)
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(names)).div(counts, axis=0)


def plot_fig4(summary: Sequence[Group], domain: Domain, ks: Sequence[int], label: str) -> Figure:
    """A cell per k and column: the share of the verified singleton claims about k columns that contain the column."""
    use_style()
    groups = chosen(summary, SINGLETON)
    shares = column_shares(groups, domain.names, ks)
    counts = {k: sum(group["count"] for group in found) for k, found in groups.items()}
    figure, axes = plt.subplots(figsize=(PAGE_WIDTH, 1.0 + 0.34 * len(ks)), layout="constrained")
    axes.imshow(shares.to_numpy(), cmap=COLOURS, vmin=0, vmax=1, aspect="auto")
    labels = [plain(f"{column.name}\n{fill(column.label, WRAP)}") for column in domain.columns]
    axes.set_xticks(range(len(labels)), labels, fontsize=6.5)
    axes.set_yticks(range(len(ks)), [f"k = {k}\n{counts.get(k, 0):,} claims" for k in ks])
    axes.tick_params(length=0)
    axes.set_title("share of the verified singleton claims that contain each column", loc="left")
    axes.grid(visible=False)
    _write_shares(axes, shares.to_numpy())
    _lines_between_cells(axes, len(ks), len(labels))
    say_source(figure, label)
    return figure


def _write_shares(axes: Axes, shares: npt.NDArray[np.float64]) -> None:
    for (row, column), share in np.ndenumerate(shares):
        text, colour = (f"{share:.0%}", "white" if share > DARK else INK) if np.isfinite(share) else ("none", INK)
        axes.text(column, row, text, ha="center", va="center", fontsize=7.5, color=colour)


def _lines_between_cells(axes: Axes, rows: int, columns: int) -> None:
    axes.set_xticks(np.arange(columns - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(rows - 1) + 0.5, minor=True)
    axes.grid(visible=True, which="minor", color="white", linewidth=1.2)
    axes.tick_params(which="minor", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
