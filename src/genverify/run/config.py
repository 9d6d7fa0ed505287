"""The configuration as read: named variants laid over the settings, every one checked before the first job."""

import argparse
import json
import re
import sys
from collections.abc import Mapping
from copy import deepcopy
from functools import cache, reduce
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import yaml
from pydantic import Field, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from genverify.model.domain import read_domain
from genverify.model.errors import ConfigError, nearest, refuse_unknown
from genverify.model.files import read_yaml
from genverify.model.release import Schema, build_schema, naming_table_file
from genverify.model.settings import Explorer, Generate, Name, ReleaseSettings, Section, Verify, merge, validate
from genverify.run import layout
from genverify.run.layout import load
from genverify.run.registry import named, registered, studies
from genverify.solve.program_settings import ProgramSettings

# What many studies publish, each built once: variants and experiments share most of it.


class Studies:
    """Files and schemas by their paths and settings, as long as this lives: files may change between two checks."""

    def __init__(self) -> None:
        self.domain, self._tables = cache(read_domain), cache(read_yaml)
        self._known: dict[tuple[Path, str], Schema] = {}

    def read(self, domain: Path, settings: ReleaseSettings) -> Schema:
        asked = domain, settings.but(withhold=[], round=None, suppress=None).model_dump_json()  # the same lines
        if asked not in self._known:
            tables = Path(settings.tables_file)
            with naming_table_file(tables):
                self._known[asked] = build_schema(self.domain(domain), self._tables(tables), settings)
        return self._known[asked]


# The settings of a study: a closed model of config.yaml, put together from those of the library and of every study.

S = TypeVar("S", bound=Section)
BENCHMARK = "benchmark"


class Benchmark(Section):
    """The settings of benchmarks: every study adds its own."""


class Variant(Section):
    """The sections that a variant can change, after its overrides; its seed is that of the generated datasets."""

    seed: Annotated[int, Field(ge=0, lt=2**64)]
    release: ReleaseSettings
    program: ProgramSettings
    generate: Generate
    verify: Verify


class Config(Variant):
    """The settings of the library; `config_model` has those of the studies besides."""

    explorer: Explorer
    benchmark: Benchmark
    releases: dict[Name, str]
    variants: dict[Name, dict[str, Any] | None] = Field(min_length=1)


@cache
def config_model() -> type[Config]:
    models = {name: load(model) for name, model in named("settings").items()}
    parts = {name.partition(".")[2]: model for name, model in models.items() if name.startswith(f"{BENCHMARK}.")}
    sections = {name: model for name, model in models.items() if "." not in name}
    return _extended(Config, {**sections, BENCHMARK: _extended(Benchmark, parts)})


def _extended(base: type[S], sections: Mapping[str, type[Section]]) -> type[S]:
    """A model with more sections, under the name of the one that it extends."""
    fields: dict[str, Any] = {name: (model, ...) for name, model in sections.items()}
    return cast(type[S], create_model(base.__name__, __base__=base, **fields))


def section(config: Config, model: type[S]) -> S:
    return next(value for value in dict(config).values() if type(value) is model)


# folders of results/ that belong to no study and to no variant
FOLDERS = ("tables", "benchmark", "explorer", "crate", "compare")
NAME = re.compile(r"[A-Za-z0-9]\w{0,63}", re.ASCII)  # becomes part of paths
VARIABLE_SECTIONS = tuple(Variant.model_fields)


def config_files(folder: Path) -> list[Path]:
    """config.yaml on top (or config/config.yaml, as snakedeploy lays it out), every file of config/, and study.yaml."""
    top, deployed = folder / layout.SETTINGS, folder / layout.PARTS / layout.SETTINGS
    parts = [path for path in sorted((folder / layout.PARTS).glob("*.yaml")) if path != deployed]
    return [top if top.exists() else deployed, *parts, *filter(Path.exists, [folder / layout.OF_STUDY])]


def read_shipped(folder: Path) -> dict[str, Any]:
    nothing: dict[str, Any] = {}
    return reduce(merge, map(read_yaml, config_files(folder)), nothing)


def complete(settings: dict[str, Any], told: Mapping[str, Any]) -> Config:
    """The study of these settings, checked, after the files of this folder completed them; `told`: by `--config`."""
    whole = merge(read_shipped(Path()), settings)
    settings |= merge(whole, typed(whole, {name: value for name, value in told.items() if name in whole}))
    check_study(config := parse_config(settings))
    return config


def run_folder(name: object, directory: Path | None) -> Path | None:
    """The folder of the study that `--config study=name` names, if it names one; `directory`: what --directory says."""
    if name is None:
        return None
    if directory or not NAME.fullmatch(str(name)):
        raise ConfigError(f"--config study={name}: give a name of letters, digits and _, and no --directory besides")
    return layout.start_run(str(name))


