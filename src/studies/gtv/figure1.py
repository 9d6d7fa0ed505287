"""Figure 1 and the toy example of section 4.2."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from genverify.model.arrays import Flags
from genverify.model.claims import ANY, Codes
from genverify.model.domain import Domain
from genverify.model.errors import DataError
from genverify.model.release import Release, make_release, make_schema
from genverify.report.figures import PAGE_WIDTH, PALETTE, plain, say_source, use_style

VALUES = ["0", "1"]


def toy_release(n: int, third: bool = True) -> Release:
    """
    The toy example of section 4.2, three counts of 1 of which a human can see what follows; or the first two of them.

    Queries 1 and 2 tell of one row with A = 0, B = 0 and of one with B = 0, C = 0. By query 3 only one row has B = 0, so
    they are the same. Nothing else need be published but N.

    >>> from genverify.attack.verify import attack_release
    >>> found = attack_release(toy_release(4))
    >>> [claim.codes for claim in found.claims if claim.k == 3]
    [(0, 0, 0)]
    >>> {claim.m for claim in found.claims if claim.k == 3}
    {1}

    Without query 3 the two rows may be different people, and the claim falls:

    >>> sorted(claim.codes for claim in attack_release(toy_release(4, third=False)).claims if claim.k == 3)
    []

    Nor can there be two such rows (footnote 9):

    >>> from genverify.attack.verify import Verifier
    >>> from studies.gtv.impossible_counts import multiplicities
    >>> from genverify.solve.program_settings import DEFAULT
    >>> multiplicities(Verifier(DEFAULT.bounder(toy_release(4))), (0, 0, 0), (), DEFAULT).possible
    [1]
    """
    columns = {"A": VALUES, "B": VALUES, "C": VALUES}
    schema = make_schema(columns, {"ab": ["A", "B"], "bc": ["B", "C"], "b": ["B"]})
    counts = {"N": n, "ab.0.0": 1, "bc.0.0": 1} | ({"b.0": 1} if third else {})
    return make_release(schema, "toy", counts)


# Figure 1: a worked example. The private table of a small synthetic block, and verified claims about it in words.

CLAIMS = 4  # in words beside the table: more do not fit the page
LARGEST = 6  # households: the table stays as high as the words beside it
WRAP = 70  # characters of a line beside the table
LINE = 0.128  # inches: height of a line of text
CELL = 0.3  # inches: width and height of a cell
HEADER = 0.85  # inches: column names above the table
MAX_ROW = 0.42  # inches: rows of a small table are not stretched further
LINES = ("-", (0, (4, 1.2)), (0, (1.2, 1)), (0, (5, 1, 1.2, 1)))
COLOURS = (PALETTE[4], PALETTE[0], "#2e7d32", "#6a3d9a")


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
        """What the figure says, as rows of claims."""
        return pd.DataFrame(self.codes, columns=list(names)).assign(block=self.block, m=self.m)


def check_synthetic(manifest: Path) -> None:
    """Households are written out in words only if nobody lives in them."""
    if json.loads(manifest.read_text())["source"] != "synthetic":
        raise DataError(f"{manifest}: examples in words come from synthetic data only. Set microdata.source to synthetic.")


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
    while left and len(chosen) < CLAIMS:
        seen, displayed = describes[chosen].any(axis=0), set(k[chosen].tolist())
        best = max(left, key=lambda row: (bool((describes[row] & ~seen).any()), k[row] not in displayed, k[row], -row))
        chosen.append(best)
        left.remove(best)
    return Example(block, records, codes[chosen], describes[chosen])


def plot_fig1(example: Example, domain: Domain, label: str) -> Figure:
    """The private table with a box around the cells that each claim describes, and the claims in words."""
    use_style()
    texts = [wrap(_words(codes, domain), WRAP) for codes in example.codes]
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
    say_source(figure, label)
    return figure


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
            fill=False, edgecolor=COLOURS[index], linewidth=1.3, linestyle=LINES[index],
        )
    )  # fmt: skip


def _write_claims(axes: Axes, example: Example, texts: Sequence[Sequence[str]], height: float) -> None:
    axes.set(xlim=(0, 1), ylim=(height / LINE, 0))
    axes.axis("off")
    line = 0.6
    for index, lines in enumerate(texts):
        m, k = int(example.m[index]), int((example.codes[index] != ANY).sum())
        axes.plot([0, 0.09], [line, line], color=COLOURS[index], linewidth=2, linestyle=LINES[index])
        head = f"{index + 1}.  exactly {m} household{'s' if m > 1 else ''}  (m = {m}, k = {k})"
        axes.text(0.11, line, head, va="center", fontsize=7.5, color=COLOURS[index], weight="bold")
        for number, words in enumerate(lines, 1):
            axes.text(0, line + number, plain(words), va="center", fontsize=6.5)
        line += len(lines) + 1.7
