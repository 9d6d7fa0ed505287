"""The files that a job should name: its rule's inputs and outputs, compared with its record."""

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from string import Formatter
from typing import Any

from pydantic import BaseModel

from genverify.run.provenance.records import AuditError, Record, normal, rerun
from genverify.run.provenance.stages import Named, Stages
from genverify.run.settings import Config

RECORD = "record"
WRAPPERS = ("shown", "report", "directory", "touch")  # of Snakemake and of the stage files: the path comes first
STUDY = "STUDY"


class Unknown(Exception):
    """An expression that is not evaluated here, because it calls a function of a stage file."""


def check_files(record: Record, stages: Stages, config: Config) -> list[str]:
    """
    The names and paths of a record are those of its rule: none renamed, none left out, none added.

    Returns the inputs whose paths a function of the stage files gives: only their names are compared.
    """
    rule, values = stages.rules[record.rule], _Values(stages.values, config)
    open_ = []
    for part, named in (("inputs", rule.inputs), ("outputs", _without_record(rule.outputs))):
        _check_names(record, part, named)
        for name, value in named.items():
            try:
                wanted = {normal(_filled(path, record)) for path in values.paths(value)}
            except Unknown:
                open_.append(f"{record.rule}.{name}")
                continue
            _check_paths(record, part, name, wanted)
    _check_names(record, "params", rule.params)
    return open_


def _without_record(outputs: Named) -> dict[str, ast.expr]:
    return {name: value for name, value in outputs.items() if name != RECORD}


def _check_names(record: Record, part: str, wanted: Iterable[str]) -> None:
    for name in sorted(set(record.text[part]) ^ set(wanted)):
        problem = (
            f"does not name the {part} {name}" if name in wanted else f"names {part} {name}, which the rule does not have"
        )
        raise AuditError(f"{record.path}: {problem} (rule {record.rule}). {rerun(record.target)}")


def _check_paths(record: Record, part: str, name: str, wanted: set[str]) -> None:
    found = set(record.named(part, name))
    if part == "outputs":  # the record of a folder names the files in it too
        found = {path for path in found if path in wanted or not any(path.startswith(f"{one}{os.sep}") for one in wanted)}
    for path in sorted(found ^ wanted):
        problem = "is not named in it" if path in wanted else "is none of them"
        raise AuditError(
            f"{record.path}: the {part} {name} are not those of the rule {record.rule}: {path} {problem}. "
            f"{rerun(record.target)}"
        )


def _filled(path: str, record: Record) -> str:
    """A path of the stage file with the wildcards of the job."""
    names = {name for _, name, _, _ in Formatter().parse(path) if name is not None}
    missing = sorted(names - set(record.wildcards))
    if missing:
        raise AuditError(f"{record.path}: does not name the wildcard {missing[0]} of {path}. {rerun(record.target)}")
    return path.format(**record.wildcards)


@dataclass(frozen=True)
class _Values:
    """Values of expressions of the stage files: constants, settings, lists and `expand`; nothing is executed."""

    named: Named
    config: Config

    def paths(self, node: ast.expr) -> list[str]:
        """The paths that an input or output stands for."""
        found = self.value(node)
        if found is None:
            raise Unknown
        paths = [found] if isinstance(found, str) else list(found)
        if not all(isinstance(path, str) for path in paths):
            raise Unknown
        return paths

    def value(self, node: ast.expr, local: Mapping[str, Any] | None = None) -> Any:
        known: dict[type, Callable[[Any, Mapping[str, Any]], Any]] = {
            ast.Constant: lambda node, local: node.value, ast.Name: self._name, ast.Attribute: self._setting,
            ast.JoinedStr: self._text, ast.List: self._list, ast.ListComp: self._comprehension, ast.BoolOp: self._or,
            ast.Call: self._call,
        }  # fmt: skip
        if type(node) not in known:
            raise Unknown
        return known[type(node)](node, local or {})

    def _name(self, node: ast.Name, local: Mapping[str, Any]) -> Any:
        if node.id == STUDY:
            return self.config
        if node.id in local:
            return local[node.id]
        if node.id not in self.named:
            raise Unknown
        return self.value(self.named[node.id])

    def _setting(self, node: ast.Attribute, local: Mapping[str, Any]) -> Any:
        holder = self.value(node.value, local)
        if not isinstance(holder, BaseModel) or node.attr not in type(holder).model_fields:
            raise Unknown
        return getattr(holder, node.attr)

    def _text(self, node: ast.JoinedStr, local: Mapping[str, Any]) -> str:
        return "".join(self._part(part, local) for part in node.values)

    def _part(self, node: ast.expr, local: Mapping[str, Any]) -> str:
        if isinstance(node, ast.FormattedValue) and node.conversion == -1:
            form = self._text(node.format_spec, local) if isinstance(node.format_spec, ast.JoinedStr) else ""
            return format(self.value(node.value, local), form)
        return str(self.value(node, local))

    def _list(self, node: ast.List, local: Mapping[str, Any]) -> list[Any]:
        starred = [(part.value, True) if isinstance(part, ast.Starred) else (part, False) for part in node.elts]
        return [one for part, many in starred for one in (self.value(part, local) if many else [self.value(part, local)])]

    def _comprehension(self, node: ast.ListComp, local: Mapping[str, Any]) -> list[Any]:
        loop = node.generators[0]
        if len(node.generators) > 1 or loop.ifs or not isinstance(loop.target, ast.Name):
            raise Unknown
        name = loop.target.id
        return [self.value(node.elt, {**local, name: one}) for one in self.value(loop.iter, local)]

    def _or(self, node: ast.BoolOp, local: Mapping[str, Any]) -> Any:
        if not isinstance(node.op, ast.Or):
            raise Unknown
        first, *others = (self.value(part, local) for part in node.values)
        return next((value for value in (first, *others) if value), others[-1])

    def _call(self, node: ast.Call, local: Mapping[str, Any]) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in WRAPPERS:
            return self.value(node.args[0], local)
        if name not in ("expand", "sorted", "list", "range") or len(node.args) != 1:
            raise Unknown
        given = self.value(node.args[0], local)
        if name == "expand":
            lists = {keyword.arg: self.value(keyword.value, local) for keyword in node.keywords if keyword.arg}
            return list(_expanded(given, lists))
        return sorted(given) if name == "sorted" else list(range(given) if name == "range" else given)


def _expanded(pattern: str, lists: Mapping[str, Any]) -> Iterator[str]:
    """
    The paths that Snakemake's `expand` makes of a pattern.

    >>> list(_expanded("{{variant}}/{batch}.csv", {"batch": ["000", "001"]}))
    ['{variant}/000.csv', '{variant}/001.csv']
    """
    for chosen in product(*([one] if isinstance(one, str) else one for one in lists.values())):
        yield pattern.format(**dict(zip(lists, chosen, strict=True)))
