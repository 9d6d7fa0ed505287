"""Generate-then-verify under protection: claims verified from the release, true and false of the private block."""

from collections.abc import Hashable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genverify.report.figures import INK, PAGE_WIDTH, PALETTE, say_source, use_style

MARKS = {"all": ("all claims", "o", PALETTE[0], -0.14), "singleton": ("about exactly one household", "D", PALETTE[1], 0.14)}


def plot_gtv_protected(found: pd.DataFrame, label: str) -> Figure:
    """Two panels over the same protections: how many claims are verified, and which share of them is false."""
    use_style()
    height = 1.5 + 0.3 * len(found)
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE_WIDTH, height), sharey=True, layout="constrained")
    _claims(left, found)
    _shares(right, found)
    left.set_yticks(np.arange(len(found)), [words(row) for row in found.to_dict("records")])
    left.set_ylim(len(found) - 0.5, -0.5)
    say_source(figure, label)
    return figure


def words(row: Mapping[Hashable, Any]) -> str:
    """How a protection is called, with the blocks about which nothing could be decided."""
    words = [f"swapped, {row['swap']:.0%}".replace("%", " %")] if row["swap"] else []
    if pd.notna(row["rho"]):
        how = "microdata" if row["publish"] == "microdata" else f"ranges \N{PLUS-MINUS SIGN}{row['half_width']:.0f}"
        some = "" if row["tables"] == "all" else f" of {row['noised_queries']} counts"
        words.append(f"noise $\\rho$ = {row['rho']:g}, {how}{some}")
    lost = [f"{row[f'{status}_blocks']} {status}" for status in ("contradictory", "undecided") if row[f"{status}_blocks"]]
    return ("; ".join(words) or "no protection") + (f"\n({', '.join(lost)} of {row['blocks']} blocks)" if lost else "")


def _claims(axes: Axes, found: pd.DataFrame) -> None:
    indices, total = np.arange(len(found)), found["all_claims_verified_from_release"].to_numpy()
    false = found["all_claims_false"].to_numpy()
    axes.barh(indices, total - false, height=0.62, color=PALETTE[0], label="true of the private block")
    axes.barh(indices, false, left=total - false, height=0.62, color=PALETTE[1], hatch="////", edgecolor="white", lw=0,
              label="false of it")  # fmt: skip
    for index, number in zip(indices, total, strict=True):
        axes.annotate(
            f"{number:,}", (number, index), (3, 0), textcoords="offset points", va="center", fontsize=6.5, color=INK
        )
    axes.set(xlim=(0, 1.22 * max(1, int(total.max()))), xlabel="claims verified from the release")
    axes.grid(axis="y", visible=False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def _shares(axes: Axes, result: pd.DataFrame) -> None:
    for kind, (label, mark, colour, shift) in MARKS.items():
        share, low, high = (100 * result[f"{kind}_share_false{side}"].to_numpy() for side in ("", "_low", "_high"))
        known = ~np.isnan(share)
        off = np.array([np.maximum(share - low, 0), np.maximum(high - share, 0)])[:, known]
        indices = np.arange(len(result))[known] + shift
        axes.errorbar(share[known], indices, xerr=off, fmt=mark, ms=4, color=colour, elinewidth=0.9, capsize=2, label=label)
    for index in np.flatnonzero(result["all_claims_verified_from_release"].to_numpy() == 0):
        axes.annotate("nothing is verified", (50, index), ha="center", va="center", fontsize=6.5, color=INK, style="italic")
    axes.set(xlim=(-3, 103), xlabel="of these, false of the private block, %")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
