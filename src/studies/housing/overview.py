"""Figure 1: the experiment as a drawing, with the numbers of the run in its boxes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from genverify.report.figures import INK, PALETTE, plain, say_source, subplots
from studies.housing.evaluate import summarise_blocks
from studies.housing.tables import final


class Box(NamedTuple):
    """A box of the drawing: the place of its middle, its size, its text, and whether only the evaluation knows of it."""

    x: float
    y: float
    width: float
    height: float
    private: bool


BOXES: Mapping[str, Box] = {
    "microdata": Box(1.5, 4.3, 2.6, 1.0, True),
    "census": Box(5.0, 4.9, 2.6, 0.9, False),
    "hud": Box(5.0, 3.7, 2.6, 0.9, False),
    "detect": Box(8.5, 4.3, 2.6, 1.0, False),
    "reconstruct": Box(8.5, 2.5, 2.6, 1.0, False),
    "key": Box(1.5, 2.5, 2.6, 1.0, False),
    "join": Box(5.0, 2.5, 2.6, 1.0, False),
    "judge": Box(5.0, 0.8, 3.6, 1.0, True),
}
ARROWS = (
    ("microdata", "census", "protect"),
    ("microdata", "hud", ""),
    ("census", "detect", ""),
    ("hud", "detect", ""),
    ("detect", "reconstruct", "flagged blocks"),
    ("reconstruct", "join", "ranked"),
    ("microdata", "key", "some columns"),
    ("key", "join", "identified"),
    ("join", "judge", ""),
)
SIDES = {"right": (1, 0), "left": (-1, 0), "up": (0, 1), "down": (0, -1)}


def overview_table(judged: pd.DataFrame, curves: pd.DataFrame, totals: pd.DataFrame, key: str) -> pd.DataFrame:
    """The numbers of the drawing: blocks and households, flags, reconstructions, and what the key re-identifies."""
    blocks, end = summarise_blocks(judged), final(curves, key, "once")
    own = totals[(totals["key"] == key) & (totals["scope"] == "all")].iloc[0]
    values: dict[str, Any] = {
        "blocks": blocks["blocks"], "households": int(judged["n"].sum()), "subsidized": int(judged["subsidized"].sum()),
        "violations": int(judged["violations"].sum()), "flagged": blocks["putative_blocks"],
        "reconstructions": int(judged["found"].sum()), "identified": int(own["households"]),
        "putative": int(end["putative"]), "precision": round(100 * end["precision"]), "recall": round(100 * end["recall"]),
    }  # fmt: skip
    return pd.DataFrame({"number": list(values), "value": list(values.values())})


def _texts(n: Mapping[str, int], key: Sequence[str]) -> dict[str, str]:
    return {
        "microdata": f"synthetic microdata D\n{n['households']:,} households, {n['blocks']:,} blocks\n"
        f"{n['subsidized']:,} subsidized, {n['violations']:,} in violation",
        "census": "block counts of the census\nsizes, children, races",
        "hud": "statistics of properties\nbedrooms, races, children",
        "detect": f"detect (1): no dataset fits\nwithout a violation\n{n['flagged']:,} blocks flagged",
        "reconstruct": f"reconstruct (2): most likely\ndatasets of flagged blocks\n{n['reconstructions']:,} of them",
        "key": f"match key D_S\n{', '.join(key).lower()}\n{n['identified']:,} households",
        "join": f"re-identify: join the key with\nreconstructed violations\n{n['putative']:,} putative configurations",
        "judge": f"judge against the true violations V\nprecision {n['precision']} %, recall {n['recall']} %\n"
        "(configurations once, recall over households)",
    }


def plot_overview(table: pd.DataFrame, key: Sequence[str], label: str) -> Figure:
    """Boxes from the private households to what is re-identified; shaded: known to the evaluation alone."""
    figure, axes = subplots(height=4.2)
    axes.set_axis_off()
    axes.set(xlim=(0, 10), ylim=(0.1, 5.5))
    numbers = dict(zip(table["number"], table["value"].astype(int), strict=True))
    for name, text in _texts(numbers, key).items():
        _draw_box(axes, BOXES[name], text)
    for start, end, words in ARROWS:
        _draw_arrow(axes, BOXES[start], BOXES[end], words)
    said = f"Shaded: known to the evaluation only. No protection, all putative violations. Data: {label}"
    return say_source(figure, said)


def _draw_box(axes: Axes, box: Box, text: str) -> None:
    colour = "#e8edf1" if box.private else "white"
    corner = (box.x - box.width / 2, box.y - box.height / 2)
    patch = FancyBboxPatch(
        corner, box.width, box.height, boxstyle="round,pad=0.02,rounding_size=0.12", fc=colour, ec=INK, lw=1
    )
    axes.add_patch(patch)
    axes.text(box.x, box.y, plain(text), ha="center", va="center", fontsize=7.5, linespacing=1.35)


def _draw_arrow(axes: Axes, start: Box, end: Box, words: str) -> None:
    across = abs(end.x - start.x) > 0.5
    side = ("right" if end.x > start.x else "left") if across else ("up" if end.y > start.y else "down")
    dx, dy = SIDES[side]
    a = (start.x + dx * start.width / 2, start.y + dy * start.height / 2)
    b = (end.x - dx * end.width / 2, end.y - dy * end.height / 2)
    axes.add_patch(
        FancyArrowPatch(a, b, arrowstyle="-|>", mutation_scale=10, color=PALETTE[0], lw=1.2, shrinkA=2, shrinkB=2)
    )
    middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
    level = 0.14 if a[1] == b[1] else 0.32
    shift, place = ((-0.1 * (level > 0.2), level), "center") if across else ((0.12, 0), "left")
    if words:
        axes.text(middle[0] + shift[0], middle[1] + shift[1], words, ha=place, va="center", fontsize=7, style="italic")
