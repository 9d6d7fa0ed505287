"""The chain behind some results, upstream first: as text, and as a file to publish and sign, with what differs from one."""

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from genverify.model.errors import DataError
from genverify.model.files import read_json
from genverify.run.jobs import digest
from genverify.run.provenance.records import CODE, ENDING, AuditError, Record, Records, normal


@dataclass(frozen=True)
class Chain:
    """Results, the jobs behind them (upstream first), the jobs that each one reads from, and the raw files."""

    results: dict[str, Record]
    jobs: tuple[Record, ...]
    upstream: dict[str, tuple[str, ...]]
    raw: tuple[str, ...]


def find_results(asked: Iterable[str], folders: Iterable[Path]) -> list[str]:
    """What was asked for; every file in the given folders if nothing was, records and hidden files left out."""
    chosen = [normal(path) for path in asked]
    if chosen:
        return list(dict.fromkeys(chosen))
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return [normal(path) for path in files if not path.name.endswith(ENDING) and not path.name.startswith(".")]


def walk(results: Iterable[str], records: Records) -> Chain:
    """From the results through the record of every job to files that no job wrote."""
    wanted = {result: _record_of(result, records) for result in results}
    upstream: dict[str, tuple[str, ...]] = {}
    known = {record.path: record for record in wanted.values()}
    raw: set[str] = set()
    todo = list(known.values())
    while todo:
        record = todo.pop()
        if record.path in upstream:
            continue
        before = {path: records.writer(path) for path in record.inputs if records.is_made(path)}
        raw.update(path for path in record.inputs if path not in before)
        upstream[record.path] = tuple(dict.fromkeys(one.path for one in before.values()))
        known |= {one.path: one for one in before.values()}
        todo += before.values()
    try:
        ordered = list(TopologicalSorter({path: upstream[path] for path in sorted(upstream)}).static_order())
    except CycleError as error:
        raise AuditError(f"{error.args[1][0]}: this record and others say that they follow from each other") from None
    return Chain(wanted, tuple(known[path] for path in ordered), upstream, tuple(sorted(raw)))


def _record_of(result: str, records: Records) -> Record:
    """The record of a result; a file from elsewhere is known by its content."""
    if not os.path.exists(result):
        raise AuditError(f"{result}: there is no such file. Make it: snakemake {result}")
    if records.is_made(result) or result in records.writers:
        return records.writer(result)
    content = digest(Path(result))
    for path, writers in records.writers.items():
        if writers[0].outputs[path] == content:
            return records.writer(path)
    raise AuditError(f"{result}: it lies outside {' and '.join(records.made)}, and no job of this study wrote its content.")


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
        if len(self.jobs) > 1:
            span = [f"{batches[0]}..{batches[-1]}"] if batches else []
            return ", ".join([" ".join([f"{len(self.jobs)} jobs {first.rule}", *span]), *others])
        return ", ".join([" ".join([first.rule, *batches]), *others])

    @property
    def when(self) -> str:
        """When the jobs started, how long they took together, and the commit of their code."""
        started = sorted(str(job.text["started"]).replace("T", " ").rstrip("Z") for job in self.jobs)
        span = started[0] if started[0] == started[-1] else f"{started[0]} to {started[-1].split(' ')[-1]}"
        seconds = sum(job.seconds for job in self.jobs)
        commits = dict.fromkeys(git_in_words(job.text["git"]) for job in self.jobs)
        return f"{span} UTC, {seconds:.1f} s, {'; '.join(commits)}"

    @property
    def settings(self) -> list[str]:
        return [f"{name}: {short(value)}" for name, value in sorted(settings_in(self.jobs[0]).items())]


def settings_in(job: Record) -> dict[str, Any]:
    """The parameters of a job without the digest of its code."""
    return {name: value for name, value in job.params.items() if name != CODE}


def git_in_words(git: Mapping[str, Any]) -> str:
    """
    The commit of some code, and whether files differed from it.

    >>> git_in_words({"commit": "0123456789abcdef", "dirty": True})
    'git 0123456789 with uncommitted changes'
    """
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
    groups = groups_of(reversed(chain.jobs))
    of_job = {job.path: key for key, group in groups.items() for job in group.jobs}
    seen: set[Key] = set()
    by_record = groupby(sorted(chain.results, key=lambda name: chain.results[name].path), lambda n: chain.results[n].path)
    for record, names in by_record:
        yield ", ".join(names)
        yield from _branch(chain, groups, of_job, of_job[record], seen, listed, 1)


def groups_of(jobs: Iterable[Record]) -> dict[Key, Group]:
    """The jobs by rule and wildcards, batches together."""
    result: dict[Key, list[Record]] = {}
    for job in jobs:
        others = tuple(sorted((name, str(value)) for name, value in job.wildcards.items() if name != FOLDED))
        result.setdefault((job.rule, others), []).append(job)
    return {key: Group(tuple(jobs)) for key, jobs in result.items()}


