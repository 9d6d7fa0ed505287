"""Percentages with one decimal that add up to 100."""

from studies.housing.households import percentages


def test_what_rounding_leaves_over_goes_to_the_largest() -> None:
    assert percentages([1, 1, 1]) == [33.4, 33.3, 33.3]
