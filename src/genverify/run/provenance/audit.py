"""The audit: from results through every job record to the raw data; whatever is not as recorded is an error."""

import argparse
import csv
import json
import os
import re
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from genverify.model.errors import DataError
from genverify.model.files import read_json, read_yaml
from genverify.model.settings import merge
from genverify.run import layout
from genverify.run.code import code_digest, code_parts, find_script, joint_digest
from genverify.run.config import Config, parse_config, read_shipped
from genverify.run.jobs import digest, folder_digest, folder_files, git_state
from genverify.run.provenance.recheck import check_collection, check_proofs, collection_of, jobs_with_proofs
from genverify.run.provenance.records import (
    CODE,
    ENDING,
    AuditError,
    Layout,
    Lock,
    Record,
    Records,
    Sections,
    Stages,
    check_files,
    check_settings,
    check_versions,
    differing,
    find_records,
    in_words,
    normal,
    read_lock,
    read_sections,
    read_stages,
    reading_tables,
    rerun,
    unchecked,
)
from genverify.run.registry import ProofKind

# The chain behind some results: every job on the way back to the raw data, upstream first.


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
    found = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return [normal(path) for path in found if not path.name.endswith(ENDING) and not path.name.startswith(".")]


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
    return Chain(wanted, tuple(known[path] for path in _ordered(upstream)), upstream, tuple(sorted(raw)))


def _ordered(upstream: dict[str, tuple[str, ...]]) -> list[str]:
    try:
        return list(TopologicalSorter({path: upstream[path] for path in sorted(upstream)}).static_order())
    except CycleError as error:
        raise AuditError(f"{error.args[1][0]}: this record and others say that they follow from each other") from None


def _record_of(result: str, records: Records) -> Record:
    """The record of a result; a file from elsewhere is known by its content."""
    if not os.path.exists(result):
        raise AuditError(f"{result}: there is no such file. Make it: snakemake {result}")
    if records.is_made(result) or result in records.writers:
        return records.writer(result)
    content = digest(Path(result))
    for path, found in records.writers.items():
        if found[0].outputs[path] == content:
            return records.writer(path)
    raise AuditError(f"{result}: it lies outside {' and '.join(records.made)}, and no job of this study wrote its content.")


# The files of a chain as they are now, against what the records say.

Now = Mapping[str, str | None]  # path: digest of what is there, None where nothing is


@dataclass(frozen=True)
class Checks:
    """What the chain is compared with: files as they are, raw files as listed, rules and settings as they stand."""

    layout: Layout
    config: Config
    records: Records
    stages: Stages
    listed: Mapping[str, str]
    now: Now
    lock: Lock

    @cached_property
    def sections(self) -> Sections:
        return read_sections(self.stages)

    def check(self, record: Record) -> list[str]:
        """
        A job's lock, code, settings, inputs and outputs; an error names the first that is not as recorded.

        Returns the inputs whose paths could not be compared with those of the rule.
        """
        self._lock(record)
        check_versions(record, self.lock, self.layout.lock)
        self._code(record)
        check_settings(record, self.sections, self.config)
        open_ = check_files(record, self.stages, self.config)
        for path, recorded in record.inputs.items():
            self._made(record, path, recorded) if self.records.is_made(path) else self._raw(record, path, recorded)
        for path, recorded in sorted(record.outputs.items(), key=_inside_first):
            if (found := self.now[path]) != recorded:
                raise AuditError(f"{path}: {differs(found, recorded, record.path)}. {rerun(record.target_of(path))}")
        return open_

    def _lock(self, record: Record) -> None:
        lock = normal(self.layout.lock)
        if record.lock.get(lock) != self.now[lock]:
            raise AuditError(
                f"{lock}: {differs(self.now[lock], record.lock.get(lock), record.path)}: {record.target} was made with "
                "other versions. Make everything again (snakemake --forceall), or put the lock back."
            )

    def _code(self, record: Record) -> None:
        script = find_script(Path.cwd() / self.layout.scripts, record.rule)
        now = code_parts(script) if script.is_file() else {}
        for path, recorded in record.code.items():
            if now.get(path) != recorded:
                other = f"what {normal(script)} uses of it is not as {record.path} says"
                none = f"{normal(script)} uses nothing of it, though {record.path} names it"
                raise AuditError(
                    f"{path}: {other if path in now else none}: {record.target} was made by other code. "
                    f"Run Snakemake again (snakemake {record.target}), or put the code back."
                )
        stated = record.params.get(CODE), joint_digest(record.code.values())
        if stated != (code_digest(script),) * 2:
            raise AuditError(
                f"{normal(script)}: not the code that {record.path} says it ran, or it imports other modules. "
                f"{rerun(record.target)}"
            )

    def _made(self, record: Record, path: str, recorded: str) -> None:
        writer = self.records.writer(path)
        if writer.outputs[path] != recorded:
            raise AuditError(
                f"{record.target}: made from another {path} than the one that {writer.path} tells of. {rerun(record.target)}"
            )

    def _raw(self, record: Record, path: str, recorded: str) -> None:
        found, listed = self.now[path], self.listed.get(path)
        if listed and found != listed:
            raise AuditError(
                f"{path}: {differs(found, listed, str(self.layout.sources))}. Put the file back, or list the new one "
                f"there and run Snakemake again (snakemake {record.target})."
            )
        if found != recorded:
            raise AuditError(
                f"{path}: {differs(found, recorded, record.path)}. Put the file back, or run Snakemake again (snakemake "
                f"{record.target})."
            )


