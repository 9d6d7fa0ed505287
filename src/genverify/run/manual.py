"""Reference pages: commands from their parsers, settings from their schema, the Python interface from docstrings."""

import argparse
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from genverify.run.shell import EXIT_CODES, leaves

WIDTH = 84


def commands_page(parser: argparse.ArgumentParser) -> str:
    """Every command with what its --help says."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    lines = ["# Commands", "", "What `--help` says of each command. [What they have in common](../shell.md).", ""]
    for one in leaves(commands):
        one.formatter_class = _wide(one.formatter_class)
        lines += [f"## {one.prog.removeprefix(parser.prog).strip()}", "", "```text", one.format_help().rstrip(), "```", ""]
    codes = [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    return "\n".join([*lines, "## Exit codes", "", "| code | meaning |", "| --- | --- |", *codes, ""])


def _wide(form: Any) -> Any:
    """The same form of help in a width that does not depend on the terminal."""
    return lambda prog: form(prog, width=WIDTH)


def settings_page(schema: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """Every section of the settings with its keys, their kinds and limits, and the values that are shipped."""
    about = "What `config.yaml` and the files of `config/` may hold, from `config/schema.json`, with the shipped values."
    lines = ["# Settings", "", f"{about} `snakemake --configfile mine.yaml` lays a file over them.", ""]
    plain: list[str] = []
    sections: list[str] = []
    for name, form in schema["properties"].items():
        found = _resolved(form, schema)
        value = values.get(name)
        if "properties" in found:
            sections += ["", f"## {name}", "", *_described(found), "| key | kind | shipped |", "| --- | --- | --- |"]
            sections += list(_rows(name, found, schema, value if isinstance(value, Mapping) else {}))
        else:
            plain.append(f"| `{name}` | {_kind(form, schema)} | {_value(value)} |")
    return "\n".join([*lines, "| key | kind | shipped |", "| --- | --- | --- |", *plain, *sections, ""])


def _rows(prefix: str, form: Mapping[str, Any], schema: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[str]:
    for name, own in form["properties"].items():
        found, value = _resolved(own, schema), values.get(name)
        if "properties" in found and isinstance(value, Mapping):
            yield from _rows(f"{prefix}.{name}", found, schema, value)
        else:
            yield f"| `{prefix}.{name}` | {_kind(own, schema)} | {_value(value)} |"


def _described(form: Mapping[str, Any]) -> list[str]:
    text = " ".join(str(form.get("description", "")).split())
    return [text, ""] if text else []


def _resolved(form: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in form:
        found: Mapping[str, Any] = schema["$defs"][form["$ref"].rpartition("/")[2]]
        return found
    return form


def _kind(form: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """
    A kind of value in words.

    >>> _kind({"type": "integer", "minimum": 1}, {}), _kind({"enum": ["highs", "gurobi"]}, {})
    ('integer, from 1', '`highs` or `gurobi`')
    """
    form = _resolved(form, schema)
    if "enum" in form or "const" in form:
        return " or ".join(f"`{one}`" for one in form.get("enum", [form.get("const")]))
    if "anyOf" in form:
        return " or ".join(dict.fromkeys(_kind(one, schema) for one in form["anyOf"]))
    if form.get("type") == "array":
        return f"list of {_kind(form.get('items', {}), schema)}"
    if "properties" in form:
        return "section"
    if form.get("type") == "object":
        return f"names, each with {_kind(form.get('additionalProperties') or {}, schema)}"
    limits = {"minimum": "from {}", "exclusiveMinimum": "above {}", "maximum": "to {}", "exclusiveMaximum": "below {}"}
    said = [words.format(form[name]) for name, words in limits.items() if name in form]
    return ", ".join([{"null": "nothing"}.get(str(form.get("type")), str(form.get("type", "any value"))), *said])


def _value(value: Any) -> str:
    text = " ".join(str(value).split()).replace("|", "\\|")
    return "" if value is None else f"`{text}`" if len(text) <= 60 else f"`{text[:57]}...`"


def python_page(module: Any) -> str:
    """The front door: every name with its signature and docstring."""
    lines = ["# Python", "", "`import genverify as gv`; each name is loaded when it is used.", "", *_doc(module), ""]
    for name in module.__all__:
        own = getattr(module, name)
        lines += [f"## {name}", "", "```python", f"gv.{name}{_signature(own)}", "```", "", *_doc(own), ""]
        lines += list(_members(own)) if inspect.isclass(own) else []
    return "\n".join(lines)


def _members(own: type) -> Iterator[str]:
    """The public methods and properties of a class that say what they do."""
    for name, member in vars(own).items():
        text = inspect.getdoc(member) if not name.startswith("_") else None
        if text and (callable(member) or hasattr(member, "__get__")):
            yield from [f"**`.{name}`** {' '.join(text.partition('>>>')[0].split())}", ""]


def _signature(own: Any) -> str:
    return re.sub(r"(?:\w+\.)+(\w+)", r"\1", str(inspect.signature(own))) if callable(own) else ""


def _doc(own: Any) -> list[str]:
    """A docstring as Markdown: examples as code, the rest as text."""
    lines: list[str] = []
    inside = False
    for line in (inspect.getdoc(own) or "").splitlines():
        if line.startswith(">>>") and not inside:
            lines, inside = [*lines, "```pycon"], True
        elif inside and not line.strip():
            lines, inside = [*lines, "```"], False
        lines.append(line)
    return [*lines, "```"] if inside else lines