def _branch(
    chain: Chain, groups: Mapping[Key, Group], of_job: Mapping[str, Key], key: Key, seen: set[Key],
    listed: Mapping[str, str], depth: int,
) -> Iterator[str]:  # fmt: skip
    group, margin = groups[key], "  " * depth
    if key in seen:
        yield f"{margin}{group.title} (above)"
        return
    seen.add(key)
    yield f"{margin}{group.title}: {group.when}"
    yield from (f"{margin}    {line}" for line in group.settings)
    above = {of_job[path] for job in group.jobs for path in chain.upstream[job.path]}
    yield from (f"{margin}  {line}" for line in _raw(chain, group, listed))
    for other in [other for other in groups if other in above and other not in seen]:
        if other not in seen:
            above.discard(other)
            yield from _branch(chain, groups, of_job, other, seen, listed, depth + 1)
    if above:
        yield f"{margin}  (above: {'; '.join(sorted(groups[other].title for other in above))})"


def _raw(chain: Chain, group: Group, listed: Mapping[str, str]) -> Iterator[str]:
    raw = {path: value for job in group.jobs for path, value in job.inputs.items() if path in chain.raw}
    for path, value in sorted(raw.items()):
        yield f"raw {path}, SHA-256 {value[:12]}{'' if path in listed else ', not among the listed sources'}"


def versions(chain: Chain) -> Iterator[str]:
    """The versions that the jobs ran with: once if all had the same, else with the number of jobs."""
    named = (sorted(job.text["versions"].items()) for job in chain.jobs)
    sets = Counter(", ".join(f"{name} {number}" for name, number in versions) for versions in named)
    for text, count in sets.most_common():
        yield f"{'all jobs' if len(sets) == 1 else f'{count} jobs'}: {text}"


# How far each file was checked: the strongest of the four is said, and what a chain reached in one line.

PROVED, RECOMPUTED, RERUN, DIGEST = LEVELS = ("proved", "recomputed", "rerun", "digest")
WORDS = {DIGEST: "taken on its digest"}


@dataclass(frozen=True)
class Reached:
    """
    What was checked of a chain: how many of each thing with proofs (None: not asked for), in words, and what rests on a
    solver; the files whose statements were held against proofs; the records of the jobs that were run again because they are
    cheap (`recomputed`), of those that were drawn for it (`rerun`), and of the `others`, among which these were drawn.
    """

    proofs: Mapping[str, int] | None = None
    words: str = ""
    resting: str = ""
    proved: Collection[str] = ()
    recomputed: Collection[str] = ()
    rerun: Collection[str] = ()
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
    """
    What the audit found, without times and places: who runs the same study on the same commit gets the same.

    `chain` is the digest of all that the study is: files, settings, versions and commits. How far it was checked comes
    beside it: what was counted with proofs (None: not asked for), the level of every file, and the jobs that were run again.
    """
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
    return {CHAIN: digest_of(study), **study, **checked}


def _different(values: list[Any]) -> list[Any]:
    return [json.loads(text) for text in sorted({json.dumps(value, sort_keys=True) for value in values})]


def digest_of(summary: Summary) -> str:
    """SHA-256 of what the study is."""
    return json_digest({name: summary[name] for name in PARTS})


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
    if digest_of(text) != text[CHAIN]:
        raise AuditError(f"{path}: its content is not what its digest says: it was altered. Ask for the file again.")
    return text


def compare(here: Summary, there: Summary, path: Path) -> Iterator[str]:
    """A line for everything that differs; an error at the end if something does."""
    lines = [line for part in (*PARTS, PROOFS) for line in _differences(part, there[part], here[part])]
    yield from lines
    yield from _less(here, there, path)
    if lines:
        raise AuditError(f"{path}: {len(lines)} differences from this study, listed above.")
    yield f"the same chain as {path}: {here[CHAIN]}"


def _less(here: Summary, there: Summary, path: Path) -> Iterator[str]:
    """Where less was checked here than there: no difference of the study."""
    levels = there.get(LEVEL)
    if not isinstance(levels, dict):
        yield f"{path} does not say how far each file was checked: another version wrote it"
        return
    less = [name for name, level in here[LEVEL].items() if levels.get(name, DIGEST) != DIGEST and level == DIGEST]
    if less:
        yield f"checked there and taken on its digest here: {less[0]}{f' and {len(less) - 1} more' if less[1:] else ''}"
    yield f"there: {there.get(BADGE)}"


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
    return text[:12] if re.fullmatch(r"[0-9a-f]{64}", text) else text if len(text) <= 200 else f"{text[:200]}..."
