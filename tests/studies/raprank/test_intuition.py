"""Equations 3 and 4 on tiny domains."""

import numpy as np
import pytest

from genverify.solve.counting.prior import uniform
from studies.raprank.tables import _tiny_schema, equations, skewed


@pytest.mark.parametrize("tables", [[[0], [1]], [[0, 1]], [[0]]])
def test_both_sides_of_the_argument_are_equal(tables: list[list[int]]) -> None:
    schema = _tiny_schema([2, 3], tables)
    for prior in (uniform(schema.domain), skewed(schema, 3)):
        found = equations(schema, 3, prior)
        assert len(found) == 6
        assert found["x"].to_numpy() == pytest.approx(found["y"].to_numpy(), rel=1e-9)
        assert found["x"].between(0, 1).all()


def test_a_release_that_says_all_leaves_the_prior_of_a_row() -> None:
    """Where the tables give the dataset away, both draws are the dataset: the chance that a row is in it."""
    schema = _tiny_schema([2, 2], [[0, 1]])
    found = equations(schema, 2, uniform(schema.domain))
    assert found["x"].to_numpy() == pytest.approx(np.full(4, 1 - (3 / 4) ** 2))
