"""A chain as text: results, the jobs behind them with settings, seeds and times, the raw files at the ends."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from genverify.run.provenance.chain import Chain
from genverify.run.provenance.records import Record
from genverify.run.provenance.rules import CODE

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
        seconds = sum(float(job.text["seconds"]) for job in self.jobs)
        commits = dict.fromkeys(git_in_words(job.text["git"]) for job in self.jobs)
        return f"{span} UTC, {seconds:.1f} s, {'; '.join(commits)}"

    @property
    def settings(self) -> list[str]:
        params = {name: value for name, value in self.jobs[0].params.items() if name != CODE}
        return [f"{name}: {short(value)}" for name, value in sorted(params.items())]


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
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key}=({short(part)})" if isinstance(part, Mapping) else f"{key}={part}" for key, part in value.items()
        )
    return str(value)


def tree(chain: Chain, listed: Mapping[str, str]) -> Iterator[str]:
    """The lines of the tree; what several results share is told once."""
    groups = _groups(chain)
    of_job = {job.path: key for key, group in groups.items() for job in group.jobs}
    seen: set[Key] = set()
    by_record = groupby(sorted(chain.results, key=lambda name: chain.results[name].path), lambda n: chain.results[n].path)
    for record, names in by_record:
        yield ", ".join(names)
        yield from _branch(chain, groups, of_job, of_job[record], seen, listed, 1)


def _groups(chain: Chain) -> dict[Key, Group]:
    """The jobs by rule and wildcards, batches together; the nearest to the results first."""
    found: dict[Key, list[Record]] = {}
    for job in reversed(chain.jobs):
        others = tuple(sorted((name, str(value)) for name, value in job.wildcards.items() if name != FOLDED))
        found.setdefault((job.rule, others), []).append(job)
    return {key: Group(tuple(jobs)) for key, jobs in found.items()}


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
    found = {path: value for job in group.jobs for path, value in job.inputs.items() if path in chain.raw}
    for path, value in sorted(found.items()):
        yield f"raw {path}, SHA-256 {value[:12]}{'' if path in listed else ', not among the listed sources'}"


def versions(chain: Chain) -> Iterator[str]:
    """The versions that the jobs ran with: once if all had the same, else with the number of jobs."""
    sets = Counter(
        ", ".join(f"{name} {number}" for name, number in sorted(job.text["versions"].items())) for job in chain.jobs
    )
    for text, count in sets.most_common():
        yield f"{'all jobs' if len(sets) == 1 else f'{count} jobs'}: {text}"
