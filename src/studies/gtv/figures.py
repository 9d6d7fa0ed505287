"""Figures 1 to 5, candidates, scaling, and solution variability."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from textwrap import fill, wrap
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator, ScalarFormatter, StrMethodFormatter

from genverify.model.arrays import Flags
from genverify.model.claims import ANY, Codes, candidate_claims
from genverify.model.domain import Domain
from genverify.model.errors import DataError
from genverify.report.figures import COLUMN_WIDTH, INK, PAGE_WIDTH, PALETTE, plain, say_source, subplots, use_style
from studies.gtv.summary import ALL, PRIORS, SINGLETON, Group, chosen

# Figure 2: how large the blocks of the state-median sample are.

DESIGN = "state_median"


def plot_fig2(blocks: pd.DataFrame, label: str) -> Figure:
    """A bar per block size: the number of sampled blocks whose state has that median."""
    sizes = blocks.loc[blocks["design"] == DESIGN, "n_households"]
    if sizes.empty:
        raise DataError(f"no block of the design {DESIGN}, which Figure 2 shows; add it to sample.designs in config.yaml")
    counts = sizes.value_counts().sort_index()
    figure, axes = subplots(height=2.5, width=COLUMN_WIDTH)
    axes.bar(counts.index, counts.to_numpy(), width=0.8, color=PALETTE[0])
    axes.set(xlabel="households in the block (= median of its state)", ylabel="number of blocks")
    axes.set_xticks(np.arange(counts.index.min(), counts.index.max() + 1, 2))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=False, axis="x")
    axes.set_title(f"{len(sizes)} blocks, {sizes.min()} to {sizes.max()} households", loc="left", color=INK)
    return say_source(figure, label)


# Figures 3 and 5: in how many blocks something is verified, and how surprising the verified claims are.

DESIGNS = {"state_median": "State-median design", "country_median": "Country-median design"}
BOX = "#c9d8e4"
ROOM = 0.12  # of the axis: a number fits into a bar that is longer


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
    for axes in (axes for row in grid for axes in row[1:]):
        axes.set_ylim(-0.02 * largest, 1.05 * largest)
    _name(grid, "singleton claim" if singletons else "claim")
    return say_source(figure, label)


def _plot_row(
    part: SubFigure, summary: Sequence[Group], kind: str, blocks: pd.DataFrame, design: str, ks: Sequence[int]
) -> list[Axes]:
    subset = {k: groups[0] for k, groups in chosen(summary, kind, design).items()}
    sizes = blocks.loc[blocks["design"] == design, "n_households"]
    small, large = sizes.min(), sizes.max()
    households = f"{small} households each" if small == large else f"{small} to {large} households"
    name = DESIGNS.get(design, design.replace("_", " "))
    part.suptitle(f"{name}: {len(sizes)} blocks of {households}", x=0.01, ha="left", fontsize=9)
    row: list[Axes] = list(part.subplots(1, 3))
    _bars(row[0], [subset[k]["blocks"] if k in subset else 0 for k in ks], ks, len(sizes))
    for axes, prior in zip(row[1:], PRIORS, strict=True):
        _boxes(axes, [subset[k]["boxes"].get(prior) if k in subset else None for k in ks], ks)
        axes.set_ylabel(f"probability under the {prior} prior")
    return row


def _bars(axes: Axes, counts: Sequence[int], ks: Sequence[int], total: int) -> None:
    indices = np.arange(len(ks))
    axes.bar(indices, counts, width=0.75, color=PALETTE[0])
    for index, count in enumerate(counts):
        inside = count > ROOM * total
        axes.annotate(str(count), (index, count), (0, -2 if inside else 1.5), textcoords="offset points", ha="center",
                      va="top" if inside else "bottom", fontsize=7.5, color="white" if inside else INK)  # fmt: skip
    axes.axhline(total, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.annotate(f"all {total}", (1, total), xycoords=("axes fraction", "data"), xytext=(-2, -1.5),
                  textcoords="offset points", ha="right", va="top", fontsize=7, color=INK)  # fmt: skip
    axes.set(ylabel="number of blocks", ylim=(0, total * 1.08))
    axes.set_xticks(indices, [str(k) for k in ks])
    axes.grid(visible=False, axis="x")


def _boxes(axes: Axes, result: Sequence[dict[str, Any] | None], ks: Sequence[int]) -> None:
    boxes = {index: box for index, box in enumerate(result) if box}
    thin, dots = {"color": INK, "linewidth": 0.7}, {"marker": ".", "markersize": 1.6, "markerfacecolor": INK}
    look: dict[str, Any] = {"whiskerprops": thin, "capprops": thin, "flierprops": dots | {"markeredgecolor": "none"}}
    look |= {"boxprops": {"facecolor": BOX, "edgecolor": INK, "linewidth": 0.7}}
    look |= {"medianprops": {"color": PALETTE[1], "linewidth": 1.6}}
    if boxes:
        axes.bxp(list(boxes.values()), positions=list(boxes), widths=0.6, patch_artist=True, **look)
    axes.set_xticks(range(len(ks)), [str(k) for k in ks])
    axes.set_xlim(-0.6, len(ks) - 0.4)
    axes.grid(visible=False, axis="x")


def _name(grid: Sequence[Sequence[Axes]], what: str) -> None:
    titles = [f"blocks with ≥ 1 {what}", "tract baseline", "state baseline"]
    for index, axes in enumerate(axes for row in grid for axes in row):
        axes.set_title(f"$\\bf{{{chr(ord('a') + index)}}}$  {titles[index % 3]}", loc="left", fontsize=8)
        axes.set_xlabel("columns of the claim, k")


# Two variants compared.


def plot_comparison(table: pd.DataFrame, first: str, second: str, label: str) -> Figure:
    """A panel per kind of claims: the difference in households by k, a bar per design, with 95 % intervals."""
    figure, panels = subplots(1, 2, height=2.6)
    for axes, claims in zip(panels, (SINGLETON, ALL), strict=True):
        chosen_rows = table[(table["claims"] == claims) & (table["grouping"] == "k")]
        designs = sorted(chosen_rows["design"].unique())
        for index, (design, colour) in enumerate(zip(designs, cycle(PALETTE), strict=False)):
            rows = chosen_rows[chosen_rows["design"] == design]
            beside = rows["columns"] + 0.8 * ((index + 0.5) / len(designs) - 0.5)
            low, high = rows["difference"] - rows["low"], rows["high"] - rows["difference"]
            axes.bar(beside, rows["difference"], width=0.75 / len(designs), color=colour, label=design.replace("_", " "))
            spans = [low.clip(lower=0), high.clip(lower=0)]  # of a few blocks the interval need not hold the difference
            axes.errorbar(beside, rows["difference"], yerr=spans, fmt="none", ecolor=INK, elinewidth=0.8, capsize=1.5)
        axes.axhline(0, color=INK, linewidth=0.8)
        axes.set(xlabel="columns of the claim, k", title=f"{claims} claims", ylabel=f"households: {second} less {first}")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(visible=False, axis="x")
        if not chosen_rows["difference"].any():
            axes.annotate("no difference", (0.5, 0.6), xycoords="axes fraction", ha="center", color=INK)
    panels[0].legend()
    return say_source(figure, label)


# Figure 4: which columns the verified claims are about.

COLOURS = "Blues"
DARK = 0.6  # of the colour scale: above, black text is hard to read
WRAP = 11  # characters of a label below a column of the figure


def _column_shares(groups: Mapping[int, Sequence[Group]], names: Sequence[str], ks: Sequence[int]) -> pd.DataFrame:
    """For every k (rows), the share of its claims that contain each column; no number where there is no claim."""
    rows = {k: [sum(group["columns"][name] for group in groups.get(k, [])) for name in names] for k in ks}
    counts = pd.Series({k: sum(group["count"] for group in groups.get(k, [])) or np.nan for k in ks}, dtype=float)
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(names)).div(counts, axis=0)


def plot_fig4(summary: Sequence[Group], domain: Domain, ks: Sequence[int], label: str) -> Figure:
    """A cell per k and column: the share of the verified singleton claims about k columns that contain the column."""
    groups = chosen(summary, SINGLETON)
    shares = _column_shares(groups, domain.names, ks)
    counts = {k: sum(group["count"] for group in result) for k, result in groups.items()}
    figure, axes = subplots(height=1.0 + 0.34 * len(ks))
    figure.set_layout_engine("constrained", w_pad=0.12)  # inches: text is wider when printed than when it is laid out
    axes.imshow(shares.to_numpy(), cmap=COLOURS, vmin=0, vmax=1, aspect="auto")
    labels = [plain(f"{column.name}\n{fill(column.label, WRAP)}") for column in domain.columns]
    axes.set_xticks(range(len(labels)), labels, fontsize=6.5)
    axes.set_yticks(range(len(ks)), [f"k = {k}\n{counts.get(k, 0):,} claims" for k in ks])
    axes.tick_params(length=0)
    axes.set_title("share of the verified singleton claims that contain each column", loc="left")
    axes.grid(visible=False)
    _write_shares(axes, shares.to_numpy())
    _lines_between_cells(axes, len(ks), len(labels))
    return say_source(figure, label)


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


# How many claims are left to verify when they must hold in K generated datasets (section 5.4.2).

DATASETS = (1, 2, 5, 10, 20, 50, 100)
BLOCKS = 100  # bounds the work: each block is looked at for every number of datasets


def spread_blocks(blocks: Sequence[str], number: int = BLOCKS) -> list[str]:
    """A number of blocks, evenly spread over the sorted list; all of them if there are no more."""
    every = sorted(set(blocks))
    taken = min(number, len(every))
    return [every[index * len(every) // taken] for index in range(taken)]


def _count_candidates(datasets: Codes, min_k: int, numbers: Sequence[int] = DATASETS) -> list[int]:
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
    counted = {block: _count_candidates(datasets, min_k) for block, datasets in blocks}
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
    figure, axes = subplots(height=2.7, width=COLUMN_WIDTH)
    middle = table["candidates_q25"], table["candidates_q75"]
    axes.fill_between(table["K"], *middle, color=PALETTE[0], alpha=0.15, linewidth=0)
    for name, style, marker in (("mean", "-", "o"), ("median", "--", "s")):
        axes.plot(table["K"], table[f"candidates_{name}"], style, marker=marker, markersize=3.5, color=PALETTE[0],
                  linewidth=1.3, label=f"candidates, {name}")  # fmt: skip
        verified = table[f"verified_{name}"].iloc[0]
        axes.axhline(verified, linestyle=style, color=PALETTE[1], linewidth=1.3, label=f"verified, {name}")
    axes.set(xscale="log", yscale="log")
    axes.set_xticks(table["K"], [str(number) for number in table["K"]])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.set(xlabel="generated datasets per block, K", ylabel="claims per block")
    displayed = f"{table['blocks'].iloc[0]} of {table['of_blocks'].iloc[0]} blocks"
    axes.set_title(f"{displayed} (band: middle half of them)", loc="left", color=INK)
    axes.legend(frameon=False, handlelength=2.4)
    return say_source(figure, label)


# How seconds and memory of the attack grow with the number of households of a block.

STAGES = {"generate_s": PALETTE[1], "verify_s": PALETTE[0]}
KNOWN: dict[bool, tuple[str, dict[str, Any], str]] = {
    False: ("published counts alone", {"linestyle": "-", "marker": "o"}, "x"),
    True: ("with structural zeros", {"linestyle": "--", "marker": "^", "markerfacecolor": "white"}, "+"),
}
STOPPED: dict[str, Any] = {"color": PALETTE[4], "markersize": 6, "markeredgewidth": 1.2, "linestyle": "none", "zorder": 5}
FINISHED = "yes"


def plot_scaling(cases: pd.DataFrame, label: str) -> Figure:
    """Seconds per stage and peak memory, median over the repeats; cases that did not finish are marked by a cross."""
    figure, (seconds, memory) = subplots(1, 2, height=3.4)
    for known, rows in cases.groupby("structural_zeros"):
        for column, colour in STAGES.items():
            _line(seconds, rows, column, bool(known), colour)
        _line(memory, rows[rows["finished"] == FINISHED], "peak_memory_mb", bool(known), INK)
        _mark_stopped(seconds, memory, rows[rows["finished"] != FINISHED], bool(known))
    _finish(seconds, cases, "seconds per block", "time")
    _finish(memory, cases, "peak memory per block (MB)", "memory")
    handles = [*seconds.get_legend_handles_labels()[0], *memory.get_legend_handles_labels()[0][:1]]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False, handlelength=2.8)
    return say_source(figure, label)


def _line(axes: Axes, rows: pd.DataFrame, column: str, known: bool, colour: str) -> None:
    rows = rows.dropna(subset=column)
    words, look, _ = KNOWN[known]
    median = rows.groupby("n_households")[column].median()
    axes.plot(median.index, median, color=colour, markersize=4.5, linewidth=1.3, label=f"{column}, {words}", **look)
    axes.plot(rows["n_households"], rows[column], ".", color=colour, markersize=3, alpha=0.35)


def _mark_stopped(seconds: Axes, memory: Axes, rows: pd.DataFrame, known: bool) -> None:
    words, _, marker = KNOWN[known]
    limits = rows["finished"].str.extract(r"within ([\d.]+) s$")[0].astype(float)
    late = rows[limits.notna()]
    if len(late):
        seconds.plot(late["n_households"], limits.dropna(), marker, label=f"stopped, {words}", **STOPPED)
    memory.plot(rows["n_households"], rows["peak_memory_mb"], marker, label=f"stopped, {words}", **STOPPED)


def _finish(axes: Axes, cases: pd.DataFrame, name: str, title: str) -> None:
    axes.set(xscale="log", yscale="log", xticks=sorted(cases["n_households"].unique()))
    if title == "memory":
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set(xlabel="households in the block", ylabel=name)
    axes.set_title(title, loc="left", color=INK)


# Full reconstruction: how much of a block's records the release leaves open, as a cumulative distribution over blocks.

LINES = {
    "state_median": ("state-median blocks", "-", PALETTE[0]),
    "country_median": ("country-median blocks", "--", PALETTE[1]),
}


def plot_solvar(blocks: pd.DataFrame, label: str) -> Figure:
    """The share of blocks in which at most a given share of the records can differ between two fitting datasets."""
    figure, axes = subplots(height=2.6, width=COLUMN_WIDTH)
    for design, rows in blocks.groupby("design"):
        words, line, colour = LINES.get(str(design), (str(design).replace("_", " "), ":", PALETTE[2]))
        shares = np.sort(rows["share"].to_numpy())
        unique = 100 * float(rows["unique"].mean())
        heights = 100 * np.arange(len(shares) + 1) / len(shares)
        axes.step(
            [0, *(100 * shares)], heights, where="post", ls=line, color=colour, label=f"{words}: {unique:.0f} % unique"
        )
    axes.set(xlabel="records that can differ: solvar(D*) / 2N, %", ylabel="blocks, cumulative %", xlim=(-2, 102))
    axes.set_ylim(0, 102)
    axes.legend(loc="upper left", frameon=False)
    return say_source(figure, label)


# Figure 1: a worked example. The private table of a small synthetic block, and verified claims about it in words.

MOST_CLAIMS = 4  # in words beside the table: more do not fit the page
LARGEST = 6  # households: the table stays as high as the words beside it
LINE_WIDTH = 70  # characters of a line beside the table
LINE = 0.128  # inches: height of a line of text
CELL = 0.3  # inches: width and height of a cell
HEADER = 0.85  # inches: column names above the table
MAX_ROW = 0.42  # inches: rows of a small table are not stretched further
BOX_LINES = ("-", (0, (4, 1.2)), (0, (1.2, 1)), (0, (5, 1, 1.2, 1)))
BOX_COLOURS = (PALETTE[4], PALETTE[0], "#2e7d32", "#6a3d9a")


@dataclass(frozen=True)
class Example:
    """The records of a block, some claims about it (ANY for a column that a claim leaves open), and whom they describe."""

    block: str
    records: Codes
    codes: Codes
    describes: Flags

    @property
    def rank(self) -> tuple[int, int, int]:
        """How much the example shows: households described, different k, columns in all."""
        k = (self.codes != ANY).sum(axis=1)
        return int(self.describes.any(axis=0).sum()), len(set(k.tolist())), int(k.sum())

    @property
    def m(self) -> npt.NDArray[np.int64]:
        """The number of households that each claim describes, which the figure prints."""
        counts: npt.NDArray[np.int64] = self.describes.sum(axis=1)
        return counts

    def claims(self, names: Sequence[str]) -> pd.DataFrame:
        return pd.DataFrame(self.codes, columns=list(names)).assign(block=self.block, m=self.m)


def choose_example(claims: pd.DataFrame, records: pd.DataFrame, names: Sequence[str]) -> Example:
    """
    The example to draw, by a fixed rule.

    In every block of at most LARGEST households: first the claim with m = 2 that names most columns, if there is one; then
    claims with m = 1, each time one that describes a household not described so far, if possible with a k not seen so far,
    then with most columns, then the first in the file. Of the blocks, the one whose claims describe most households, have
    most different k, name most columns; then the first.
    """
    sizes = records.groupby("block").size()
    small = sorted(set(sizes[sizes <= LARGEST].index) & set(claims["block"]))
    if not small:
        raise DataError(
            f"no block of at most {LARGEST} households has a verified claim: sample smaller blocks for figure 1."
        )
    examples = []
    for block in small:
        of_block = records.loc[records["block"] == block, list(names)].sort_values(list(names)).to_numpy(dtype=np.int16)
        listed = claims[claims["block"] == block].drop_duplicates([*names, "m"])
        codes = listed[list(names)].fillna(ANY).to_numpy(dtype=np.int16)
        examples.append(_choose_claims(str(block), of_block, codes, listed["m"].to_numpy()))
    return max(examples, key=lambda example: example.rank)


def _choose_claims(block: str, records: Codes, codes: Codes, m: npt.NDArray[np.int64]) -> Example:
    describes = ((codes[:, None, :] == records[None]) | (codes[:, None, :] == ANY)).all(axis=2)
    k = (codes != ANY).sum(axis=1)
    pairs = np.flatnonzero(m == 2)
    chosen = [int(pairs[np.argmax(k[pairs])])] if pairs.size else []
    left = np.flatnonzero(m == 1).tolist()
    while left and len(chosen) < MOST_CLAIMS:
        seen, displayed = describes[chosen].any(axis=0), set(k[chosen].tolist())
        best = max(left, key=lambda row: (bool((describes[row] & ~seen).any()), k[row] not in displayed, k[row], -row))
        chosen.append(best)
        left.remove(best)
    return Example(block, records, codes[chosen], describes[chosen])


def plot_fig1(example: Example, domain: Domain, label: str) -> Figure:
    """The private table with a box around the cells that each claim describes, and the claims in words."""
    use_style()
    texts = [wrap(_words(codes, domain), LINE_WIDTH) for codes in example.codes]
    rows, lines = len(example.records), sum(map(len, texts)) + 1.7 * len(texts)
    height = max(CELL * rows + HEADER, LINE * lines) + 0.55
    figure = plt.figure(figsize=(PAGE_WIDTH, height))
    table_width = CELL * (len(domain.names) + 0.7)
    top = 0.3
    box = figure.add_axes((0.05 / PAGE_WIDTH, 0.2 / height, table_width / PAGE_WIDTH, 1 - (top + 0.2) / height))
    text = figure.add_axes(((table_width + 0.25) / PAGE_WIDTH, 0.2 / height, 1 - (table_width + 0.3) / PAGE_WIDTH,
                            1 - (top + 0.2) / height))  # fmt: skip
    _draw_table(box, example, domain, height - top - 0.2)
    _write_claims(text, example, texts, height - top - 0.2)
    for axes, title in ((box, f"private table of block {example.block}"), (text, "verified claims R(a, m)")):
        axes.set_title(title, loc="left", fontsize=9, pad=4)
    return say_source(figure, label)


def _words(codes: npt.NDArray[np.int16], domain: Domain) -> str:
    named = [(column, int(code)) for column, code in zip(domain.columns, codes, strict=True) if code != ANY]
    return "; ".join(f"{column.label}: {column.meaning[code]}" for column, code in named)


def _draw_table(axes: Axes, example: Example, domain: Domain, height: float) -> None:
    rows, columns = example.records.shape
    tall = min(MAX_ROW, (height - HEADER) / rows)
    axes.set(xlim=(-0.7, columns), ylim=((height - HEADER) / tall, -HEADER / tall))
    axes.axis("off")
    for column, name in enumerate(domain.names):
        axes.text(column + 0.5, -0.12, plain(name), rotation=90, ha="center", va="bottom", fontsize=7)
    for row in range(rows):
        axes.text(-0.2, row + 0.5, str(row + 1), ha="right", va="center", fontsize=7, color="#6b7780")
        for column in range(columns):
            axes.text(column + 0.5, row + 0.52, str(example.records[row, column]), ha="center", va="center", fontsize=7.5)
    for line in range(rows + 1):
        axes.plot([0, columns], [line, line], color="#c5ccd2", linewidth=0.5, zorder=0)
    for index, row in np.argwhere(example.describes):
        depth = int(example.describes[:index, row].sum())
        for first, last in _runs(example.codes[index] != ANY):
            _box(axes, int(index), depth, int(row), first, last)


def _runs(flags: Flags) -> list[tuple[int, int]]:
    """The stretches of neighbouring columns, as (first, one past the last)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


