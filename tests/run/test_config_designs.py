"""Designs in the configuration: sampled ones, every block of a state, and those that are left out."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from genverify.model.errors import ConfigError
from genverify.model.settings import merge
from genverify.run.config import parse_config

EXAMPLES = sorted((Path(__file__).parents[2] / "config" / "examples").glob("*.yaml"))


def with_sample(config: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return merge(config, {"sample": changes})


@pytest.mark.parametrize("states", ["all", ["13"], ["01", "56"]])
def test_every_block_of_some_states(config: dict[str, Any], states: Any) -> None:
    study = parse_config(with_sample(config, all_blocks={"here": {"states": states, "up_to": 20}}))
    assert study.sample.model_dump()["all_blocks"] == {"here": {"states": states, "up_to": 20}}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_shipped_files_are_right(config: dict[str, Any], path: Path) -> None:
    study = parse_config(merge(config, yaml.safe_load(path.read_text())))
    assert study != parse_config(config), "the file changes something"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"all_blocks": {"here": {"states": [], "up_to": 2}}}, "sample.all_blocks.here.states"),
        ({"all_blocks": {"here": {"states": [13], "up_to": 2}}}, "sample.all_blocks.here.states"),
        ({"all_blocks": {"here": {"states": "all", "up_to": 0}}}, "setting sample.all_blocks.here.up_to = 0"),
        ({"all_blocks": {"here": {"states": "all", "up_too": 2}}}, "up_too: did you mean up_to?"),
        ({"all_blocks": {"state_median": {"states": "all", "up_to": 2}}}, "both hold 'state_median': give one another name"),
        ({"all_blocks": {"a/b": {"states": "all", "up_to": 2}}}, "'a/b' cannot be a name"),
        ({"designs": {"state_median": None, "country_median": None}}, "hold no design: name at least one"),
    ],
)
def test_a_wrong_design_is_named(config: dict[str, Any], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(with_sample(config, **changes))
    assert message in str(error.value)
