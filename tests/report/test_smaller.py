"""Small pictures: fewer pixels, a palette that keeps the colours of thin lines, the same bytes again."""

from pathlib import Path

from PIL import Image, ImageDraw

from genverify.report.figures import COLOURS, WIDTH, write_smaller


def picture(path: Path, width: int) -> Path:
    """Many shades of blue and one thin orange line."""
    image = Image.linear_gradient("L").resize((width, width // 2)).convert("RGB")
    ImageDraw.Draw(image).line([(0, 40), (width, 40)], fill=(224, 130, 20), width=6)
    image.save(path)
    return path


def test_a_wide_picture_is_made_smaller(tmp_path: Path) -> None:
    source = picture(tmp_path / "wide.png", 2 * WIDTH)
    for name in ("one", "two"):
        write_smaller(source, tmp_path / f"{name}.png")
    with Image.open(tmp_path / "one.png") as small:
        assert small.size == (WIDTH, WIDTH // 2)
        assert small.mode == "P"
        assert len(small.getcolors() or []) <= COLOURS
        found = small.convert("RGB").getpixel((WIDTH // 2, 20))
    assert isinstance(found, tuple)
    assert max(abs(int(a) - b) for a, b in zip(found, (224, 130, 20), strict=True)) < 25
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    assert (tmp_path / "one.png").stat().st_size < source.stat().st_size


def test_a_narrow_picture_keeps_its_pixels(tmp_path: Path) -> None:
    write_smaller(picture(tmp_path / "narrow.png", 300), tmp_path / "small.png")
    with Image.open(tmp_path / "small.png") as small:
        assert small.size == (300, 150)
