"""The JSON schema of files of settings, from the closed models: editors complete keys with it, and mark a misspelt one."""

import argparse
import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from genverify.run.settings import Variant, config_model

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Untitled(GenerateJsonSchema):
    """Without titles, which only repeat the names of the settings."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def config_schema() -> dict[str, Any]:
    """
    What may stand in a file of settings. No setting is required: each file holds some, and the others complete it.

    >>> sorted(config_schema()["properties"]["seed"])
    ['exclusiveMaximum', 'minimum', 'type']
    """
    models: Any = [(config_model(), "validation"), (Variant, "validation")]
    sections = models_json_schema(models, schema_generator=_Untitled)[1]["$defs"]
    # changes that are checked once they are laid over what they change
    sections["Config"]["properties"]["variants"]["additionalProperties"]["anyOf"][0] = {"$ref": "#/$defs/Variant"}
    for name in ("AnyExperiment", "Experiment"):
        sections[name]["properties"]["rap"] = {"$ref": "#/$defs/RapSettings"}
    whole = sections.pop("Config") | {"title": "Settings of genverify"}
    found: dict[str, Any] = _partial({"$schema": DIALECT, **whole, "$defs": sections})
    return found


def _partial(schema: Any) -> Any:
    """The schema without its lists of required settings."""
    if isinstance(schema, list):
        return [_partial(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _partial(value) for key, value in schema.items() if key != "required" or not isinstance(value, list)}


def schema_text() -> str:
    return json.dumps(config_schema(), indent=1) + "\n"


def add_parser(commands: Any) -> None:
    """Add `config-schema` to the commands."""
    parser = commands.add_parser("config-schema", help="print the JSON schema of files of settings, for editors")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there, e.g. config/schema.json")
    parser.set_defaults(run=_write, prints="json")


def _write(options: argparse.Namespace) -> None:
    if options.out:
        options.out.write_text(schema_text())
    else:
        print(schema_text(), end="")
