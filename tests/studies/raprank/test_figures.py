"""Bands that are told apart without colours, a legend that shows them once, and what stands at the foot of a figure."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from studies.raprank.figures import HATCHES, LINES, plot_curves, plot_states
from studies.raprank.rank import HOLDOUT, X, started

PANELS = [LINES.keys() - {started(HOLDOUT), "2-way", "3-way"}, {started(HOLDOUT), HOLDOUT}, {"2-way", "3-way", HOLDOUT}]
STROKES = {"+": "|-", "x": "/\\"}  # marks that two others make when they lie on each other
TASKS = ", ".join(f"synthetic persons, task {task}" for task in ("coverage", "employment", "mobility"))


def marks(source: str) -> set[str]:
    hatch = HATCHES[list(LINES).index(source)]
    return {stroke for mark in hatch for stroke in STROKES.get(mark, mark)}


@pytest.mark.parametrize("panel", PANELS, ids=len)
def test_no_band_looks_like_another_nor_like_two_on_each_other(panel: set[str]) -> None:
    for first, second in combinations(sorted(panel), 2):
        assert marks(first) != marks(second)
        for third in panel - {first, second}:
            both = marks(first) | marks(second)
            assert both in (marks(first), marks(second)) or both != marks(third)


def means() -> pd.DataFrame:
    grid = np.arange(1, 6) / 5
    shape = {X: grid, "match_rate": 0.5, "low": 0.4, "high": 0.6, "areas": 2, "size": "areas", "state": "06"}
    sources = [("one", started("random")), ("one", "county"), ("one", HOLDOUT), ("two", started("random"))]
    return pd.concat([pd.DataFrame({"panel": panel, "source": source, **shape}) for panel, source in sources])


def test_the_legend_has_every_source_once_with_its_band() -> None:
    [legend] = plot_curves(means(), "made-up numbers").legends
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["RAP-RANK, random start", "holdout half of the area", "county"]
    assert len(legend.findobj(Patch)) - 1 == len(words)  # and the frame of the legend
    assert {HATCHES[list(LINES).index("county")]} < {patch.get_hatch() for patch in legend.findobj(Patch)}
    assert len(legend.findobj(Line2D)) == len(words)


@pytest.mark.parametrize(("label", "foot"), [
    (TASKS, "synthetic persons, tasks coverage, employment, mobility"),
    ("synthetic persons, task coverage", "synthetic persons, task coverage"),
    (f"synthetic microdata, {TASKS}", f"synthetic microdata, {TASKS}"),
    ("synthetic microdata", "synthetic microdata"),
])  # fmt: skip
def test_tasks_of_one_survey_are_named_once(label: str, foot: str) -> None:
    assert plot_curves(means(), label).texts[-1].get_text().endswith(f"; {foot}")


@pytest.mark.parametrize("columns", [1, 5])
def test_words_of_the_grids_have_at_least_seven_points_and_lie_on_the_page(columns: int) -> None:
    states = pd.concat([means().assign(state=f"{state:02d}") for state in range(columns)])
    figure = plot_states(states, TASKS, {"00": "District of Columbia", "01": "South Carolina"})
    figure.draw_without_rendering()
    assert len(figure.legends) == 1
    panels = [axes for part in figure.subfigs for axes in part.axes]
    texts = [text for axes in panels for text in [axes.title, *axes.get_xticklabels(), *axes.get_yticklabels()]]
    assert all(text.get_fontsize() >= 7 for text in [*texts, *figure.legends[0].get_texts()])
    assert "District of Columbia (2)" in {axes.get_title() for axes in panels}
    (left, _), (right, _) = figure.bbox.min, figure.bbox.max
    for text, side in product(figure.texts, "01"):
        edge = text.get_window_extent().get_points()[int(side), 0]
        assert left <= edge <= right
