"""
Job records as they lie beside the results, and what each should say: its rule's inputs, outputs, parameters and versions.
"""

import ast
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from string import Formatter
from typing import Any

from pydantic import BaseModel

from genverify.model.errors import DataError, GenverifyError
from genverify.model.files import read_json
from genverify.run.config import Config, settings_of
from genverify.run.registry import load, named, params

# Where a study keeps what an audit looks at; the paths come from the caller.


@dataclass(frozen=True)
class Layout:
    """The folders that only the workflow writes, those of figures and tables among them, and the files that made them."""

    made: Sequence[str]
    shown: Sequence[Path]
    sources: Path
    lock: Path
    scripts: Path
    stages: Sequence[Path]
    costs: Path = Path()  # which rules take long, and which never give the same bytes


# Job records as they lie beside the results: read, checked for form, and found by what they say they wrote.

ENDING = "record.json"
DIGEST = re.compile(r"[0-9a-f]{64}")
Digests = dict[str, str]
KEYS: dict[str, type | tuple[type, ...]] = {
    "record": str, "rule": str, "wildcards": dict, "params": dict, "code": dict, "lock": dict, "inputs": dict,
    "outputs": dict, "lists": dict, "versions": dict, "git": dict, "started": str, "seconds": (int, float),
}  # fmt: skip


class AuditError(GenverifyError):
    """A file is not what the records say; names it, and what to do next."""


@contextmanager
def reading_tables(where: str | Path) -> Iterator[None]:
    """Tables that were altered may lack any column or hold any kind of value: that is an error of theirs, not a crash."""
    try:
        yield
    except (KeyError, IndexError, ValueError, TypeError, AttributeError, OSError) as error:
        raise AuditError(f"{where}: not of the form that its job writes ({error!r}). {rerun(str(where))}") from None


@dataclass(frozen=True)
class Record:
    """What a job reported of itself: `inputs` and `outputs` by name, then by path, as SHA-256."""

    path: str
    text: Mapping[str, Any]

    @property
    def rule(self) -> str:
        return str(self.text["rule"])

    @property
    def wildcards(self) -> Mapping[str, str]:
        return dict(self.text["wildcards"])

    @property
    def params(self) -> Mapping[str, Any]:
        return dict(self.text["params"])

    @cached_property
    def code(self) -> Digests:
        return {normal(path): value for path, value in self.text["code"].items()}

    @cached_property
    def lock(self) -> Digests:
        return {normal(path): value for path, value in self.text["lock"].items()}

    @cached_property
    def inputs(self) -> Digests:
        return _flat(self.text["inputs"])

    @cached_property
    def outputs(self) -> Digests:
        return _flat(self.text["outputs"])

    def named(self, part: str, name: str) -> list[str]:
        """The paths of the inputs or outputs of one name."""
        return [normal(path) for path in self.text[part].get(name, {})]

    @property
    def seconds(self) -> float:
        """How long the job took, by its own word."""
        return float(self.text["seconds"])

    def arguments(self, part: str) -> dict[str, Any]:
        """The inputs or outputs as the script got them: a path for each name, or a list of paths in its order."""
        lists = self.text["lists"][part]
        return {name: lists.get(name, min(files, key=len, default="")) for name, files in self.text[part].items()}

    @property
    def target(self) -> str:
        """An output that Snakemake can be asked for."""
        return next(iter(self.outputs), self.path)

    def target_of(self, output: str) -> str:
        """What to ask Snakemake for to get an output: the file itself, or the folder that was written with it inside."""
        return next((other for other in self.outputs if output.startswith(f"{other}{os.sep}")), output)


def normal(path: str | Path) -> str:
    """
    A path as seen from the current folder, without detours; links are not followed.

    >>> normal("figures/../figures/fig3.pdf")
    'figures/fig3.pdf'
    """
    here, whole = os.getcwd(), os.path.abspath(path)
    return os.path.relpath(whole, here) if whole.startswith(here + os.sep) else whole


def _flat(named: Mapping[str, Mapping[str, str]]) -> Digests:
    return {normal(path): value for files in named.values() for path, value in files.items()}


def read_record(path: Path) -> Record:
    """A job record; whatever is not one is refused."""
    try:
        text = read_json(path)
        _check_form(text)
    except (DataError, ValueError) as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise AuditError(f"{path}: not a job record ({reason}). Delete it, then run Snakemake again.") from None
    record = Record(normal(path), text)
    for output in record.outputs:
        if os.path.isabs(output):
            raise AuditError(f"{path}: says that {output} was written, which lies outside this folder. Delete the record, "
                             "then run Snakemake again.")  # fmt: skip
    return record


