"""The configuration as read: named variants laid over the settings, every one checked before the first job."""

import re
from collections.abc import Mapping
from copy import deepcopy
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from genverify.core.closed import Section, merge, validate
from genverify.core.errors import ConfigError, nearest
from genverify.core.files import read_yaml
from genverify.run import layout
from genverify.run.registry import registered, studies
from genverify.run.settings import Config, Variant, config_model

# folders of results/ that belong to no study and to no variant
FOLDERS = ("tables", "benchmark", "disclosure", "explorer", "crate", "nz")
NAME = re.compile(r"[A-Za-z0-9]\w{0,63}", re.ASCII)  # becomes part of paths
VARIABLE_SECTIONS = ("release", "program", "generate", "verify")


def config_files(folder: Path) -> list[Path]:
    """The files of the shipped configuration: config.yaml on top, and every one in config/ itself."""
    return [folder / layout.SETTINGS, *sorted((folder / layout.PARTS).glob("*.yaml"))]


def read_shipped(folder: Path) -> dict[str, Any]:
    """The shipped configuration as it stands in its files."""
    nothing: dict[str, Any] = {}
    return reduce(merge, map(read_yaml, config_files(folder)), nothing)


def typed(text: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """
    What `--config 'tracts={"batches": 2}'` told, with its numbers. Snakemake leaves all within braces a text: one that
    the setting refuses as a text is read as YAML has it. A text in a file of settings stays what it is.
    """
    found = deepcopy(dict(told))
    try:
        Config.model_validate(text)
    except ValidationError as error:
        for problem in error.errors():
            here: Any = found
            for part in problem["loc"]:  # with parts for the kinds that a setting can have, which are no keys
                inside = here.get(part) if isinstance(here, dict) else None
                if isinstance(here, list) and isinstance(part, int) and part < len(here):
                    inside = here[part]
                if isinstance(inside, str) and inside == problem["input"]:
                    here[part] = yaml.safe_load(inside)
                here = inside if isinstance(inside, dict | list) else here
    return found


def parse_config(text: Mapping[str, Any]) -> Config:
    """The checked configuration, every variant included."""
    config = validate(config_model(), text, str(layout.SETTINGS))
    for name in config.variants:
        variant_settings(config, name)
    if "paper" not in config.variants:
        raise ConfigError("config.yaml: variants must hold `paper`, the study that the others are compared with")
    for check in registered("settings_check"):
        check(config)
    if config.explorer.variant not in config.variants:
        known = nearest(config.explorer.variant, list(config.variants))
        raise ConfigError(f"config.yaml: explorer.variant is {config.explorer.variant!r}, which is no variant: {known}")
    _check_names(config)
    return config


def _check_names(config: Config) -> None:
    """What becomes part of paths can, and names no folder of results/ that is taken."""
    reserved = sorted([*FOLDERS, *(folder for study in studies() for folder in study.folders)])
    for name in chain(config.variants, config.releases, *(names(config) for names in registered("names"))):
        if not NAME.fullmatch(name) or name.casefold() in reserved:
            raise ConfigError(
                f"config.yaml: {name!r} cannot be a name, which becomes part of paths: "
                f"use letters, digits and _, 64 at most, and none of {', '.join(reserved)}, which name folders of results/"
            )


def variant_settings(config: Config, name: str) -> Variant:
    """The settings of a variant: the sections of config.yaml with the variant's overrides."""
    if name not in config.variants:
        raise ConfigError(f"config.yaml has no variant {name!r}: {nearest(name, list(config.variants))}")
    base = {section: getattr(config, section).model_dump() for section in VARIABLE_SECTIONS}
    change = config.variants[name] or {}
    for section in change:
        if section not in base:
            raise ConfigError(
                f"config.yaml: variants.{name} cannot change {section!r}: {nearest(section, list(VARIABLE_SECTIONS))}"
            )
    return validate(Variant, merge(base, change), f"config.yaml: variants.{name}")


def settings_of(config: Config, section: str, variant: str | None) -> Any:
    """A section (or a part, as `benchmark.speed`) as plain values, with a variant's overrides where it may change it."""
    whole = variant_settings(config, variant) if variant and section in VARIABLE_SECTIONS else config
    return _plain(reduce(getattr, section.split("."), whole))


def _plain(found: Any) -> Any:
    """Sections as mappings, also those of a mapping of names."""
    if isinstance(found, dict):
        return {name: _plain(value) for name, value in found.items()}
    return found.model_dump() if isinstance(found, Section) else found
