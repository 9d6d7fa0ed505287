"""Figures 3 and 5: in how many blocks something is verified, and how surprising the verified claims are."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from genverify.papers.gtv.summary import ALL, PRIORS, SINGLETON, Group, chosen
from genverify.show.style import INK, PAGE_WIDTH, PALETTE, say_source, use_style

DESIGNS = {"state_median": "State-median design", "country_median": "Country-median design"}
BOX = "#c9d8e4"
ROOM = 0.12


def shown_k(blocks: pd.DataFrame) -> list[int]:
    """The numbers of columns that claims are about: from the smallest with a candidate to all columns."""
    names = [name for name in blocks.columns if name.startswith("candidates_k")]
    tried = [int(name.removeprefix("candidates_k")) for name in names if blocks[name].any()]
    return list(range(min(tried, default=1), len(names) + 1))


def plot_fig3(summary: Sequence[Group], blocks: pd.DataFrame, label: str, singletons: bool) -> Figure:
    """
    A row per design: blocks with at least one claim by k, then the probabilities of the claims under two priors.

    Figure 3 shows singleton claims (m = 1), figure 5 all of them.
    """
    use_style()
    kind = SINGLETON if singletons else ALL
    ks = shown_k(blocks)
    designs = sorted(blocks["design"].unique(), key=lambda design: (design != "state_median", design))
    figure = plt.figure(figsize=(PAGE_WIDTH, 2.6 * len(designs) + 0.15), layout="constrained")
    rows = figure.subfigures(len(designs), 1, squeeze=False)[:, 0]
    grid = [_plot_row(part, summary, kind, blocks, design, ks) for part, design in zip(rows, designs, strict=True)]
    largest = max([0.1, *(group["largest"] for group in summary if group["claims"] == kind)])
    _same_scale([axes for row in grid for axes in row[1:]], largest)
    _name(grid, "singleton claim" if singletons else "claim")
    say_source(figure, label)
    return figure


def _plot_row(
    part: SubFigure, summary: Sequence[Group], kind: str, blocks: pd.DataFrame, design: str, ks: Sequence[int]
) -> list[Axes]:
    own = {k: groups[0] for k, groups in chosen(summary, kind, design).items()}
    sizes = blocks.loc[blocks["design"] == design, "n_households"]
    small, large = sizes.min(), sizes.max()
    households = f"{small} households each" if small == large else f"{small} to {large} households"
    part.suptitle(
        f"{DESIGNS.get(design, design.replace('_', ' '))}: {len(sizes)} blocks of {households}",
        x=0.01,
        ha="left",
        fontsize=9,
    )
    row: list[Axes] = list(part.subplots(1, 3))
    _bars(row[0], [own[k]["blocks"] if k in own else 0 for k in ks], ks, len(sizes))
    for axes, prior in zip(row[1:], PRIORS, strict=True):
        _boxes(axes, [own[k]["boxes"].get(prior) if k in own else None for k in ks], ks)
        axes.set_ylabel(f"probability under the {prior} prior")
    return row


def _bars(axes: Axes, counts: Sequence[int], ks: Sequence[int], total: int) -> None:
    places = np.arange(len(ks))
    axes.bar(places, counts, width=0.75, color=PALETTE[0])
    for place, count in enumerate(counts):
        inside = count > ROOM * total
        axes.annotate(str(count), (place, count), (0, -2 if inside else 1.5), textcoords="offset points", ha="center",
                      va="top" if inside else "bottom", fontsize=7.5, color="white" if inside else INK)  # fmt: skip
    axes.axhline(total, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.annotate(f"all {total}", (1, total), xycoords=("axes fraction", "data"), xytext=(-2, -1.5),
                  textcoords="offset points", ha="right", va="top", fontsize=7, color=INK)  # fmt: skip
    axes.set_ylabel("number of blocks")
    axes.set_ylim(0, total * 1.08)
    axes.set_xticks(places, [str(k) for k in ks])
    axes.grid(visible=False, axis="x")


def _boxes(axes: Axes, found: Sequence[dict[str, Any] | None], ks: Sequence[int]) -> None:
    """A box per k that has claims."""
    boxes = {place: box for place, box in enumerate(found) if box}
    if boxes:
        _draw(axes, list(boxes.values()), list(boxes))
    axes.set_xticks(range(len(ks)), [str(k) for k in ks])
    axes.set_xlim(-0.6, len(ks) - 0.4)
    axes.grid(visible=False, axis="x")


def _draw(axes: Axes, boxes: Sequence[dict[str, Any]], places: Sequence[int]) -> None:
    axes.bxp(
        boxes,
        positions=places,
        widths=0.6,
        patch_artist=True,
        boxprops={"facecolor": BOX, "edgecolor": INK, "linewidth": 0.7},
        whiskerprops={"color": INK, "linewidth": 0.7},
        capprops={"color": INK, "linewidth": 0.7},
        medianprops={"color": PALETTE[1], "linewidth": 1.6},
        flierprops={"marker": ".", "markersize": 1.6, "markerfacecolor": INK, "markeredgecolor": "none"},
    )


def _same_scale(panels: Sequence[Axes], top: float) -> None:
    for axes in panels:
        axes.set_ylim(-0.02 * top, 1.05 * top)


def _name(grid: Sequence[Sequence[Axes]], what: str) -> None:
    """Panel letters, and what each panel shows."""
    titles = [f"blocks with ≥ 1 {what}", "tract baseline", "state baseline"]
    for place, axes in enumerate(axes for row in grid for axes in row):
        axes.set_title(f"$\\bf{{{chr(ord('a') + place)}}}$  {titles[place % 3]}", loc="left", fontsize=8)
        axes.set_xlabel("columns of the claim, k")