def _check_form(text: Mapping[str, Any]) -> None:
    for key, kind in KEYS.items():
        if not isinstance(text.get(key), kind):
            raise ValueError(f"{key!r} is missing or of the wrong kind")
    for key in ("wildcards", "versions"):
        if not all(isinstance(value, str) for value in text[key].values()):
            raise ValueError(f"{key!r} holds other values than texts")
    if not isinstance(text["git"].get("commit"), str | None) or not isinstance(text["git"].get("dirty"), bool | None):
        raise ValueError("'git' names no commit, or does not say whether files differ from it")
    groups = [text["code"], text["lock"], *text["inputs"].values(), *text["outputs"].values()]
    for files in groups:
        if not isinstance(files, dict) or not all(isinstance(d, str) and DIGEST.fullmatch(d) for d in files.values()):
            raise ValueError("digests are missing or are no SHA-256")
    lists = [text["lists"].get(part) for part in ("inputs", "outputs")]
    given = [paths for one in lists for paths in (one.values() if isinstance(one, dict) else [None])]
    if not all(isinstance(paths, list) and all(isinstance(path, str) for path in paths) for paths in given):
        raise ValueError("'lists' does not say which names stand for lists of files, and in which order")


@dataclass(frozen=True)
class Records:
    """All records of a study: who wrote a file, and which records lie where they do not belong."""

    made: tuple[str, ...]
    writers: Mapping[str, tuple[Record, ...]]
    misplaced: Mapping[str, str]

    def is_made(self, path: str) -> bool:
        """Whether a file lies where only the workflow writes."""
        return path.split(os.sep)[0] in self.made

    def writer(self, path: str) -> Record:
        """The one record that says it wrote a file."""
        found = self.writers.get(path, ())
        if len(found) == 1:
            return found[0]
        if found:
            both = " and ".join(record.path for record in found[:2])
            raise AuditError(f"{path}: both {both} say that they wrote it. Delete the one that is out of date.")
        beside = [record for record in self.misplaced if os.path.dirname(record) == os.path.dirname(path)]
        hint = f" ({beside[0]} lies there, but it is the record {self.misplaced[beside[0]]})" if beside else ""
        raise AuditError(f"{path}: no job record says how it was made{hint}. {rerun(path)}")


def find_records(made: Iterable[str]) -> Records:
    """Every record in the folders that the workflow writes."""
    folders = tuple(made)
    writers: dict[str, tuple[Record, ...]] = {}
    misplaced: dict[str, str] = {}
    for path in sorted(path for folder in folders for path in Path(folder).rglob(f"*{ENDING}")):
        record = read_record(path)
        if normal(record.text["record"]) != record.path:
            misplaced[record.path] = str(record.text["record"])
            continue
        for output in record.outputs:
            writers[output] = (*writers.get(output, ()), record)
    return Records(folders, writers, misplaced)


def rerun(target: str) -> str:
    """What to do about a file that cannot be trusted."""
    return f"Make it again: snakemake --force {target}"


# The stage files as text: which inputs, outputs and parameters each rule names. They are parsed, and never run.

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


# Which setting each parameter of a rule comes from, as the stage files say: `min_k=setting("verify")`.

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


# The files that a job should name: its rule's inputs and outputs, compared with its record.

RECORD = "record"
WRAPPERS = ("shown", "report", "directory", "touch")  # of Snakemake and of the stage files: the path comes first
STUDY = "STUDY"


class UnevaluatedExpression(Exception):
    """An expression that is not evaluated here, because it calls a function of a stage file."""


def check_files(record: Record, stages: Stages, config: Config) -> list[str]:
    """
    The names and paths of a record are those of its rule: none renamed, none left out, none added.

    Returns the inputs whose paths a function of the stage files gives: only their names are compared.
    """
    rule, values = stages.rules[record.rule], _Values(stages.values, config)
    open_ = []
    for part, files in (("inputs", rule.inputs), ("outputs", _without_record(rule.outputs))):
        _check_names(record, part, files)
        more = sorted(record.text["lists"][part].keys() - files.keys())
        for name, value in files.items():
            given = record.arguments(part)[name]
            listed = [normal(path) for path in (given if isinstance(given, list) else [given])]
            try:
                more += [name] if isinstance(values.value(value), str) and isinstance(given, list) else []
                wanted = [normal(_filled(path, record)) for path in values.paths(value)]
                _check_paths(record, part, name, set(wanted))
            except UnevaluatedExpression:
                open_.append(f"{record.rule}.{name}")
                wanted = listed if {*listed} == {*record.named(part, name)} else []
            more += [name] if listed != wanted else []
        if more:
            raise AuditError(f"{record.path}: the {part} {more[0]} are not in the order of the rule {record.rule}, or not "
                             f"as it gives them. {rerun(record.target)}")  # fmt: skip
    _check_names(record, "params", rule.params)
    _check_wildcards(record, rule, values)
    return open_