def _inside_first(item: tuple[str, str]) -> int:
    """Files before the folder that they lie in, so that the file is named."""
    return -item[0].count(os.sep)


def differs(found: str | None, recorded: str | None, where: str) -> str:
    """How a file is not as some other file says."""
    if found is None:
        return f"missing, though {where} names it"
    if recorded is None:
        return f"not named in {where}"
    return f"not as {where} says (SHA-256 {found[:12]}, recorded {recorded[:12]})"


def digest_files(paths: Iterable[str]) -> dict[str, str | None]:
    """What is there now, every file read once, several at a time; a folder by the files in it."""
    wanted = {path: Path(path) for path in paths}
    folders = {path: folder_contents(place) for path, place in wanted.items() if place.is_dir()}
    files = {normal(f): f for place, inside in zip(wanted.values(), map(folders.get, wanted), strict=True)
             for f in (inside if inside is not None else [place])}  # fmt: skip
    with ThreadPoolExecutor() as pool:
        found = dict(zip(files, pool.map(_digest, files.values()), strict=True))
    for path, inside in folders.items():
        found[path] = folder_digest(Path(path), {file: str(found[normal(file)]) for file in inside})
    return found


def folder_contents(folder: Path) -> list[Path]:
    """The files of a folder; a folder that is only linked to would not be seen by a digest, so it is refused."""
    for path in folder.rglob("*"):
        if path.is_symlink() and path.is_dir():
            raise AuditError(f"{path}: a link to a folder, whose files no record tells of. Remove it.")
    return folder_files(folder)


