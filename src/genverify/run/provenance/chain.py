"""The chain behind some results: every job on the way back to the raw data, upstream first; and the chain as text."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import groupby
from pathlib import Path
from typing import Any

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
    sets = Counter(
        ", ".join(f"{name} {number}" for name, number in sorted(job.text["versions"].items())) for job in chain.jobs
    )
    for text, count in sets.most_common():
        yield f"{'all jobs' if len(sets) == 1 else f'{count} jobs'}: {text}"
