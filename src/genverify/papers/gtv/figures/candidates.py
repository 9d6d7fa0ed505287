"""How many claims are left to verify when they must hold in K generated datasets (section 5.4.2)."""

from collections.abc import Iterable, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from genverify.core.claims import Codes, candidate_claims
from genverify.show.style import COLUMN_WIDTH, INK, PALETTE, say_source, use_style

DATASETS = (1, 2, 5, 10, 20, 50, 100)
BLOCKS = 100


def spread_blocks(blocks: Sequence[str], number: int = BLOCKS) -> list[str]:
    """
    A number of blocks, evenly spread over the sorted list; all of them if there are no more.

    >>> spread_blocks(["d", "a", "c", "b"], 2)
    ['a', 'c']
    """
    every = sorted(set(blocks))
    taken = min(number, len(every))
    return [every[place * len(every) // taken] for place in range(taken)]


def count_candidates(datasets: Codes, min_k: int, numbers: Sequence[int] = DATASETS) -> list[int]:
    """How many claims hold in the first K datasets, for each K; with fewer datasets than K, in all of them."""
    counts: dict[int, int] = {}
    for number in numbers:
        held = min(number, len(datasets))
        if held not in counts:
            counts[held] = len(candidate_claims(datasets[:held], min_k)[1])
    return [counts[min(number, len(datasets))] for number in numbers]


def candidates_table(blocks: Iterable[tuple[str, Codes]], total: int, claims: pd.DataFrame, min_k: int) -> pd.DataFrame:
    """
    For each K: mean and quartiles, over the blocks, of the candidates, and how many claims are verified in the end.

    `total` is the number of blocks that the given ones were taken from.
    """
    counted = {block: count_candidates(datasets, min_k) for block, datasets in blocks}
    verified = claims[claims["k"] >= min_k].drop_duplicates(["block", "k", "m", *_columns(claims)])["block"].value_counts()
    final = np.array([int(verified.get(block, 0)) for block in counted])
    held = np.array(list(counted.values())).reshape(len(counted), len(DATASETS))
    table = pd.DataFrame({"K": DATASETS, "blocks": len(counted), "of_blocks": total, "candidates_mean": held.mean(axis=0)})
    for name, share in (("q25", 0.25), ("median", 0.5), ("q75", 0.75)):
        table[f"candidates_{name}"] = np.quantile(held, share, axis=0)
    return table.assign(verified_mean=final.mean(), verified_median=np.median(final))


def _columns(claims: pd.DataFrame) -> list[str]:
    """The columns of codes: those between m and the effective k."""
    names = list(claims.columns)
    return names[names.index("m") + 1 : names.index("effective_k")]


def plot_candidates(table: pd.DataFrame, label: str) -> Figure:
    """Candidates per block against K, both scales logarithmic, down to the verified claims."""
    use_style()
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.7), layout="constrained")
    axes.fill_between(
        table["K"], table["candidates_q25"], table["candidates_q75"], color=PALETTE[0], alpha=0.15, linewidth=0
    )
    for name, style, marker in (("mean", "-", "o"), ("median", "--", "s")):
        axes.plot(table["K"], table[f"candidates_{name}"], style, marker=marker, markersize=3.5, color=PALETTE[0],
                  linewidth=1.3, label=f"candidates, {name}")  # fmt: skip
        axes.axhline(
            table[f"verified_{name}"].iloc[0], linestyle=style, color=PALETTE[1], linewidth=1.3, label=f"verified, {name}"
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(table["K"], [str(number) for number in table["K"]])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.set_xlabel("generated datasets per block, K")
    axes.set_ylabel("claims per block")
    shown = f"{table['blocks'].iloc[0]} of {table['of_blocks'].iloc[0]} blocks"
    axes.set_title(f"{shown} (band: middle half of them)", loc="left", color=INK)
    axes.legend(frameon=False, handlelength=2.4)
    say_source(figure, label)
    return figure
