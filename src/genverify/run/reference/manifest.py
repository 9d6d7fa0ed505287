"""The manifest of a reference set: what each file was made from, as the job records say; no times, places or versions."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from genverify.core.errors import DataError
from genverify.core.files import read_json
from genverify.run.provenance.chain import Chain
from genverify.run.provenance.published import without_places
from genverify.run.provenance.records import Record
from genverify.run.provenance.rules import CODE

MANIFEST, PAGE = "manifest.json", "README.md"
KEYS = ("page", "results", "absent", "jobs", "data")
BATCH, SEED = "batch", "seed"
Manifest = dict[str, Any]
Entry = dict[str, Any]


def entry_of(target: str, chain: Chain, files: Mapping[str, str]) -> Entry:
    """
    What is told of one result: SHA-256 of the files shown and of their sources, of what the job read and of the raw data,
    every job on the way by its name in the manifest, and one digest each for all their settings and all their code.
    """
    jobs, record = jobs_of(chain), chain.results[target]
    return {
        "rule": record.rule,
        "files": dict(files),
        "sources": sources_of(target, record),
        "inputs": dict(record.inputs),
        "jobs": sorted(jobs),
        "data": list(chain.raw),
        "settings": _digest({name: job["settings"] for name, job in jobs.items()}),
        "code": _digest({name: job["code"] for name, job in jobs.items()}),
        "seed": seed_of(chain),
    }


def sources_of(target: str, record: Record) -> dict[str, str]:
    """The outputs of the job that go by the name of the target."""
    name = Path(target).with_suffix("")
    return {path: value for path, value in record.outputs.items() if Path(path).with_suffix("") == name}


def jobs_of(chain: Chain) -> dict[str, dict[str, Any]]:
    """The jobs of a chain, batches as one: rule, wildcards, settings and the digest of the code."""
    found: dict[str, dict[str, Any]] = {}
    for job in chain.jobs:
        wildcards = {name: value for name, value in sorted(job.wildcards.items()) if name != BATCH}
        name = " ".join([job.rule, *(f"{key}={value}" for key, value in wildcards.items())])
        settings = {key: value for key, value in job.params.items() if key != CODE}
        found[name] = {"rule": job.rule, "wildcards": wildcards, "settings": settings, "code": job.params.get(CODE)}
    return found


def seed_of(chain: Chain) -> int | None:
    """The seed of the jobs, the same for all; None where nothing was drawn at random."""
    return next((int(job.params[SEED]) for job in chain.jobs if SEED in job.params), None)


def data_of(chain: Chain) -> dict[str, str]:
    """SHA-256 of the raw files of a chain."""
    return {path: value for job in chain.jobs for path, value in job.inputs.items() if path in chain.raw}


def manifest_of(entries: Mapping[str, Entry], chains: Mapping[str, Chain], absent: Mapping[str, str], page: str,
                kept: Manifest | None = None) -> Manifest:  # fmt: skip
    """All of it: the results, what is absent and why, the jobs and the raw files that the results share."""
    jobs = {name: job for chain in chains.values() for name, job in jobs_of(chain).items()}
    data = {path: value for chain in chains.values() for path, value in data_of(chain).items()}
    old = kept or {}
    for target in sorted(entries.keys() - chains.keys()):
        _take_over(jobs, old["jobs"], entries[target]["jobs"], target)
        _take_over(data, old["data"], entries[target]["data"], target)
    return {"page": page, "results": dict(entries), "absent": dict(absent), "jobs": jobs, "data": data}


def _take_over(known: dict[str, Any], old: Mapping[str, Any], names: Sequence[str], target: str) -> None:
    """What a result that stays was made from; what it shares with the others must be the same."""
    for name in names:
        if known.setdefault(name, old[name]) != old[name]:
            raise DataError(f"{target} was made from another {name} than the results here: make its paper again, too")


def write_manifest(manifest: Manifest, path: Path) -> None:
    path.write_text(without_places(json.dumps(manifest, indent=1, sort_keys=True)) + "\n")


def read_manifest(path: Path) -> Manifest:
    """A manifest; a file that is none is refused."""
    text = read_json(path)
    missing = [key for key in KEYS if key not in text]
    if missing:
        raise DataError(f"{path}: no {missing[0]!r}; not the manifest of a reference set. Make it: snakemake reference")
    return text


def _digest(values: Mapping[str, Any]) -> str:
    """One short digest over values, as JSON with sorted keys and no spaces."""
    return sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]