def _box(axes: Axes, index: int, depth: int, row: int, first: int, last: int) -> None:
    """A box around cells; those of other claims about the same household lie inside."""
    pad = 0.07 + 0.08 * depth
    axes.add_patch(
        FancyBboxPatch(
            (first + pad, row + pad), last - first - 2 * pad, 1 - 2 * pad, boxstyle="round,pad=0,rounding_size=0.12",
            fill=False, edgecolor=BOX_COLOURS[index], linewidth=1.3, linestyle=BOX_LINES[index],
        )
    )  # fmt: skip


def _write_claims(axes: Axes, example: Example, texts: Sequence[Sequence[str]], height: float) -> None:
    axes.set(xlim=(0, 1), ylim=(height / LINE, 0))
    axes.axis("off")
    line = 0.6
    for index, lines in enumerate(texts):
        m, k = int(example.m[index]), int((example.codes[index] != ANY).sum())
        axes.plot([0, 0.09], [line, line], color=BOX_COLOURS[index], linewidth=2, linestyle=BOX_LINES[index])
        head = f"{index + 1}.  exactly {m} household{'s' if m > 1 else ''}  (m = {m}, k = {k})"
        axes.text(0.11, line, head, va="center", fontsize=7.5, color=BOX_COLOURS[index], weight="bold")
        for number, words in enumerate(lines, 1):
            axes.text(0, line + number, plain(words), va="center", fontsize=6.5)
        line += len(lines) + 1.7
