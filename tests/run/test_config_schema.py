"""The JSON schema of the settings, tried with a validator that shares no code with the closed models."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from genverify.cli import main
from genverify.model.errors import ConfigError
from genverify.model.files import read_yaml
from genverify.model.settings import merge
from genverify.run.config import check_study, config_files, config_schema, parse_config

Text = dict[str, Any]
ROOT = Path(__file__).parents[2]
FILES = [*config_files(ROOT), *sorted((ROOT / "config" / "examples").glob("*.yaml"))]


@pytest.fixture(scope="module")
def validator(root: Path) -> jsonschema.Draft202012Validator:
    stored = json.loads((root / "config" / "schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(stored)
    return jsonschema.Draft202012Validator(stored)


def test_the_stored_schema_is_that_of_the_models(root: Path) -> None:
    assert json.loads((root / "config" / "schema.json").read_text()) == config_schema(), (
        "python -m genverify config-schema --out config/schema.json"
    )


def test_the_command_prints_or_writes_it(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = (root / "config" / "schema.json").read_text()
    assert main(["config-schema"]) == 0
    assert capsys.readouterr().out == stored
    assert main(["config-schema", "--out", str(tmp_path / "schema.json")]) == 0
    assert (tmp_path / "schema.json").read_text() == stored


def test_the_merged_configuration_is_valid_and_as_resolved_too(
    validator: jsonschema.Draft202012Validator, config: Text
) -> None:
    validator.validate(config)
    validator.validate(parse_config(config).model_dump())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_shipped_file_is_valid_by_itself(validator: jsonschema.Draft202012Validator, path: Path) -> None:
    validator.validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_editor_finds_the_schema(path: Path) -> None:
    first = path.read_text().splitlines()[0]
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert named != first
    assert (path.parent / named).resolve() == ROOT / "config" / "schema.json"


@pytest.mark.parametrize(
    "change",
    [
        {"sead": 2},
        {"sample": {"batch": 2}},
        {"sample": {"designs": {"state_median": {"sice": 3}}}},
        {"variants": {"odd": {"relase": {}}}},
        {"variants": {"odd": {"release": {"withold": [1]}}}},
        {"housing": {"condition": {"swop": 0.1}}},
        {"housing": {"conditions": {"odd": {"swop": 0.1}}}},
        {"raprank": {"experiments": {"blocks": {"run": 3}}}},
        {"raprank": {"experiments": {"blocks": {"rap": {"stepps": 3}}}}},
        {"protected": {"protections": {"odd": {"noise": {"roh": 1.0, "rho": 1.0}}}}},
        {"benchmark": {"speed": {"block": 3}}},
        {"seed": -1},
        {"seed": "one"},
        {"program": {"solver": "cplex"}},
        {"housing": {"conditions": {"none": {"swap": 2.0}}}},
        {"release": None},
    ],
    ids=str,
)
def test_what_the_models_refuse_the_schema_refuses_too(
    validator: jsonschema.Draft202012Validator, config: Text, change: Text, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    for text in (change, merge(config, change)):
        assert not validator.is_valid(text)
    with pytest.raises(ConfigError):
        check_study(parse_config(merge(config, change)))


def test_a_file_may_hold_any_part(validator: jsonschema.Draft202012Validator, root: Path) -> None:
    for text in ({}, {"seed": 2}, {"housing": {"conditions": {"swapped_30": {"swap": 0.3}}}}, {"variants": {"same": None}}):
        validator.validate(text)
    parts = [read_yaml(path) for path in config_files(root)]
    assert set().union(*parts) == set(config_schema()["properties"])
