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

from genverify.model.files import read_yaml

INK = "#22313f"
PALETTE = ["#1b4f72", "#e08214", "#5aae61", "#9970ab", "#c0392b", "#80cdc1"]
COLUMN_WIDTH = 3.5  # inches: a column of a two-column page
PAGE_WIDTH = 7.2  # inches: both columns
DIGITS = 5  # of a position, as a fraction of the figure: less than a hundredth of a point
STYLE: dict[str, dict[str, Any]] = read_yaml(Path(__file__).with_name("figures.yaml"))
THEME = STYLE["theme"]


def use_style() -> None:
    """Set the style of all figures that follow; nothing is shown on a screen."""
    mpl.use("agg")
    plt.style.use(THEME | STYLE["style"] | {"axes.prop_cycle": cycler("color", PALETTE)})


def plain(text: str) -> str:
    r"""
    A text from outside, printed as it is: matplotlib takes what stands between two dollar signs for a formula.

    >>> plain("5 $ to 10 $")
    '5 \\$ to 10 \\$'
    """
    return text.replace("$", r"\$")


def subplots(rows: int = 1, columns: int = 1, *, height: float, width: float = PAGE_WIDTH, **how: Any) -> tuple[Figure, Any]:
    """A figure in this style, and its axes."""
    use_style()
    return plt.subplots(rows, columns, figsize=(width, height), layout="constrained", **how)


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
    """Lay the figure out once and round every position: the solver's last digits differ with addresses in memory."""
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
