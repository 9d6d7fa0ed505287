"""Equations 3 and 4 on a tiny domain, and whether RAP's frequencies follow the posterior there."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from genverify.papers.raprank.intuition import EQUATIONS, FREQUENCY
from genverify.show.style import INK, PAGE_WIDTH, PALETTE, say_source, use_style


def plot_intuition(numbers: pd.DataFrame) -> Figure:
    """Left: the two sides of the argument, a mark per row. Right: frequency over RAP's runs against the exact posterior."""
    use_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE_WIDTH, 3.3), layout="constrained")
    same, often = (numbers[numbers["part"] == part] for part in (EQUATIONS, FREQUENCY))
    for axes, top in ((left, 1.08 * same[["x", "y"]].to_numpy().max()), (right, 1.03)):
        axes.plot([0, top], [0, top], color=INK, lw=0.8, ls=(0, (4, 3)))
        axes.set(xlim=(-0.03 * top, top), ylim=(-0.03 * top, top))
    left.plot(same["x"], same["y"], "D", color=PALETTE[0], ms=4.5, mfc="white")
    left.set(xlabel="equation 4: two draws from the posterior hold r", ylabel="equation 3: D and D' hold r")
    left.set_title(f"equal for all {len(same)} rows, to {(same['x'] - same['y']).abs().max():.0e}")
    right.plot(often["x"], often["y"], "o", color=PALETTE[1], ms=3.4, alpha=0.5, mew=0)
    right.set(xlabel="exact posterior probability of a row", ylabel="share of RAP's runs that hold it")
    correlation = spearmanr(often["x"], often["y"]).statistic
    right.set_title(f"rank correlation {correlation:.2f}, {len(often)} rows")
    say_source(figure, "made-up tiny domains")
    return figure
