"""Figure 2: how large the blocks of the state-median sample are."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from genverify.core.errors import DataError
from genverify.show.style import COLUMN_WIDTH, INK, PALETTE, say_source, use_style

DESIGN = "state_median"


def plot_fig2(blocks: pd.DataFrame, label: str) -> Figure:
    """A bar per block size: the number of sampled blocks whose state has that median."""
    use_style()
    sizes = blocks.loc[blocks["design"] == DESIGN, "n_households"]
    if sizes.empty:
        raise DataError(f"no block of the design {DESIGN}, which Figure 2 shows; add it to sample.designs in config.yaml")
    counts = sizes.value_counts().sort_index()
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.5), layout="constrained")
    axes.bar(counts.index, counts.to_numpy(), width=0.8, color=PALETTE[0])
    axes.set_xlabel("households in the block (= median of its state)")
    axes.set_ylabel("number of blocks")
    axes.set_xticks(np.arange(counts.index.min(), counts.index.max() + 1, 2))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=False, axis="x")
    axes.set_title(f"{len(sizes)} blocks, {sizes.min()} to {sizes.max()} households", loc="left", color=INK)
    say_source(figure, label)
    return figure
