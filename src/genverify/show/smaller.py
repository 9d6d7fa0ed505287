"""A figure as a small picture: fewer pixels and a palette, the same bytes from the same figure."""

from pathlib import Path

from PIL import Image

WIDTH = 1100
COLOURS = 96


def write_smaller(source: Path, target: Path) -> None:
    """The PNG with at most WIDTH pixels across and COLOURS colours."""
    with Image.open(source) as image:
        picture = image.convert("RGB")
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    # the palette that keeps the colours of thin lines, which a median of all pixels would mix with the background
    palette = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    palette.save(target, optimize=True)
