"""The configuration as read: named variants laid over the settings, every one checked before the first job."""

import re
from collections.abc import Mapping
from functools import reduce
from itertools import chain
from types import UnionType
from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from genverify.core.closed import Section
from genverify.core.errors import ConfigError, nearest
from genverify.run.settings import Config, Variant

KINDS = ("int", "str", "constrained")
FOLDERS = (
    "microdata sample tables benchmark ppmf releases explorer persons persons_trial raprank crate housing privacy protected"
)
RESERVED = tuple(FOLDERS.split())
NAME = re.compile(r"[A-Za-z0-9]\w{0,63}", re.ASCII)  # becomes part of paths
VARIABLE_SECTIONS = ("release", "program", "generate", "verify")


def merge(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """
    The base with the change laid over it, mapping by mapping.

    >>> merge({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})
    {'a': {'b': 3, 'c': 2}}
    """
    merged = dict(base)
    for key, value in change.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged


def parse_config(text: Mapping[str, Any]) -> Config:
    """The checked configuration, every variant included."""
    config = validate(Config, text, "config.yaml")
    for name in config.variants:
        variant_settings(config, name)
    if "paper" not in config.variants:
        raise ConfigError("config.yaml: variants must hold `paper`, the study that the others are compared with")
    _check_designs(config)
    _check_protections(config)
    if config.explorer.variant not in config.variants:
        known = nearest(config.explorer.variant, list(config.variants))
        raise ConfigError(f"config.yaml: explorer.variant is {config.explorer.variant!r}, which is no variant: {known}")
    named = (config.variants, config.sample.designs, config.sample.all_blocks, config.releases, config.protected.protections)
    for name in chain(*named):
        if not NAME.fullmatch(name) or name.casefold() in RESERVED:
            raise ConfigError(
                f"config.yaml: {name!r} cannot name a variant, a design, a release or a protection: use letters, digits "
                f"and _, 64 at most, and none of {', '.join(RESERVED)}, which name folders of results/"
            )
    if config.microdata.source == "ppmf" and not config.microdata.ppmf.units:
        raise ConfigError("config.yaml: microdata.source is ppmf, so microdata.ppmf.units must give the path of the file")
    if bool(config.housing.picture) != bool(config.housing.sf1):
        raise ConfigError("config.yaml: housing.picture and housing.sf1 describe the same blocks: give both files, or none")
    return config


def _check_designs(config: Config) -> None:
    """At least one design, and no name for two."""
    designs, whole = config.sample.designs, config.sample.all_blocks
    if not [one for one in (*designs.values(), *whole.values()) if one is not None]:
        raise ConfigError("config.yaml: sample.designs and sample.all_blocks hold no design: name at least one")
    twice = sorted(designs.keys() & whole.keys())
    if twice:
        raise ConfigError(f"config.yaml: sample.designs and sample.all_blocks both hold {twice[0]!r}: give one another name")


def _check_protections(config: Config) -> None:
    """Intervals have a confidence, and microdata none."""
    for name, protection in config.protected.protections.items():
        noise = protection.noise
        if noise and (noise.publish == "intervals") != (noise.confidence is not None):
            remedy = "give one, for instance 0.95" if noise.publish == "intervals" else "set it to null"
            raise ConfigError(
                f"config.yaml: protected.protections.{name}: noise.publish is {noise.publish} and noise.confidence "
                f"{noise.confidence}: {remedy}"
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


S = TypeVar("S", bound=Section)


def validate(model: type[S], text: Mapping[str, Any], where: str) -> S:
    """The text as a closed model; an error that begins with `where` and names every setting that is wrong."""
    try:
        return model.model_validate(text)
    except ValidationError as error:
        problems = dict.fromkeys(_explain(model, problem) for problem in error.errors())
        raise ConfigError(f"{where}: " + "; ".join(problems)) from None


def _explain(model: type[Section], problem: Any) -> str:
    """One problem in words, with the setting that was probably meant."""
    path = [str(part) for part in problem["loc"] if str(part).isidentifier() and part not in KINDS]
    name = ".".join(path)
    if problem["type"] == "extra_forbidden":
        return f"unknown setting {name}: {nearest(path[-1], _siblings(model, path))}"
    if problem["type"] == "missing":
        return f"setting {name} is missing"
    return f"setting {name} = {problem['input']!r}: {problem['msg'].lower()}"


def _siblings(model: type[Section], path: list[str]) -> list[str]:
    """The settings that stand beside the last part of a path."""
    here: Any = model
    for part in path[:-1]:
        here = here.model_fields[part].annotation if _is_section(here) else get_args(here)[1]
        here = next((kind for kind in get_args(here) if _is_section(kind)), here) if isinstance(here, UnionType) else here
    return list(here.model_fields) if _is_section(here) else []


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)
