"""Which setting each parameter of a rule comes from, as the stage files say: `min_k=setting("verify")`."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from genverify.config import settings_of
from genverify.errors import GenverifyError
from genverify.provenance.records import AuditError, Record
from genverify.settings import Config

RULE = re.compile(r"^(?:rule|checkpoint) (\w+):\n((?:[ \t]+.*\n|\n)+)", re.MULTILINE)
SETTING = re.compile(r"^\s+(\w+)=setting\(\s*\"([\w.]+)\"\s*\)", re.MULTILINE)
STUDY = re.compile(r"^\s+(\w+)=STUDY\.model_dump\(\)", re.MULTILINE)
CODE, WHOLE = "code", "all"
Sections = Mapping[str, Mapping[str, str]]


def read_sections(stages: Iterable[Path]) -> Sections:
    """For every rule, the section of config.yaml behind each of its parameters."""
    found = {}
    for path in stages:
        for rule, body in RULE.findall(path.read_text() + "\n"):
            found[rule] = {**dict(SETTING.findall(body)), **dict.fromkeys(STUDY.findall(body), WHOLE)}
    return found


def check_settings(record: Record, sections: Sections, config: Config) -> None:
    """The settings that a job ran with are those that it would get now."""
    if record.rule not in sections:
        raise AuditError(
            f"{record.target}: made by the rule {record.rule}, which no stage file has any more; so its settings cannot be "
            "checked. Delete it, or bring the rule back."
        )
    for name, section in sections[record.rule].items():
        now = _setting(config, section, record)
        for place, was, is_ in _differences(section, record.params.get(name), json.loads(json.dumps(now))):
            raise AuditError(
                f"{record.target}: made with {place} = {was}, but config.yaml says {is_}. Run Snakemake again (snakemake "
                f"{record.target}), or put the setting back; a file given to Snakemake with --configfile is given here too."
            )


def _setting(config: Config, section: str, record: Record) -> Any:
    if section == WHOLE:
        return config.model_dump()
    try:
        return settings_of(config, section, record.wildcards.get("variant"))
    except (GenverifyError, AttributeError) as error:
        said = str(error).rstrip(".")
        raise AuditError(f"{record.target}: its settings cannot be checked ({said}). Delete it, or run it again.") from None


def unchecked(record: Record, sections: Sections) -> list[str]:
    """Parameters that do not come from config.yaml."""
    return [name for name in record.params if name != CODE and name not in sections[record.rule]]


def _differences(place: str, was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """Every setting that differs, by its full name."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*now, *was]):
            yield from _differences(f"{place}.{key}", was.get(key, "nothing"), now.get(key, "nothing"))
    elif was != now or type(was) is not type(now):
        yield place, was, now
