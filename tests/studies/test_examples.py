"""Small functions of the studies, each by an example that can be worked out by hand."""

from fractions import Fraction
from math import exp, inf

import numpy as np

from expected_readings import column_at, lines
from studies.cellbounds.tables import solutions
from studies.country.plan import in_words as time_in_words
from studies.country.sample import block_seconds
from studies.disclosure.area_tables import _rounding_chances, rounded_ends
from studies.gtv.benchmarks import CLASSES, FINISHED, Measurement, named
from studies.gtv.figures import spread_blocks
from studies.gtv.protected_attack import TargetRanges, half_width
from studies.gtv.tracts import _largest, in_words
from studies.gtv.withheld_zeros import _families
from studies.housing.households import Distribution, _split, percentages
from studies.housing.joint_program import Prior
from studies.housing.variability import spread
from studies.mechanisms.matrix_mechanism import _base_tables
from studies.mechanisms.randomized_response import one_sided_losses
from studies.raprank.rap.relaxed import _roomy, room_for


def test_cell_bounds_and_rounded_counts() -> None:
    assert (solutions([20, 10, 25, 35], 40), solutions([20, 11, 25, 35], 44)) == (3, 1)
    assert (rounded_ends(0, 3), rounded_ends(6, 3)) == ((0, 2), (4, 8))
    chances = _rounding_chances(3, 3)
    assert (chances.start, chances.weights.round(2).tolist()) == (1, [0.33, 0.67, 1.0, 0.67, 0.33])
    assert (lines("3 7-9"), lines(4), lines("B D-F", column_at)) == ({3, 7, 8, 9}, {4}, {1, 3, 4, 5})


def test_the_country() -> None:
    assert [time_in_words(seconds) for seconds in (42, 600, 7300)] == ["42 s", "10 min", "2.0 h"]
    assert [round(block_seconds(n), 3) for n in (1, 10, 100)] == [0.021, 0.025, 0.105]


def test_generate_then_verify() -> None:
    assert [named(class_) for class_ in CLASSES[-2:]] == ["151-400", "over 400"]
    assert spread_blocks(["d", "a", "c", "b"], 2) == ["a", "c"]
    assert Measurement({"claims": 3}, seconds=1.5, ended=FINISHED).finished
    assert not Measurement().finished
    assert TargetRanges(np.array([2, 0]), np.array([2, 1])).errors(np.array([0, 1])).tolist() == [4, 0]
    assert (half_width(Fraction(1), 1, 0.95), half_width(Fraction(1), 600, 0.95)) == (2, 4)
    assert _largest([(0,), (1,), (0, 2), (1, 2), (0, 1)]) == [(0, 1), (0, 2), (1, 2)]
    assert in_words("synthetic_persons", "years") == "synthetic persons, age in years"
    assert _families({"P16", "P16A", "H3"}) == {"H3": "H3", "P16": "P16*", "P16A": "P16*"}


def test_subsidized_housing() -> None:
    assert Distribution.of({3: 5.0, 4: 0.0}).draw(2, np.random.default_rng(1)).tolist() == [3, 3]
    assert _split([60, 40], singles=0.5) == ([100.0], [20.0, 80.0])
    assert percentages([1, 1, 1]) == [33.4, 33.3, 33.3]
    assert Prior("01", np.array([[1, 0, 1], [2, 0, 1]]), np.array([3, 1])).cost.tolist() == [2877, 13863]
    assert (spread("abcdefg", 3), spread("ab", 3)) == (["a", "d", "f"], ["a", "b"])


def test_mechanisms_and_rankings() -> None:
    assert _base_tables(["P16", "P16A", "H3"]) == {"P16": "P16", "P16A": "P16", "H3": "H3"}
    assert [round(exp(loss), 12) for loss in one_sided_losses(0.5, 0.8)] == [2.25, 6.0]
    assert one_sided_losses(0.5, 1.0)[1] == inf
    assert [_roomy(n) for n in (1, 7, 9, 10, 13, 17, 621, 1000)] == [1, 7, 10, 10, 14, 20, 640, 1024]
    assert [room_for(rows) for rows in (3, 9, 13, 100, 500, 600, 1647)] == [8, 12, 16, 128, 512, 640, 1792]
