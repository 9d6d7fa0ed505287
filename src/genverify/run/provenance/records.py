"""Job records beside the results, what each should say by its rule, and the chain behind results, as text and as a file."""

import ast
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from itertools import groupby, product
from pathlib import Path
from string import Formatter
from typing import Any

from genverify.model.errors import DataError, GenverifyError
from genverify.model.files import read_json
from genverify.run.code import find_script
from genverify.run.config import Config, settings_of
from genverify.run.jobs import digest, installed_version
from genverify.run.layout import FIGURES, LOCK, RESULTS, SCRIPTS, STAGES, TABLES

# Job records as they lie beside the results: read, checked for form, and found by what they say they wrote.

MADE = (str(RESULTS), str(FIGURES))  # the folders that only the workflow writes
ENDING = "record.json"
SHA256 = re.compile(r"[0-9a-f]{64}")
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


class Record:
    """What a job reported of itself: files by path, with SHA-256; in `text`, inputs and outputs by name first."""

    def __init__(self, path: str, text: Mapping[str, Any]) -> None:
        self.path, self.text = path, text
        self.rule, self.seconds = str(text.get("rule")), float(text.get("seconds", 0))
        self.wildcards: Mapping[str, str] = text.get("wildcards", {})
        self.params: Mapping[str, Any] = text.get("params", {})
        self.code, self.lock = (_digests([text.get(part, {})]) for part in ("code", "lock"))
        self.inputs, self.outputs = (_digests(text.get(part, {}).values()) for part in ("inputs", "outputs"))

    def named(self, part: str, name: str) -> list[str]:
        return [normal(path) for path in self.text[part].get(name, {})]

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


