"""Which setting each parameter of a rule comes from, as the stage files say: `min_k=setting("verify")`."""

import ast
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from genverify.core.errors import GenverifyError
from genverify.run.config import settings_of
from genverify.run.provenance.records import AuditError, Record
from genverify.run.provenance.stages import Named, Stages
from genverify.run.registry import load, named, params
from genverify.run.settings import Config

CODE = "code"
Wildcards = Mapping[str, str]
Source = tuple[str, Callable[[Config, Wildcards], Any]]  # what the setting is called, and its value for a job
Sections = Mapping[str, Mapping[str, Source]]
UNKNOWN = (GenverifyError, AttributeError, KeyError)  # a variant, experiment or section that the settings no longer have


def read_sections(stages: Stages) -> Sections:
    """For every rule, the part of config.yaml behind each of its parameters."""
    return {name: dict(_sources(rule.params)) for name, rule in stages.rules.items()}


def _sources(given: Named) -> Iterator[tuple[str, Source]]:
    for name, value in given.items():
        match value:
            case ast.Call(func=ast.Name("setting"), args=[ast.Constant(str(section))]):
                yield name, (section, partial(_section, section))
            case ast.Call(func=ast.Name(called), args=parts) if (kind := called.removesuffix("_part")) in named("parts"):
                yield (
                    name,
                    (kind, partial(_part, kind, [str(part.value) for part in parts if isinstance(part, ast.Constant)])),
                )
            case ast.Call(func=ast.Attribute(ast.Name("STUDY"), "model_dump")):
                yield name, ("all", lambda config, wildcards: config.model_dump())
            case ast.Name(called) if called in params():
                yield name, (params()[called].setting, load(params()[called].value))


def _section(section: str, config: Config, wildcards: Wildcards) -> Any:
    return settings_of(config, section, wildcards.get("variant"))


def _part(kind: str, names: Iterable[str], config: Config, wildcards: Wildcards) -> dict[str, Any]:
    """Some settings of the experiment, the condition or the protection that the job is about."""
    settings = load(named("parts")[kind])(config, wildcards[kind]).model_dump()
    return {name: settings[name] for name in names}


def check_settings(record: Record, sections: Sections, config: Config) -> None:
    """The settings that a job ran with are those that it would get now."""
    if record.rule not in sections:
        raise AuditError(
            f"{record.target}: made by the rule {record.rule}, which no stage file has any more; so its settings cannot be "
            "checked. Delete it, or bring the rule back."
        )
    try:
        found = next(changed_settings(sections[record.rule], record.params, record.wildcards, config), None)
    except UNKNOWN as error:
        reason = str(error).rstrip(".")
        raise AuditError(
            f"{record.target}: its settings cannot be checked ({reason}). Delete it, or run it again."
        ) from None
    if found:
        place, was, is_ = found
        raise AuditError(
            f"{record.target}: made with {place} = {was}, but config.yaml says {is_}. Run Snakemake again (snakemake "
            f"{record.target}), or put the setting back; a file given to Snakemake with --configfile is given here too."
        )


def changed_settings(
    sources: Mapping[str, Source], params: Mapping[str, Any], wildcards: Wildcards, config: Config
) -> Iterator[tuple[str, Any, Any]]:
    """Every setting of a job that would be another one now: its full name, what it was, what it is."""
    for name, (called, value) in sources.items():
        now = json.loads(json.dumps(value(config, wildcards)))
        yield from _differences(called, params.get(name), now)


def unchecked(record: Record, sections: Sections) -> list[str]:
    """Parameters that are not compared with config.yaml."""
    return [name for name in record.params if name != CODE and name not in sections[record.rule]]


def _differences(place: str, was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """Every setting that differs, by its full name."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*now, *was]):
            yield from _differences(f"{place}.{key}", was.get(key, "nothing"), now.get(key, "nothing"))
    elif was != now or type(was) is not type(now):
        yield place, was, now
