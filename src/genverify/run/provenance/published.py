"""A chain in a file that can be published and signed: digests, settings, versions, levels; and what differs from one."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from genverify.model.errors import DataError
from genverify.model.files import read_json
from genverify.run.provenance.chain import Chain, git_in_words, groups_of, settings_in
from genverify.run.provenance.records import AuditError, Record

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
