"""The stage files as text: which inputs, outputs and parameters each rule names. They are parsed, and never run."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from genverify.run.provenance.records import AuditError

RULE = re.compile(r"^(?:rule|checkpoint) (\w+):\n((?:[ \t]+.*\n|\n)+)", re.MULTILINE)
SECTION = re.compile(r"^ {4}(input|output|params):\n((?: {8}.*\n|\n)+)", re.MULTILINE)
DIRECTIVE = re.compile(r"^\w+(?: \w+)?:(?:.*\n)(?:(?:[ \t]+.*)?\n)*", re.MULTILINE)
PYTHON = re.compile(r"^(?:try|except\b.*|else|finally|for\b.*|if\b.*|def\b.*|class\b.*|with\b.*):", re.MULTILINE)
Named = Mapping[str, ast.expr]


@dataclass(frozen=True)
class Rule:
    """What a rule names, each value as the expression that the stage file has for it."""

    inputs: Named
    outputs: Named
    params: Named


@dataclass(frozen=True)
class Stages:
    """The rules of the stage files, and the values that the files give to names, each assigned once."""

    rules: Mapping[str, Rule]
    values: Named


def read_stages(paths: Iterable[Path]) -> Stages:
    """All rules and named values of some stage files."""
    rules: dict[str, Rule] = {}
    assigned: list[tuple[str, ast.expr | None]] = []
    for path in paths:
        text = path.read_text() + "\n"
        try:
            rules |= {name: _rule(body) for name, body in RULE.findall(text)}
            assigned += _assigned(text)
        except SyntaxError as error:
            raise AuditError(f"{path}: cannot be read ({error.msg}, near {error.text!r}). Format it: snakefmt.") from None
    times = Counter(name for name, _ in assigned)
    return Stages(rules, {name: value for name, value in assigned if value is not None and times[name] == 1})


def _rule(body: str) -> Rule:
    sections = {name: _named(text) for name, text in SECTION.findall(body)}
    return Rule(*(sections.get(name, {}) for name in ("input", "output", "params")))


def _named(text: str) -> dict[str, ast.expr]:
    """The named values of a section, which is written like the arguments of a call."""
    call = ast.parse(f"f(\n{text})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def _assigned(text: str) -> list[tuple[str, ast.expr | None]]:
    """Every name that is given a value, and the value where it is `NAME = value` at the beginning of a line."""
    module = ast.parse(DIRECTIVE.sub(lambda found: found[0] if PYTHON.match(found[0]) else "", text))
    values = {id(target): node.value for node in module.body if isinstance(node, ast.Assign) for target in node.targets}
    return [(node.id, values.get(id(node))) for node in ast.walk(module)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]  # fmt: skip
