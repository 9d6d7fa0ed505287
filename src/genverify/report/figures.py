"""One look for every figure, the same bytes from the same data, and thumbnails."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox
from PIL import Image

INK = "#22313f"
PALETTE = ["#1b4f72", "#e08214", "#5aae61", "#9970ab", "#c0392b", "#80cdc1"]
COLUMN_WIDTH = 3.5  # inches: a column of a two-column page
PAGE_WIDTH = 7.2  # inches: both columns
DIGITS = 5  # of a position, as a fraction of the figure: less than a hundredth of a point
# seaborn's theme "whitegrid" in its context "paper" (a test compares them). To import seaborn takes a job half a second,
# nearly all of it for scipy.stats, which no figure uses.
PAPER = 0.8  # what the context multiplies sizes by
THEME = {
    "axes.axisbelow": True, "axes.grid": True, "xtick.bottom": False, "ytick.left": False,
    "font.family": ["DejaVu Sans"], "font.size": PAPER * 12, "legend.title_fontsize": PAPER * 12,
    "font.sans-serif": ["Arial", "DejaVu Sans", "Liberation Sans", "Bitstream Vera Sans", "sans-serif"],
    "lines.linewidth": PAPER * 1.5, "lines.markersize": PAPER * 6, "lines.solid_capstyle": "round",
    "patch.edgecolor": "w", "patch.force_edgecolor": True, "patch.linewidth": PAPER,
    **{f"{axis}tick.{part}.size": PAPER * size for axis in "xy" for part, size in (("major", 6), ("minor", 4))},
    **{f"{axis}tick.{part}.width": PAPER * width for axis in "xy" for part, width in (("major", 1.25), ("minor", 1))},
}  # fmt: skip


def use_style() -> None:
    """Set the style of all figures that follow; nothing is shown on a screen."""
    mpl.use("agg")
    plt.style.use(THEME | {
        "axes.prop_cycle": cycler("color", PALETTE),
        "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
        "axes.labelsize": 8, "axes.titlesize": 8.5, "xtick.labelsize": 7.5, "ytick.labelsize": 7.5,
        "legend.fontsize": 7.5, "grid.color": "#e3e7ea", "grid.linewidth": 0.6, "axes.linewidth": 0.8,
        "pdf.fonttype": 42, "svg.hashsalt": "genverify", "figure.dpi": 100, "savefig.dpi": 200,
    })  # fmt: skip


def plain(text: str) -> str:
    r"""
    A text from outside, printed as it is: matplotlib takes what stands between two dollar signs for a formula.

    >>> plain("5 $ to 10 $")
    '5 \\$ to 10 \\$'
    """
    return text.replace("$", r"\$")


def subplots(
    rows: int = 1, columns: int = 1, *, height: float, width: float = PAGE_WIDTH, **options: Any
) -> tuple[Figure, Any]:
    """A figure in this style, and its axes."""
    use_style()
    return plt.subplots(rows, columns, figsize=(width, height), layout="constrained", **options)


def say_source(figure: Figure, label: str) -> Figure:
    """The figure, with which data it shows written at its foot, below its axes."""
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        foot = 0.15 / figure.get_figheight()
        engine.set(rect=(0, foot, 1, 1 - foot))
    figure.text(0.995, 0.005, plain(label), ha="right", va="bottom", fontsize=6, color="#6b7780", style="italic")
    return figure


BARE = {".pdf": ["CreationDate", "Creator", "Producer"], ".png": ["Software"], ".svg": ["Date", "Creator"]}


def save(figure: Figure, *paths: Path) -> None:
    """Write the figure in the format of each name (PDF, PNG, SVG), without dates or versions in the files."""
    _settle(figure)
    for path in paths:
        metadata: dict[str, Any] = dict.fromkeys(BARE[path.suffix])
        figure.savefig(path, metadata=metadata)
    plt.close(figure)  # matplotlib keeps every figure until then


def _settle(figure: Figure) -> None:
    """
    Lay the figure out once and round every position. The layout solver adds numbers up in the order of their addresses in
    memory, so their last digits differ from run to run, and now and then a digit of the PDF with them.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine(None)  # a placeholder ("none") would have every file drawn twice
    for part in figure.findobj(SubFigure):
        part.bbox_relative.set_points(np.round(part.bbox_relative.get_points(), DIGITS))
    for axes in figure.axes:
        axes.set_position(Bbox(np.round(axes.get_position().get_points(), DIGITS)))
    for text in [text for part in (figure, *figure.findobj(SubFigure)) for text in part.texts]:
        x, y = text.get_position()
        text.set_position((round(x, DIGITS), round(y, DIGITS)))


# A figure as a small picture: fewer pixels and a palette, the same bytes from the same figure.

WIDTH = 1100  # pixels: bounds the bytes of a picture in the documentation
COLOURS = 96  # of the palette, less than a byte: bounds the bytes


def write_smaller(source: Path, target: Path) -> None:
    """The PNG with at most WIDTH pixels across and COLOURS colours."""
    with Image.open(source) as image:
        picture = image.convert("RGB")
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    # the palette that keeps the colours of thin lines, which a median of all pixels would mix with the background
    palette = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    palette.save(target, optimize=True)
