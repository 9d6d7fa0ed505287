"""A chain in a file that can be published and signed: digests, settings, versions, commits; and what differs from one."""

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from genverify.core.errors import DataError
from genverify.core.files import read_json
from genverify.run.provenance.chain import Chain
from genverify.run.provenance.records import AuditError
from genverify.run.provenance.rules import CODE

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
