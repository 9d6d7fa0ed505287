"""The configuration: a closed model, named variants as overrides, every one checked before the first job."""

from collections.abc import Mapping
from functools import reduce
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from genverify.errors import ConfigError, nearest

Name = str
KINDS = ("int", "str", "constrained")
RESERVED = ("microdata", "sample", "tables", "benchmark", "ppmf", "releases", "explorer")
VARIABLE_SECTIONS = ("release", "program", "generate", "verify")


class Section(BaseModel):
    """Settings that belong together; unknown keys are errors, defaults stand in config.yaml."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Synthetic(Section):
    country: str
    households: int = Field(ge=1000)
    homogeneity: float = Field(ge=0, le=3)


class Ppmf(Section):
    units: str | None


class Microdata(Section):
    source: Literal["synthetic", "ppmf"]
    domain: str
    synthetic: Synthetic
    ppmf: Ppmf


class Design(Section):
    size: Literal["state_median", "country_median"] | Annotated[int, Field(ge=1)]
    blocks_per_state: int = Field(ge=1)


class Sample(Section):
    universe: str
    designs: dict[Name, Design] = Field(min_length=1)
    batches: int = Field(ge=1)


class ReleaseSettings(Section):
    tables_file: str
    universe: str
    tables: Literal["all"] | list[str]
    groups: dict[str, list[int] | None]
    structural_zeros: bool
    withhold: list[Annotated[int, Field(ge=0)]]


class ProgramSection(Section):
    formulation: Literal["compact", "onehot"]
    solver: Literal["highs", "gurobi"]
    max_types: int = Field(ge=1)
    iterations: int = Field(ge=1)
    nodes: int = Field(ge=1)
    leaves: int = Field(ge=1)
    seconds: float = Field(gt=0)


class Generate(Section):
    datasets: int = Field(ge=1)


class Verify(Section):
    min_k: int = Field(ge=1)


class IngestBenchmark(Section):
    rows: int = Field(ge=1)


class SpeedBenchmark(Section):
    blocks: int = Field(ge=1)
    claims: int = Field(ge=1)
    datasets: int = Field(ge=1)
    seconds: float = Field(gt=0)


class ScalingBenchmark(Section):
    households: list[int] = Field(min_length=1)
    repeats: int = Field(ge=1)
    seconds: float = Field(gt=0)
    memory_mb: int = Field(ge=256)


class Benchmark(Section):
    ingest: IngestBenchmark
    speed: SpeedBenchmark
    scaling: ScalingBenchmark


class Config(Section):
    seed: int = Field(ge=0)
    microdata: Microdata
    sample: Sample
    release: ReleaseSettings
    program: ProgramSection
    generate: Generate
    verify: Verify
    benchmark: Benchmark
    variants: dict[Name, dict[str, Any] | None] = Field(min_length=1)


class Variant(Section):
    """The sections that a variant can change, after its overrides."""

    release: ReleaseSettings
    program: ProgramSection
    generate: Generate
    verify: Verify


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
    config = _validate(Config, text, "config.yaml")
    for name in config.variants:
        variant_settings(config, name)
    if "paper" not in config.variants:
        raise ConfigError("config.yaml: variants must hold `paper`, the study that the others are compared with")
    for name in (*config.variants, *config.sample.designs):
        if not (name.isascii() and name.replace("_", "").isalnum()) or name in RESERVED:
            raise ConfigError(
                f"config.yaml: {name!r} cannot name a variant or a design: use letters, digits and _, and none of "
                f"{', '.join(RESERVED)}, which name folders of results/"
            )
    if config.microdata.source == "ppmf" and not config.microdata.ppmf.units:
        raise ConfigError("config.yaml: microdata.source is ppmf, so microdata.ppmf.units must give the path of the file")
    return config


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
    return _validate(Variant, merge(base, change), f"config.yaml: variants.{name}")


def settings_of(config: Config, section: str, variant: str | None) -> Any:
    """A section (or a part, as `benchmark.speed`) as plain values, with a variant's overrides where it may change it."""
    whole = variant_settings(config, variant) if variant and section in VARIABLE_SECTIONS else config
    found = reduce(getattr, section.split("."), whole)
    return found.model_dump() if isinstance(found, Section) else found


S = TypeVar("S", bound=Section)


def _validate(model: type[S], text: Mapping[str, Any], where: str) -> S:
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
    fields = model.model_fields
    for part in path[:-1]:
        inner = fields[part].annotation if part in fields else None
        if isinstance(inner, type) and issubclass(inner, Section):
            fields = inner.model_fields
        elif part in fields:
            fields = Design.model_fields
    return list(fields)