def _digests(groups: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {normal(path): value for files in groups for path, value in files.items()}


def read_record(path: Path) -> Record:
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
        if not isinstance(files, dict) or not all(isinstance(d, str) and SHA256.fullmatch(d) for d in files.values()):
            raise ValueError("digests are missing or are not SHA-256")
    lists = [text["lists"].get(part) for part in ("inputs", "outputs")]
    given = [paths for one in lists for paths in (one.values() if isinstance(one, dict) else [None])]
    if not all(isinstance(paths, list) and all(isinstance(path, str) for path in paths) for paths in given):
        raise ValueError("'lists' does not say which names stand for lists of files, and in which order")


@dataclass(frozen=True)
class Records:
    """All records of a study: who wrote a file, and which records lie where they do not belong."""

    writers: Mapping[str, tuple[Record, ...]]
    misplaced: Mapping[str, str]

    def writer(self, path: str) -> Record:
        """The one record that says it wrote a file."""
        records = self.writers.get(path, ())
        if len(records) == 1:
            return records[0]
        if records:
            both = " and ".join(record.path for record in records[:2])
            raise AuditError(f"{path}: both {both} say that they wrote it. Delete the one that is out of date.")
        beside = [record for record in self.misplaced if os.path.dirname(record) == os.path.dirname(path)]
        hint = f" ({beside[0]} lies there, but it is the record {self.misplaced[beside[0]]})" if beside else ""
        raise AuditError(f"{path}: no job record says how it was made{hint}. {rerun(path)}")


def is_made(path: str) -> bool:
    return path.split(os.sep)[0] in MADE


def script_of(rule: str) -> Path:
    return find_script(Path.cwd() / SCRIPTS, rule)


def find_records(folders: Iterable[str] = MADE) -> Records:
    writers: dict[str, tuple[Record, ...]] = {}
    misplaced: dict[str, str] = {}
    for path in sorted(path for folder in folders for path in Path(folder).rglob(f"*{ENDING}")):
        record = read_record(path)
        if normal(record.text["record"]) != record.path:
            misplaced[record.path] = str(record.text["record"])
            continue
        for output in record.outputs:
            writers[output] = (*writers.get(output, ()), record)
    return Records(writers, misplaced)


def rerun(target: str) -> str:
    """What to do about a file that cannot be trusted."""
    return f"Make it again: snakemake --force {target}"


# The stage files: what each rule names as inputs, outputs and parameters, computed for a job as Snakemake does. Rules are
# parsed and not run; of the Python beside them just what a rule names is run, code of this checkout like the scripts.

RULE = re.compile(r"^(?:rule|checkpoint) (\w+):\n((?:[ \t]+.*\n|\n)+)", re.MULTILINE)
SECTION = re.compile(r"^ {4}(input|output|params):\n((?: {8}.*\n|\n)+)", re.MULTILINE)
DIRECTIVE = re.compile(r"^\w+(?: \w+)?:(?:.*\n)(?:(?:[ \t]+.*)?\n)*", re.MULTILINE)
PYTHON = re.compile(r"^(?:try|except\b.*|else|finally|for\b.*|if\b.*|def\b.*|class\b.*|with\b.*):", re.MULTILINE)
WRAPPERS = ("shown", "report", "directory", "touch")  # of Snakemake and of the stage files: the path comes first
CODE, RECORD = "code", "record"
UNKNOWN = (GenverifyError, AttributeError, KeyError)  # a variant, experiment or section that the settings no longer have
Named = Mapping[str, ast.expr]
Change = tuple[str, Any, Any]  # of a setting: its full name, what it was, what it is


class _Wildcards(dict[str, str]):
    """Those of a job, as paths and the functions of stage files ask for them."""

    __getattr__ = dict.__getitem__

    def __missing__(self, name: str) -> str:
        raise DataError(f"its record does not name the wildcard {name}")


class Stages:
    """The rules of the stage files: the named expressions of each by section, and their values for a job."""

    def __init__(self, paths: Iterable[Path], config: Config) -> None:
        self.rules: dict[str, dict[str, Named]] = {}
        self._statements: dict[str, list[ast.stmt]] = {}  # of each name, what binds or extends it
        self._values: dict[str, Any] = {
            "STUDY": config, "HERE": STAGES, "Path": Path, "WorkflowError": DataError, "expand": expand, "code_of": str,
            "CHOICES": dict.fromkeys(("study", "target", "first", "second")),
            "setting": lambda section: lambda wildcards: settings_of(config, section, wildcards.get("variant")),
            **dict.fromkeys(WRAPPERS, lambda path, *_, **__: path),
        }  # fmt: skip
        for path in paths:
            text = path.read_text() + "\n"
            try:
                self.rules |= {name: {part: _named(lines) for part, lines in SECTION.findall(body)}
                               for name, body in RULE.findall(text)}  # fmt: skip
                rest = DIRECTIVE.sub(lambda match: match[0] if PYTHON.match(match[0]) else "", text)
                for node in ast.parse(rest).body:
                    for name in _bound(node) - self._values.keys():
                        self._statements.setdefault(name, []).append(node)
            except SyntaxError as error:
                why = f"{error.msg}, near {error.text!r}"
                raise AuditError(f"{path}: cannot be read ({why}). Format it: snakefmt.") from None

    def named(self, rule: str, part: str) -> Named:
        return {name: value for name, value in self.rules[rule].get(part, {}).items() if name != RECORD}

    def value(self, expression: ast.expr, wildcards: Mapping[str, str]) -> Any:
        value = self._evaluated(expression)
        return value(_Wildcards(wildcards)) if callable(value) else value

    def paths(self, expression: ast.expr, wildcards: Mapping[str, str]) -> str | list[str]:
        """The path or the paths that it stands for; wildcards are filled in, but not into what a function gives."""
        given, job = self._evaluated(expression), _Wildcards(wildcards)
        value = given(job) if callable(given) else given
        paths = [str(path) if callable(given) else path.format_map(job) for path in as_list(value)]
        return paths if isinstance(value, list | tuple) else paths[0]

    def wildcards(self, rule: str) -> set[str | None]:
        """Those of the outputs of a rule."""
        paths = [path for output in self.named(rule, "output").values() for path in as_list(self._evaluated(output))]
        return {name for path in paths for _, name, _, _ in Formatter().parse(path)}

    def _evaluated(self, expression: ast.expr) -> Any:
        self._define(expression)
        return eval(compile(ast.Expression(expression), "stage file", "eval"), self._values)

    def _define(self, node: ast.AST) -> None:
        """Run what binds the names of a statement; one that cannot be run leaves its names unknown."""
        for name in {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}:
            for statement in self._statements.pop(name, ()):
                self._define(statement)
                if not hasattr(statement, "is_done"):
                    statement.is_done = True  # type: ignore[attr-defined]  # a statement may bind several names
                    with suppress(Exception):
                        exec(compile(ast.Module([statement], []), "stage file", "exec"), self._values)


def _named(text: str) -> dict[str, ast.expr]:
    """The named values of a section, which is written like the arguments of a call."""
    call = ast.parse(f"f(\n{text})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement binds, or extends (`TARGETS.append(...)`)."""
    match node:
        case ast.FunctionDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {alias.asname or alias.name for alias in names}
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return {name}
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            return {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
    return set()


def expand(patterns: str | Sequence[str], **lists: Any) -> list[str]:
    """
    The paths that Snakemake's `expand` makes of a pattern.

    >>> expand("{{variant}}/{batch}.csv", batch=["000", "001"])
    ['{variant}/000.csv', '{variant}/001.csv']
    """
    chosen = [dict(zip(lists, values, strict=True)) for values in product(*map(as_list, lists.values()))]
    return [pattern.format(**values) for pattern in as_list(patterns) for values in chosen]


def as_list(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)


# What a record says, against its rule: settings, files and wildcards.


def check_settings(record: Record, stages: Stages) -> None:
    """The settings that a job ran with are those that it would get now."""
    if record.rule not in stages.rules:
        why = "which no stage file has any more; so its settings cannot be checked. Delete it, or bring the rule back."
        raise AuditError(f"{record.target}: made by the rule {record.rule}, {why}")
    try:
        changed = list(changed_settings(stages, record.rule, record.params, record.wildcards))
    except UNKNOWN as error:
        why = str(error).rstrip(".")
        raise AuditError(f"{record.target}: its settings cannot be checked ({why}). Delete it, or run it again.") from None
    for setting, was, now in changed:
        advice = "or put the setting back; a file given to Snakemake with --configfile is given here too."
        again = f"Run Snakemake again (snakemake {record.target}), {advice}"
        raise AuditError(f"{record.target}: made with {setting} = {was}, but config.yaml says {now}. {again}")


def changed_settings(stages: Stages, rule: str, params: Mapping[str, Any], wildcards: Mapping[str, str]) -> Iterator[Change]:
    """Every setting of a job that would be another one now."""
    for name, expression in stages.named(rule, "params").items():
        if name != CODE:
            now = json.loads(json.dumps(stages.value(expression, wildcards)))
            yield from _changed(_called(name, expression), params.get(name), now)


def _called(name: str, expression: ast.expr) -> str:
    """The section of `min_k=setting("verify")`, the word before `_part(...)`; else the name of the parameter."""
    match expression:
        case ast.Call(func=ast.Name("setting"), args=[ast.Constant(str(section))]):
            return section
        case ast.Call(func=ast.Name(called)) if called.endswith("_part"):
            return called.removesuffix("_part")
    return name


def _changed(setting: str, was: Any, now: Any) -> Iterator[Change]:
    if isinstance(was, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*now, *was]):
            yield from _changed(f"{setting}.{key}", was.get(key, "nothing"), now.get(key, "nothing"))
    elif was != now or type(was) is not type(now):
        yield setting, was, now


def check_files(record: Record, stages: Stages) -> None:
    """The names, paths, order and wildcards of a record are those of its rule: none renamed, left out or added."""
    rule, again = f"the rule {record.rule}", rerun(record.target)
    for part, parts in (("input", "inputs"), ("output", "outputs"), ("params", "params")):  # of a rule, of a record
        wanted = stages.named(record.rule, part)
        for name in sorted(wanted.keys() ^ record.text[parts].keys()):
            missing = f"does not name the {parts} {name}"
            problem = missing if name in wanted else f"names {parts} {name}, which the rule does not have"
            raise AuditError(f"{record.path}: {problem} (rule {record.rule}). {again}")
    for part in ("input", "output"):
        _check_paths(record, part, stages, rule, again)
    for name in sorted(record.wildcards.keys() - stages.wildcards(record.rule)):
        raise AuditError(f"{record.path}: names the wildcard {name}, which no output of {rule} has. {again}")


def _check_paths(record: Record, part: str, stages: Stages, rule: str, again: str) -> None:
    parts, expressions = f"{part}s", stages.named(record.rule, part)
    odd = sorted(record.text["lists"][parts].keys() - expressions.keys())
    for name, expression in expressions.items():
        of_rule = f"{record.path}: the {parts} {name}"
        try:
            value = stages.paths(expression, record.wildcards)
        except Exception as error:
            raise AuditError(f"{of_rule} of {rule} cannot be determined ({error}). {again}") from None
        given, wanted = record.arguments(parts)[name], [normal(path) for path in as_list(value)]
        there = set(record.named(parts, name))
        if part == "output":  # the record of a folder names the files in it too
            there -= {path for path in there for one in wanted if path.startswith(f"{one}{os.sep}") and path not in wanted}
        for path in sorted(there ^ set(wanted)):
            problem = "is not named in it" if path in wanted else "is none of them"
            raise AuditError(f"{of_rule} are not those of {rule}: {path} {problem}. {again}")
        if isinstance(given, list) > isinstance(value, list) or list(map(normal, as_list(given))) != wanted:
            odd.append(name)
    if odd:
        problem = f"the {parts} {odd[0]} are not in the order of {rule}, or not as it gives them"
        raise AuditError(f"{record.path}: {problem}. {again}")


# Versions of packages: those that jobs ran with and those that are installed here, against the lock.

PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)
INSTALLED_PYTHON = "python"
PYTHON_VERSION = re.compile(r"3\.\d{1,2}\.\d{1,3}\+?(?:(?:a|b|rc)\d+\+?)?")  # as Python itself writes it
Lock = Mapping[str, set[str]]  # a package may be pinned to several versions, for different systems or Pythons


def read_lock() -> Lock:
    if not LOCK.is_file():
        raise AuditError(f"{LOCK}: missing, so that the versions of no job can be checked. Put the file back.")
    lock: dict[str, set[str]] = {}
    for name, pinned in PINNED.findall(LOCK.read_text()):
        lock.setdefault(_normalised(name), set()).add(pinned)
    return lock


def _normalised(name: str) -> str:
    """The name of a package as registries compare it: `pulp-x-y` for PuLP_x.y."""
    return re.sub(r"[-_.]+", "-", name).lower()


def check_versions(record: Record, lock: Lock) -> None:
    python = str(record.text["versions"].get(INSTALLED_PYTHON, ""))
    if not PYTHON_VERSION.fullmatch(python):
        raise AuditError(f"{record.target}: made with Python {python!r}, which is not a version. {rerun(record.target)}")
    for name, used in record.text["versions"].items():
        allowed = lock.get(_normalised(name), set())
        if name != INSTALLED_PYTHON and str(used) not in allowed:
            pinned = " or ".join(sorted(allowed)) or "no version"
            again = f"Install the lock (make env), then make it again: snakemake --force {record.target}"
            raise AuditError(f"{record.target}: made with {name} {used}, but {LOCK} has {pinned}. {again}")


def installed_here(lock: Lock) -> str:
    """What is reported of the packages that are installed where the audit runs."""
    here = {name: installed_version(name) for name in sorted(lock)}
    odd = ", ".join(f"{name} {number} (the lock has {' or '.join(sorted(lock[name]))})"
                    for name, number in here.items() if number and number not in lock[name])  # fmt: skip
    return f"installed here: not as {LOCK} says: {odd}" if odd else f"installed here: as {LOCK} says"


# The chain behind some results, upstream first.


@dataclass(frozen=True)
class Chain:
    """Results, the jobs behind them (upstream first), the jobs that each one reads from, and the raw files."""

    results: dict[str, Record]
    jobs: tuple[Record, ...]
    upstream: dict[str, tuple[str, ...]]
    raw: tuple[str, ...]


def find_results(asked: Iterable[str]) -> list[str]:
    """What was asked for; every figure and table if nothing was, records and hidden files left out."""
    if chosen := list(dict.fromkeys(map(normal, asked))):
        return chosen
    files = [path for folder in (FIGURES, TABLES) for path in sorted(folder.rglob("*")) if path.is_file()]
    return [normal(path) for path in files if not path.name.endswith(ENDING) and not path.name.startswith(".")]


def walk(results: Iterable[str], records: Records) -> Chain:
    """From the results through the record of every job to files that no job wrote."""
    wanted = {result: _record_of(result, records) for result in results}
    known = {record.path: record for record in wanted.values()}
    upstream, raw, todo = dict[str, tuple[str, ...]](), set[str](), list(known.values())
    for record in todo:  # which grows
        before = {path: records.writer(path) for path in record.inputs if is_made(path)}
        raw.update(path for path in record.inputs if path not in before)
        upstream[record.path] = tuple(dict.fromkeys(one.path for one in before.values()))
        new = {one.path: one for one in before.values() if one.path not in known}
        known |= new
        todo += new.values()
    try:
        ordered = list(TopologicalSorter({path: upstream[path] for path in sorted(upstream)}).static_order())
    except CycleError as error:
        raise AuditError(f"{error.args[1][0]}: this record and others say that they follow from each other") from None
    return Chain(wanted, tuple(known[path] for path in ordered), upstream, tuple(sorted(raw)))


def _record_of(result: str, records: Records) -> Record:
    """The record of a result; a file from elsewhere is known by its content."""
    if not os.path.exists(result):
        raise AuditError(f"{result}: there is no such file. Make it: snakemake {result}")
    if is_made(result) or result in records.writers:
        return records.writer(result)
    content = digest(Path(result))
    for path, writers in records.writers.items():
        if writers[0].outputs[path] == content:
            return records.writer(path)
    raise AuditError(f"{result}: it lies outside {' and '.join(MADE)}, and no job of this study wrote its content.")


# A chain as text: results, the jobs behind them with settings, seeds and times, the raw files at the ends.

FOLDED = "batch"
Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Group:
    """Jobs of one rule that differ in their batch only."""

    jobs: tuple[Record, ...]

    @property
    def title(self) -> str:
        first = self.jobs[0]
        others = [f"{name} {value}" for name, value in first.wildcards.items() if name != FOLDED]
        batches = sorted(job.wildcards[FOLDED] for job in self.jobs if FOLDED in job.wildcards)
        span = [f"{batches[0]}..{batches[-1]}"] if batches[1:] else batches
        number = [f"{len(self.jobs)} jobs"] if len(self.jobs) > 1 else []
        return ", ".join([" ".join([*number, first.rule, *span]), *others])

    @property
    def when(self) -> str:
        """When the jobs started, how long they took together, and the commit of their code."""
        started = sorted(str(job.text["started"]).replace("T", " ").rstrip("Z") for job in self.jobs)
        span = started[0] if started[0] == started[-1] else f"{started[0]} to {started[-1].split(' ')[-1]}"
        seconds = sum(job.seconds for job in self.jobs)
        commits = dict.fromkeys(git_in_words(job.text["git"]) for job in self.jobs)
        return f"{span} UTC, {seconds:.1f} s, {'; '.join(commits)}"


def settings_in(job: Record) -> dict[str, Any]:
    """The parameters of a job without the digest of its code."""
    return {name: value for name, value in job.params.items() if name != CODE}


def git_in_words(git: Mapping[str, Any]) -> str:
    """The commit of some code, and whether files differed from it."""
    if not git.get("commit"):
        return "git unknown"
    changes = {True: " with uncommitted changes", False: "", None: ", not known whether files differ from it"}
    return f"git {str(git['commit'])[:10]}{changes[git.get('dirty')]}"


def short(value: Any) -> str:
    """
    A setting on one line.

    >>> short({"withhold": [1], "universe": "occupied"})
    'withhold=[1], universe=occupied'
    """
    if not isinstance(value, Mapping):
        return str(value)
    parts = {key: f"({short(part)})" if isinstance(part, Mapping) else part for key, part in value.items()}
    return ", ".join(f"{key}={part}" for key, part in parts.items())


def tree(chain: Chain, listed: Mapping[str, str]) -> Iterator[str]:
    """The lines of the tree; what several results share is told once."""
    groups, seen = groups_of(reversed(chain.jobs)), set[Key]()
    known = {job.path: job for job in chain.jobs}

    def branch(key: Key, margin: str) -> Iterator[str]:
        group = groups[key]
        if key in seen:
            yield f"{margin}{group.title} (above)"
            return
        seen.add(key)
        yield f"{margin}{group.title}: {group.when}"
        yield from (f"{margin}    {name}: {short(value)}" for name, value in sorted(settings_in(group.jobs[0]).items()))
        raw = {path: value for job in group.jobs for path, value in job.inputs.items() if path in chain.raw}
        for path, value in sorted(raw.items()):
            yield f"{margin}  raw {path}, SHA-256 {value[:12]}{'' if listed.get(path) else ', not among the listed sources'}"
        above = {key_of(known[path]) for job in group.jobs for path in chain.upstream[job.path]}
        for other in groups:
            if other in above and other not in seen:
                above.discard(other)
                yield from branch(other, f"{margin}  ")
        if above:
            yield f"{margin}  (above: {'; '.join(sorted(groups[other].title for other in above))})"

    for record, names in groupby(sorted(chain.results, key=lambda name: chain.results[name].path),
                                 lambda name: chain.results[name].path):  # fmt: skip
        yield ", ".join(names)
        yield from branch(key_of(known[record]), "  ")


def groups_of(jobs: Iterable[Record]) -> dict[Key, Group]:
    """The jobs by rule and wildcards, batches together."""
    result: dict[Key, list[Record]] = {}
    for job in jobs:
        result.setdefault(key_of(job), []).append(job)
    return {key: Group(tuple(jobs)) for key, jobs in result.items()}


def key_of(job: Record) -> Key:
    return job.rule, tuple(sorted((name, str(value)) for name, value in job.wildcards.items() if name != FOLDED))


def versions(chain: Chain) -> Iterator[str]:
    """The versions that the jobs ran with: once if all had the same, else with the number of jobs."""
    named = (sorted(job.text["versions"].items()) for job in chain.jobs)
    sets = Counter(", ".join(f"{name} {number}" for name, number in versions) for versions in named)
    for text, count in sets.most_common():
        yield f"{'all jobs' if len(sets) == 1 else f'{count} jobs'}: {text}"


# How far each file was checked: the strongest of the four is said, and what a chain reached in one line.

PROVED, RECOMPUTED, RERUN, DIGEST = LEVELS = ("proved", "recomputed", "rerun", "digest")
WORDS = {DIGEST: "taken on its digest"}


@dataclass
class Reached:
    """What was checked of a chain: statements with proofs, and jobs that were run again, by their records."""

    proofs: Mapping[str, int] | None = None  # how many of each thing; None: not asked for
    words: str = ""  # the same in words
    resting: str = ""  # what rests on a solver
    proved: Collection[str] = ()  # the files whose statements were held against proofs
    recomputed: Collection[str] = ()  # run again as they are cheap
    rerun: Collection[str] = ()  # drawn among the others
    others: Collection[str] = ()

    def level(self, record: Record, path: str) -> str:
        if path in self.proved:
            return PROVED
        return RECOMPUTED if record.path in self.recomputed else RERUN if record.path in self.rerun else DIGEST

    def levels(self, chain: Chain, files: Iterable[str]) -> dict[str, str]:
        """Of every file; one that no job of the chain wrote is known by its digest alone."""
        written = {path: self.level(job, path) for job in chain.jobs for path in job.outputs}
        return {path: written.get(path, DIGEST) for path in sorted(files)}

    def lines(self, chain: Chain, files: Collection[str]) -> Iterator[str]:
        """What each job wrote, by level, batches together; then the files that no job wrote."""
        for level in LEVELS:
            jobs = [job for job in chain.jobs if level in {self.level(job, path) for path in job.outputs}]
            if jobs:
                titles = "; ".join(group.title for group in groups_of(jobs).values())
                yield f"{WORDS.get(level, level)}: {titles}"
        written = {path for job in chain.jobs for path in job.outputs}
        raw = len(chain.raw)
        yield f"{WORDS[DIGEST]}: raw files ({raw}); code, stage files and the lock ({len({*files} - written) - raw})"

    def badge(self, chain: Chain, files: int, git: Mapping[str, Any]) -> str:
        proofs = f", {self.words} checked" if self.words else ""
        jobs = f"{len(self.recomputed)} of {len(chain.jobs)} jobs recomputed, {len(self.rerun)} of {len(self.others)} rerun"
        return f"audited at {git_in_words(git)}: {files} files{proofs}, {jobs}"


# The file

ABSOLUTE = re.compile(r"(?<![\w.:/])/(?:[^/\"'\s,]+/)+")
CHAIN, PROOFS, LEVEL, SHARE, BADGE = "chain", "proofs", "levels", "rerun", "badge"
PARTS = ("results", "files", "settings", "versions", "git")
Summary = dict[str, Any]


def without_places(text: str) -> str:
    """
    The text with every absolute path cut down to its last part: folders tell who ran it, and where.

    >>> without_places('{"units": "/home/ada/data/units.csv.gz", "url": "https://w3id.org/ro/crate"}')
    '{"units": "units.csv.gz", "url": "https://w3id.org/ro/crate"}'
    """
    return ABSOLUTE.sub("", text)


def summarise(chain: Chain, now: Mapping[str, str | None], reached: Reached, git: Mapping[str, Any]) -> Summary:
    """What the audit found, without times and places: who runs the same study on the same commit gets the same digest."""
    settings: dict[str, list[Any]] = {}
    for job in chain.jobs:
        settings.setdefault(job.rule, []).append(settings_in(job))
    study: Summary = {"results": sorted(chain.results), "files": dict(sorted(now.items()))}
    study["settings"] = {rule: _different(values) for rule, values in sorted(settings.items())}
    study |= {part: _different([job.text[part] for job in chain.jobs]) for part in ("versions", "git")}
    proofs = None if reached.proofs is None else dict(sorted(reached.proofs.items()))
    checked: Summary = {PROOFS: proofs, LEVEL: reached.levels(chain, now)}
    checked[SHARE] = {name: len(getattr(reached, name)) for name in ("recomputed", "rerun", "others")}
    checked[BADGE] = reached.badge(chain, sum(not Path(path).is_dir() for path in now), git)
    study, checked = (json.loads(without_places(json.dumps(part))) for part in (study, checked))
    return {CHAIN: json_digest(study), **study, **checked}


def _different(values: list[Any]) -> list[Any]:
    return [json.loads(text) for text in sorted({json.dumps(value, sort_keys=True) for value in values})]


def json_digest(values: Mapping[str, Any]) -> str:
    """SHA-256 of values as JSON with sorted keys and no spaces."""
    return sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write_summary(summary: Summary, path: Path) -> None:
    path.write_text(json.dumps(summary, indent=1, sort_keys=True) + "\n")


def read_summary(path: Path) -> Summary:
    """A summary that an audit wrote; one whose digest is not that of its content is refused."""
    text = read_json(path)
    for name in (name for name in (CHAIN, PROOFS, *PARTS) if name not in text):
        raise DataError(f"{path}: no {name!r}; not a file that `genverify audit --out` wrote")
    if json_digest({name: text[name] for name in PARTS}) != text[CHAIN]:
        raise AuditError(f"{path}: its content is not what its digest says: it was altered. Ask for the file again.")
    return text


def compare(here: Summary, there: Summary, path: Path) -> Iterator[str]:
    """A line for everything that differs; an error at the end if something does."""
    lines = [line for part in (*PARTS, PROOFS) for line in _differences(part, there[part], here[part])]
    yield from lines
    if isinstance(levels := there.get(LEVEL), dict):  # less that was checked here than there is no difference of the study
        less = [name for name, level in here[LEVEL].items() if levels.get(name, DIGEST) != DIGEST and level == DIGEST]
        more = f" and {len(less) - 1} more" if less[1:] else ""
        yield from (f"checked there and taken on its digest here: {name}{more}" for name in less[:1])
        yield f"there: {there.get(BADGE)}"
    else:
        yield f"{path} does not say how far each file was checked: another version wrote it"
    if lines:
        raise AuditError(f"{path}: {len(lines)} differences from this study, listed above.")
    yield f"the same chain as {path}: {here[CHAIN]}"


def _differences(part: str, there: Any, here: Any) -> Iterator[str]:
    if part == PROOFS and (there is None or here is None):
        return  # one of the two did not ask for them
    if isinstance(there, dict) and isinstance(here, dict):
        for name in sorted({*there, *here}):
            if there.get(name) != here.get(name):
                yield f"differs: {part} {name}: {_short(there.get(name))} there, {_short(here.get(name))} here"
    elif there != here:
        yield f"differs: {part}: {_short(there)} there, {_short(here)} here"


def _short(value: Any) -> str:
    text = "nothing" if value is None else value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text[:12] if SHA256.fullmatch(text) else text if len(text) <= 200 else f"{text[:200]}..."