def _digest(path: Path) -> str | None:
    try:
        return digest(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise AuditError(f"{path}: cannot be read ({error.strerror}).") from None
    except DataError as error:  # a pipe or a device
        raise AuditError(str(error)) from None


def files_of(chain: Chain, layout: Layout) -> list[str]:
    """Every file that the chain speaks of, each once, and the stage files that it is compared with."""
    parts = [normal(layout.lock), *map(normal, layout.stages), *chain.raw]
    for record in chain.jobs:
        parts += [*record.code, *record.lock, *record.inputs, *record.outputs]
    return list(dict.fromkeys(parts))


def read_listed(sources: Path) -> dict[str, str]:
    """The digests of the raw files that the study ships."""
    with sources.open(newline="") as file:
        return {normal(row["file"]): row["sha256"] for row in csv.DictReader(file) if row["sha256"]}


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


# A chain in a file that can be published and signed: digests, settings, versions, commits; and what differs from one.

ABSOLUTE = re.compile(r"(?<![\w.:/])/(?:[^/\"'\s,]+/)+")
CHAIN, PROOFS = "chain", "proofs"
PARTS = ("results", "files", "settings", "versions", "git")
Summary = dict[str, Any]


def without_places(text: str) -> str:
    """
    The text with every absolute path cut down to its last part: folders tell who ran it, and where.

    >>> without_places('{"units": "/home/ada/data/units.csv.gz", "url": "https://w3id.org/ro/crate"}')
    '{"units": "units.csv.gz", "url": "https://w3id.org/ro/crate"}'
    """
    return ABSOLUTE.sub("", text)


def summarise(chain: Chain, now: Mapping[str, str | None], proofs: Mapping[str, int] | None) -> Summary:
    """
    What the audit found, without times and places: who runs the same study on the same commit gets the same.

    `chain` is the digest of all the rest but `proofs`, which counts what was checked (None: not asked for).
    """
    settings: dict[str, list[Any]] = {}
    for job in chain.jobs:
        settings.setdefault(job.rule, []).append({name: value for name, value in job.params.items() if name != CODE})
    found = {
        "results": sorted(chain.results),
        "files": dict(sorted(now.items())),
        "settings": {rule: _different(values) for rule, values in sorted(settings.items())},
        "versions": _different([job.text["versions"] for job in chain.jobs]),
        "git": _different([job.text["git"] for job in chain.jobs]),
    }
    found = json.loads(without_places(json.dumps(found)))
    return {CHAIN: digest_of(found), **found, PROOFS: None if proofs is None else dict(sorted(proofs.items()))}


def _different(values: list[Any]) -> list[Any]:
    """Each value once, in an order of their own."""
    return [json.loads(text) for text in sorted({json.dumps(value, sort_keys=True) for value in values})]


def digest_of(summary: Summary) -> str:
    """SHA-256 of the summary without `chain` and `proofs`, as JSON with sorted keys and no spaces."""
    parts = {name: summary[name] for name in PARTS}
    return sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write_summary(summary: Summary, path: Path) -> None:
    path.write_text(json.dumps(summary, indent=1, sort_keys=True) + "\n")


def read_summary(path: Path) -> Summary:
    """A summary that an audit wrote; one whose digest is not that of its content is refused."""
    text = read_json(path)
    missing = [name for name in (CHAIN, PROOFS, *PARTS) if name not in text]
    if missing:
        raise DataError(f"{path}: no {missing[0]!r}; not a file that `genverify audit --write` wrote")
    if digest_of(text) != text[CHAIN]:
        raise AuditError(f"{path}: its content is not what its digest says: it was altered. Ask for the file again.")
    return text


def compare(here: Summary, there: Summary, path: Path) -> Iterator[str]:
    """A line for everything that differs; an error at the end if something does."""
    lines = [line for part in (*PARTS, PROOFS) for line in _differences(part, there[part], here[part])]
    yield from lines
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
    return text[:12] if re.fullmatch(r"[0-9a-f]{64}", text) else text if len(text) <= 200 else f"{text[:200]}..."


# The audit: from results through every job record to the raw data; whatever is not as recorded is an error.


def audit(layout: Layout, config: Config, asked: Iterable[str] = (), proofs: bool = True) -> Generator[str, None, Summary]:
    """
    The lines of the audit: the chain as a tree, then what was checked. AuditError names the first file that differs.

    Returns the chain in the form that can be published.
    """
    started = time.monotonic()
    records = find_records(layout.made)
    results = find_results(asked, layout.shown)
    if not results:
        raise AuditError(f"nothing to audit: no file in {', '.join(map(str, layout.shown))}. Run Snakemake first.")
    chain, listed = walk(results, records), read_listed(layout.sources)
    yield from tree(chain, listed)
    yield from versions(chain)
    lock = read_lock(layout.lock)
    yield in_words(differing(lock), layout.lock)
    yield f"now: {git_in_words(git_state())}"
    now = digest_files(files_of(chain, layout))
    checks = Checks(layout, config, records, read_stages(layout.stages), listed, now, lock)
    open_ = [name for record in chain.jobs for name in checks.check(record)]
    yield from _not_compared(chain, checks, open_)
    found = Counter[str]()
    if proofs:
        found, kinds = _check_proofs(chain, records)
        yield _proofs_in_words(found, kinds)
    summary = summarise(chain, now, found if proofs else None)
    yield f"chain {summary[CHAIN]} (publish it, and anybody can see whether one of these files was changed later)"
    files = sum(not Path(path).is_dir() for path in now)
    named = "1 result" if len(results) == 1 else f"{len(results)} results"
    yield f"{named}, {files} files, all accounted for ({time.monotonic() - started:.1f} s)"
    return summary


def _not_compared(chain: Chain, checks: Checks, inputs: Iterable[str]) -> Iterator[str]:
    """What the audit could not hold against anything but the record itself."""
    others = {f"{record.rule}.{name}" for record in chain.jobs for name in unchecked(record, checks.sections)}
    if others:
        yield f"parameters that were not compared with config.yaml: {', '.join(sorted(others))}"
    if inputs:
        yield f"inputs named by a function, whose paths were not compared: {', '.join(sorted(set(inputs)))}"


def _proofs_in_words(found: Counter[str], kinds: Iterable[ProofKind]) -> str:
    said = [(kind.words.format_map(found), kind.unproved) for kind in kinds]
    if not said:
        return "proofs: none in this chain"
    without = [f"; {words.format(found[name])}" for _, resting in said for name, words in resting.items() if found[name]]
    return f"proofs: {'; '.join(words for words, _ in said)}: all right{''.join(without)}"


def _check_proofs(chain: Chain, records: Records) -> tuple[Counter[str], list[ProofKind]]:
    """The proofs of every job, and every table put together from batches: what is right, and the kinds of proofs."""
    jobs = jobs_with_proofs(chain.jobs, records)
    found = dict(zip(jobs, check_proofs(list(jobs.values())), strict=True))
    for record in chain.jobs:
        collection = collection_of(record)
        if collection is not None:
            read = [found[path] for path in chain.upstream[record.path] if path in found]
            proven = {block: digest for one in read for block, digest in one.claims.items()}
            with reading_tables(collection.claims):
                check_collection(collection, proven, read[0].names if read else ())
    kinds = {job.kind.check: job.kind for job in jobs.values()}
    return sum((one.counts for one in found.values()), Counter[str]()), [kinds[check] for check in sorted(kinds)]


# The command `audit`, and where this repository keeps what they look at.

SETTINGS = (".yaml", ".yml", ".json")


def repository() -> Layout:
    """The layout of this repository, seen from its root."""
    stages = [layout.SNAKEFILE, *sorted(layout.STAGES.rglob("*.smk"))]
    made, shown = (str(layout.RESULTS), str(layout.FIGURES)), (layout.FIGURES, layout.TABLES)
    return Layout(made, shown, layout.SOURCES, layout.LOCK, layout.SCRIPTS, stages)


def add_audit(commands: Any) -> None:
    """Add `audit` to the commands."""
    parser = commands.add_parser("audit", help="walk from results back to the raw data; check every file, setting and proof")
    parser.add_argument("results", nargs="*", help="for instance figures/fig3.pdf (default: every figure and table)")
    parser.add_argument("--configfile", nargs="+", action="extend", type=Path, default=[], metavar="FILE",
                        help="laid over config.yaml, as for Snakemake; results come before it")  # fmt: skip
    parser.add_argument("--without-proofs", action="store_true", help="do not check the proofs again (quicker)")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write the digest of the chain with all it covers, to publish"
    )
    parser.add_argument("--against", type=Path, metavar="FILE", help="say what differs from a chain that was published")
    parser.set_defaults(run=_audit)


def read_config(changes: list[Path]) -> Config:
    """The shipped configuration with other files laid over it."""
    text = read_shipped(Path())
    for path in changes:
        if path.suffix not in SETTINGS:
            raise DataError(
                f"--configfile {path}: not a file of settings. Name results first: genverify audit {path} --configfile ..."
            )
        text = merge(text, read_yaml(path))
    return parse_config(text)


def _audit(options: argparse.Namespace) -> None:
    published = read_summary(options.against) if options.against else None
    config = read_config(options.configfile)
    summary = _printed(audit(repository(), config, options.results, not options.without_proofs))
    if options.write:
        write_summary(summary, options.write)
        print(f"written: {options.write}")
    if published:
        for line in compare(summary, published, options.against):
            print(line, flush=True)


def _printed(lines: Generator[str, None, Summary]) -> Summary:
    """Print the lines as they come; what the audit returns."""
    while True:
        try:
            print(next(lines), flush=True)
        except StopIteration as end:
            found: Summary = end.value
            return found
