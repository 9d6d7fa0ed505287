"""The settings of a study: a closed model of config.yaml, put together from those of the library and of every study."""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import Field, create_model

from genverify.attack.settings import Generate, Verify
from genverify.core.closed import Name, Section
from genverify.core.settings import ReleaseSettings
from genverify.disclosure.areas.spec import AreaSettings
from genverify.disclosure.settings import DisclosureBenchmark
from genverify.run.registry import load, named
from genverify.show.explorer.settings import Explorer
from genverify.solve.settings import ProgramSettings

S = TypeVar("S", bound=Section)
BENCHMARK = "benchmark"


class Benchmark(Section):
    audits: DisclosureBenchmark


class Config(Section):
    """The settings of the library; `config_model` has those of the studies besides."""

    seed: int = Field(ge=0, lt=2**64)
    release: ReleaseSettings
    program: ProgramSettings
    generate: Generate
    verify: Verify
    nz: AreaSettings
    explorer: Explorer
    benchmark: Benchmark
    releases: dict[Name, str]
    variants: dict[Name, dict[str, Any] | None] = Field(min_length=1)


class Variant(Section):
    """The sections that a variant can change, after its overrides."""

    release: ReleaseSettings
    program: ProgramSettings
    generate: Generate
    verify: Verify


@cache
def config_model() -> type[Config]:
    """The closed model of the whole configuration."""
    models = {name: load(model) for name, model in named("settings").items()}
    parts = {name.partition(".")[2]: model for name, model in models.items() if name.startswith(f"{BENCHMARK}.")}
    sections = {name: model for name, model in models.items() if "." not in name}
    return _extended(Config, {**sections, BENCHMARK: _extended(Benchmark, parts)})


def _extended(base: type[S], sections: Mapping[str, type[Section]]) -> type[S]:
    """A model with more sections, under the name of the one that it extends."""
    fields: dict[str, Any] = {name: (model, ...) for name, model in sections.items()}
    return cast(type[S], create_model(base.__name__, __base__=base, **fields))


def section(config: Config, model: type[S]) -> S:
    """The section of a study, by its model."""
    return next(value for value in dict(config).values() if type(value) is model)