def _check_wildcards(record: Record, rule: Rule, values: "_Values") -> None:
    """A job has the wildcards of its outputs, and no more: one more might choose other settings."""
    with suppress(UnevaluatedExpression):
        patterns = [path for value in rule.outputs.values() for path in values.paths(value)]
        named = {name for path in patterns for _, name, _, _ in Formatter().parse(path)}
        for name in sorted(record.wildcards.keys() - named):
            raise AuditError(f"{record.path}: names the wildcard {name}, which no output of the rule {record.rule} has. "
                             f"{rerun(record.target)}")  # fmt: skip


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
            raise UnevaluatedExpression
        paths = [found] if isinstance(found, str) else list(found)
        if not all(isinstance(path, str) for path in paths):
            raise UnevaluatedExpression
        return paths

    def value(self, node: ast.expr, local: Mapping[str, Any] | None = None) -> Any:
        known: dict[type, Callable[[Any, Mapping[str, Any]], Any]] = {
            ast.Constant: lambda node, local: node.value, ast.Name: self._name, ast.Attribute: self._setting,
            ast.JoinedStr: self._text, ast.List: self._list, ast.ListComp: self._comprehension, ast.BoolOp: self._or,
            ast.Call: self._call,
        }  # fmt: skip
        if type(node) not in known:
            raise UnevaluatedExpression
        return known[type(node)](node, local or {})

    def _name(self, node: ast.Name, local: Mapping[str, Any]) -> Any:
        if node.id == STUDY:
            return self.config
        if node.id in local:
            return local[node.id]
        if node.id not in self.named:
            raise UnevaluatedExpression
        return self.value(self.named[node.id])

    def _setting(self, node: ast.Attribute, local: Mapping[str, Any]) -> Any:
        holder = self.value(node.value, local)
        if not isinstance(holder, BaseModel) or node.attr not in type(holder).model_fields:
            raise UnevaluatedExpression
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
            raise UnevaluatedExpression
        name = loop.target.id
        return [self.value(node.elt, {**local, name: one}) for one in self.value(loop.iter, local)]

    def _or(self, node: ast.BoolOp, local: Mapping[str, Any]) -> Any:
        if not isinstance(node.op, ast.Or):
            raise UnevaluatedExpression
        first, *others = (self.value(part, local) for part in node.values)
        return next((value for value in (first, *others) if value), others[-1])

    def _call(self, node: ast.Call, local: Mapping[str, Any]) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in WRAPPERS:
            return self.value(node.args[0], local)
        if name not in ("expand", "sorted", "list", "range") or len(node.args) != 1:
            raise UnevaluatedExpression
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


# Versions of packages: those that jobs ran with and those that are installed here, against the lock.

PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)
INSTALLED_PYTHON = "python"
PYTHON_VERSION = re.compile(r"3\.\d{1,2}\.\d{1,3}\+?(?:(?:a|b|rc)\d+\+?)?")  # as Python itself writes it
Lock = Mapping[str, set[str]]  # a package may be pinned to several versions, for different systems or Pythons


def read_lock(path: Path) -> Lock:
    """The versions that the lock allows for each package."""
    found: dict[str, set[str]] = {}
    for name, pinned in PINNED.findall(path.read_text()):
        found.setdefault(normalised(name), set()).add(pinned)
    return found


def normalised(name: str) -> str:
    """
    The name of a package as registries compare it.

    >>> normalised("PuLP_x.y")
    'pulp-x-y'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def check_versions(record: Record, lock: Lock, where: Path) -> None:
    """A job ran with the versions of the lock."""
    python = str(record.text["versions"].get(INSTALLED_PYTHON, ""))
    if not PYTHON_VERSION.fullmatch(python):
        raise AuditError(
            f"{record.target}: made with Python {python!r}, which is no version. Make it again: snakemake --force "
            f"{record.target}"
        )
    for name, used in record.text["versions"].items():
        allowed = lock.get(normalised(name), set())
        if name != INSTALLED_PYTHON and str(used) not in allowed:
            pinned = " or ".join(sorted(allowed)) or "no version"
            raise AuditError(
                f"{record.target}: made with {name} {used}, but {where} has {pinned}. Install the lock (make env), then "
                f"make it again: snakemake --force {record.target}"
            )


def differing(lock: Lock) -> Iterator[str]:
    """The packages that are installed here in a version that the lock does not have."""
    for name, allowed in sorted(lock.items()):
        here = _installed(name)
        if here is not None and here not in allowed:
            yield f"{name} {here} (the lock has {' or '.join(sorted(allowed))})"


@cache  # what is installed does not change while a process runs
def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def in_words(here: Iterable[str], where: Path) -> str:
    """What is reported of the packages that are installed where the audit runs."""
    odd = list(here)
    return f"installed here: {'not as ' if odd else 'as '}{where} says{': ' + ', '.join(odd) if odd else ''}"