def typed(text: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """What `--config 'tracts={"batches": 2}'` told: a text within braces is read as YAML if the setting refuses it."""
    result = deepcopy(dict(told))
    try:
        config_model().model_validate(text)
    except ValidationError as error:
        for problem in error.errors():
            here: Any = result
            for part in problem["loc"]:  # with parts for the kinds that a setting can have, which are no keys
                inside = here.get(part) if isinstance(here, dict) else None
                if isinstance(here, list) and isinstance(part, int) and part < len(here):
                    inside = here[part]
                if isinstance(inside, str) and inside == problem["input"]:
                    here[part] = yaml.safe_load(inside)
                here = inside if isinstance(inside, dict | list) else here
    return result


def parse_config(text: Mapping[str, Any]) -> Config:
    config = validate(config_model(), text, str(layout.SETTINGS))
    for name in config.variants:
        variant_settings(config, name)
    if "paper" not in config.variants:
        raise ConfigError("config.yaml: variants must hold `paper`, the study that the others are compared with")
    for check in registered("settings_check"):
        check(config)
    if config.explorer.variant not in config.variants:
        known = nearest(config.explorer.variant, list(config.variants))
        raise ConfigError(f"config.yaml: explorer.variant is {config.explorer.variant!r}, which is not a variant: {known}")
    for name in chain(config.variants, config.releases, *(names(config) for names in registered("names"))):
        check_name(name)
    return config


def check_name(name: str) -> None:
    """What becomes part of paths can, and names no folder of results/ that is taken."""
    reserved = sorted([*FOLDERS, *(folder for study in studies() for folder in study.folders)])
    if not NAME.fullmatch(name) or name.casefold() in reserved:
        advice = f"use letters, digits and _, 64 at most, and none of {', '.join(reserved)}, which name folders of results/"
        raise ConfigError(f"config.yaml: {name!r} cannot be a name, which becomes part of paths: {advice}")


def variant_settings(config: Config, name: str) -> Variant:
    """The settings of a variant: the sections of config.yaml with the variant's overrides."""
    refuse_unknown(name, config.variants, f"config.yaml has no variant {name!r}", ConfigError)
    base = {section: _plain(getattr(config, section)) for section in VARIABLE_SECTIONS}
    change = config.variants[name] or {}
    for section in change:
        if section not in base:
            shared = "all variants share it (a study of its own: --config study=NAME); " * hasattr(config, section)
            known = nearest(section, list(VARIABLE_SECTIONS))
            raise ConfigError(f"config.yaml: variants.{name} cannot change {section!r}: {shared}{known}")
    return validate(Variant, merge(base, change), f"config.yaml: variants.{name}")


def settings_of(config: Config, section: str, variant: str | None) -> Any:
    """A section (or a part, as `benchmark.speed`) as plain values, with a variant's overrides where it may change it."""
    whole = variant_settings(config, variant) if variant and section in VARIABLE_SECTIONS else config
    return _plain(reduce(getattr, section.split("."), whole))


def _plain(result: Any) -> Any:
    """Sections as mappings, also those of a mapping of names."""
    if isinstance(result, dict):
        return {name: _plain(value) for name, value in result.items()}
    return result.model_dump() if isinstance(result, Section) else result


# Checks of a whole study before its first job.


def can_be_made(config: Config, result: str) -> bool:
    return all(possible(config, result) for possible in registered("possible"))


def check_study(config: Config) -> None:
    """Everything that the settings name exists: universes, and the tables and groups of every variant."""
    studies = Studies()
    for check in registered("files_check"):
        check(config, studies)


# The JSON schema of files of settings, from the closed models: editors complete keys with it, and mark a misspelt one.

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _PartOfSettings(GenerateJsonSchema):
    """Without titles, which only repeat the names of the settings; each file holds some, and the others complete it."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def field_is_required(self, field: Any, total: bool) -> bool:
        return False


def config_schema() -> dict[str, Any]:
    """
    What may stand in a file of settings. No setting is required.

    >>> sorted(config_schema()["properties"]["seed"])
    ['exclusiveMaximum', 'minimum', 'type']
    """
    models: Any = [(config_model(), "validation"), (Variant, "validation")]
    sections = models_json_schema(models, schema_generator=_PartOfSettings)[1]["$defs"]
    # changes that are checked once they are laid over what they change
    sections["Config"]["properties"]["variants"]["additionalProperties"]["anyOf"][0] = {"$ref": "#/$defs/Variant"}
    for name in ("AnyExperiment", "Experiment"):
        sections[name]["properties"]["rap"] = {"$ref": "#/$defs/RapSettings"}
    whole = sections.pop("Config") | {"title": "Settings of genverify"}
    return {"$schema": DIALECT, **whole, "$defs": sections}


def write_schema(options: argparse.Namespace) -> None:
    text = json.dumps(config_schema(), indent=1) + "\n"
    (options.out.write_text if options.out else sys.stdout.write)(text)
