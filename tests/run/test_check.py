"""Which figures and tables the settings of a study allow."""

from pathlib import Path
from typing import Any

import pytest

from genverify.model.settings import merge
from genverify.run.config import can_be_made, parse_config, read_shipped

ROOT = Path(__file__).parents[2]
NO_STATE = {"sample": {"designs": {"state_median": None}}}
NO_COUNTRY = {"sample": {"designs": {"country_median": None}}}
REAL = {"microdata": {"source": "ppmf", "ppmf": {"units": "units.csv"}}}


@pytest.mark.parametrize(
    ("change", "left_out"),
    [({}, set()), (NO_STATE, {"fig2"}), (NO_COUNTRY, {"table5"}), (REAL, {"fig1", "table1"})],
)
def test_what_the_settings_allow(change: dict[str, Any], left_out: set[str]) -> None:
    config = parse_config(merge(read_shipped(ROOT), change))
    names = ("fig1", "fig2", "fig3", "table1", "table2", "table5", "numbers")
    assert {name for name in names if not can_be_made(config, name)} == left_out
