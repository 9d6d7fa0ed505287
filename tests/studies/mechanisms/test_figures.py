"""Figures of privacy against accuracy: what they draw, and nothing outside the page."""

import numpy as np
import pandas as pd
import pytest

from drawn import cut_off
from genverify.model.domain import Column, Domain, Predicate
from genverify.model.query import Query
from studies.mechanisms.figures import plot_matrix_mechanism, plot_rr_frontier, plot_zeros_removed
from studies.mechanisms.matrix_mechanism import Workload, compare_strategies, query_errors, strategies
from studies.mechanisms.randomized_response import simulated_frontier
from studies.mechanisms.settings import RandomizedResponse
from studies.mechanisms.zeros import summarise_left


def test_the_frontier_draws_every_simulated_point() -> None:
    settings = RandomizedResponse(proportions=[0.05, 0.3, 0.5], populations=[100, 1000, 10000], epsilons=[0.5, 1.0, 5.0],
                                  mu=0.5, simulations=100)  # fmt: skip
    rows = simulated_frontier(settings, 1)
    figure = plot_rr_frontier(rows, "synthetic")
    assert not cut_off(figure)
    right = figure.axes[1]
    points = [line for line in right.lines if line.get_marker() in "os^"]
    drawn = sorted(np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in points]))
    accuracy = rows.loc[rows["quantity"] == "accuracy", "simulated"]
    assert drawn == pytest.approx(sorted(100 * np.sqrt(-accuracy)))
    assert [text.get_text() for text in right.texts] == ["N = 100", "N = 1,000", "N = 10,000"]


def test_the_strategies_are_drawn_by_privacy_loss_and_by_table() -> None:
    domain = Domain(tuple(Column(name, "", (1, 2, 3), ("",) * 3) for name in "AB"))
    wheres = [{"A": [1]}, {"B": [2]}, {"A": [1], "B": [3]}, {"A": []}]
    queries = [Query(f"P{place}.x", f"P{place}", "", Predicate.of(where)) for place, where in enumerate(wheres)]
    work = Workload(domain, tuple(query.predicate for query in queries))
    found = strategies(work)
    numbers = compare_strategies(found, [0.1, 1.0, 10.0], query_errors(found, queries, work.sizes, 1.0))
    figure = plot_matrix_mechanism(numbers, "no data")
    assert [text.get_text() for text in figure.texts] == ["no data"]
    assert not cut_off(figure)
    left, right = figure.axes
    assert [label.get_text() for label in right.get_yticklabels()] == ["P0 (1)", "P1 (1)", "P2 (1)"]
    assert len(left.lines) == len(right.lines) == len(found)
    assert list(left.lines[0].get_ydata()) == pytest.approx([np.sqrt(-found[0].accuracy(e) / 4)
                                                             for e in (0.1, 1.0, 10.0)])  # fmt: skip


def test_zeros_are_drawn_on_a_log_axis_with_the_whole_domain() -> None:
    blocks = pd.DataFrame({"block": list("abc"), "n": [1, 10, 100], "published": [10, 500, 5000], "implied": [1, 50, 1000],
                           "structural": [1, 20, 200]})  # fmt: skip
    sample = pd.DataFrame({"block": ["a"], "design": ["small"]})
    figure = plot_zeros_removed(summarise_left(blocks, sample, 1_185_408), 108_864, "synthetic microdata")
    assert not cut_off(figure)
    axes = figure.axes[0]
    assert axes.get_yscale() == "log"
    assert axes.lines[0].get_label() == "the whole domain: 1,185,408 record types"
    assert [list(np.asarray(line.get_ydata())) for line in axes.lines[2:]] == [[10, 500, 5000], [1, 50, 1000], [1, 20, 200]]
