"""What every drawn figure must be: whole on its page."""

from matplotlib.figure import Figure


def cut_off(figure: Figure) -> bool:
    """Whether anything that is drawn, texts included, reaches beyond the page."""
    figure.draw_without_rendering()
    drawn, slack = figure.get_tightbbox(), 0.01
    width, height = figure.get_size_inches()
    return bool(drawn.x0 < -slack or drawn.y0 < -slack or drawn.x1 > width + slack or drawn.y1 > height + slack)
