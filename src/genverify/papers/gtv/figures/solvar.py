"""Full reconstruction: how much of a block's records the release leaves open, as a cumulative distribution over blocks."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from genverify.show.style import COLUMN_WIDTH, PALETTE, say_source, use_style

LINES = {
    "state_median": ("state-median blocks", "-", PALETTE[0]),
    "country_median": ("country-median blocks", "--", PALETTE[1]),
}


def plot_solvar(blocks: pd.DataFrame, label: str) -> Figure:
    """The share of blocks in which at most a given share of the records can differ between two fitting datasets."""
    use_style()
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.6), layout="constrained")
    for design, rows in blocks.groupby("design"):
        words, line, colour = LINES.get(str(design), (str(design).replace("_", " "), ":", PALETTE[2]))
        shares = np.sort(rows["share"].to_numpy())
        unique = 100 * float(rows["unique"].mean())
        heights = 100 * np.arange(len(shares) + 1) / len(shares)
        axes.step(
            [0, *(100 * shares)], heights, where="post", ls=line, color=colour, label=f"{words}: {unique:.0f} % unique"
        )
    axes.set_xlabel("records that can differ: solvar(D*) / 2N, %")
    axes.set_ylabel("blocks, cumulative %")
    axes.set_xlim(-2, 102)
    axes.set_ylim(0, 102)
    axes.legend(loc="upper left", frameon=False)
    say_source(figure, label)
    return figure
