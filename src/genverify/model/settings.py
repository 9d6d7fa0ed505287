"""Settings: closed models, how one is laid over another, and those of a release, of the attack and of the explorer."""

from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, Self, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, model_serializer

from genverify.model.errors import ConfigError, nearest

# What every section of the settings is made of: closed models, and how one is laid over another.

Name = str
Count = Annotated[int, Field(ge=1)]
Decimals = Annotated[int, Field(ge=0, le=9)]
PrivacyLoss = Annotated[float, Field(gt=0, le=700)]


class Section(BaseModel):
    """Settings that belong together; unknown keys are errors, defaults stand in config.yaml."""

    # a validator is made when its section is first read: a job reads two or three of all that its imports name
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    def but(self, **changes: Any) -> Self:
        """The same settings but for these, checked again."""
        return type(self)(**{**dict(self), **changes})


class SparseSection(Section):
    """A section in which what has its default is not said: what jobs get stays the same when it has one more setting."""

    @model_serializer(mode="wrap")
    def _said(self, plain: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        fields = type(self).model_fields
        return {name: value for name, value in plain(self).items() if value != fields[name].default}


KINDS = ("int", "str", "constrained")


def merge(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """The base with the change laid over it, mapping by mapping."""
    merged = dict(base)
    for key, value in change.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged


def over_default(text: Any, default: str, named: str, model: type[Section]) -> Any:
    """Settings in which each of `named` is a change to the section `default`, with the changes laid over it."""
    if not isinstance(text, Mapping) or not isinstance(text.get(named), Mapping):
        return text
    return {**text, named: {name: lay_over(text.get(default), change, model) for name, change in text[named].items()}}


def lay_over(base: Any, change: Any, model: type[Section]) -> Any:
    """What a section knows of the base with the change over it; a change that is no mapping stays, to be refused later."""
    if not isinstance(base, Mapping) or not isinstance(change, Mapping):
        return change
    return merge({key: value for key, value in base.items() if key in model.model_fields}, change)


S = TypeVar("S", bound=Section)


def validate(model: type[S], text: Mapping[str, Any], where: str) -> S:
    """The text as a closed model; an error that begins with `where` and names every setting that is wrong."""
    try:
        return model.model_validate(text)
    except ValidationError as error:
        problems = dict.fromkeys(_explain(model, problem) for problem in error.errors())
        raise ConfigError(f"{where}: " + "; ".join(problems)) from None


def validate_part(model: type[S], text: Mapping[str, Any], where: str) -> S:
    """Those settings of a section that the text names, checked; it is an error to ask the result for another one."""
    named: Any = {name: (field.annotation, field) for name, field in model.model_fields.items() if name in text}
    part = create_model(model.__name__, __base__=Section, **named)
    return cast(S, model.model_construct(**dict(validate(part, text, where))))


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
    here: Any = model
    for part in path[:-1]:
        here = here.model_fields[part].annotation if _is_section(here) else get_args(here)[1]
        if isinstance(here, UnionType) or get_origin(here) is list:
            here = next((kind for kind in get_args(here) if _is_section(kind)), here)
    return list(here.model_fields) if _is_section(here) else []


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


# Settings of a release: what is published.


class ReleaseSettings(SparseSection):
    tables_file: str
    universe: str
    tables: Literal["all"] | list[str]
    groups: dict[str, list[int] | None]
    structural_zeros: bool
    withhold: list[Annotated[int, Field(ge=0, le=1_000_000)]]
    without: list[str] = []
    round: Annotated[int, Field(ge=2, le=1_000_000)] | None = None
    suppress: Annotated[int, Field(ge=2, le=1_000_000)] | None = None


Method = Literal["walk", "exact"]


class Generate(Section):
    datasets: int = Field(ge=1)
    method: Method


class Verify(Section):
    min_k: int = Field(ge=1)


DATASETS = 100  # datasets that are generated per release, as config.yaml has it, for work that is started without it


class Explorer(Section):
    variant: str
    phrases: str | None
    places: str
    show_households: bool
    certificates: bool
    likely: int = Field(ge=0)
    blocks_per_piece: int = Field(ge=1)
