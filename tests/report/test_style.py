"""The look of figures: seaborn's theme, without the import of seaborn in every job that draws."""

import matplotlib as mpl
import pytest
import seaborn as sns
from matplotlib.colors import to_rgb

from genverify.report.figures import INK, PALETTE, THEME, use_style

OURS = (
    "edgecolor",
    "labelcolor",
    "labelsize",
    "titlesize",
    "grid.",
    "text.color",
    "tick.color",
    "legend.fontsize",
    "axes.linewidth",
)


def test_the_theme_is_that_of_seaborn_but_for_what_the_style_says_itself() -> None:
    with mpl.rc_context():
        mpl.rcdefaults()
        use_style()
        ours = dict(mpl.rcParams)
        mpl.rcdefaults()
        mpl.use("agg")
        sns.set_theme(context="paper", style="whitegrid", palette=PALETTE, font="DejaVu Sans")
        theirs = dict(mpl.rcParams)
    # a palette of colours for areas, which no figure leaves to the theme
    own = {"image.cmap", "axes.prop_cycle", "svg.hashsalt", "pdf.fonttype", "figure.dpi", "savefig.dpi"}
    differ = {name for name in theirs if ours[name] != theirs[name]} - own
    assert {name for name in differ if not any(part in name for part in OURS)} == set()
    assert not differ & set(THEME)
    assert [to_rgb(one["color"]) for one in ours["axes.prop_cycle"]] == [one["color"] for one in theirs["axes.prop_cycle"]]
    assert ours["text.color"] == INK


@pytest.mark.parametrize("name", ["font.size", "lines.linewidth", "xtick.major.size"])
def test_sizes_are_those_of_paper(name: str) -> None:
    assert THEME[name] == sns.plotting_context("paper").get(name, THEME[name])
